import Testing

@testable import Settings

struct NearestNameTests {
    @Test(arguments: [
        ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3), ("rate", "rate_hz", 3),
    ])
    func `edits are counted`(_ left: String, _ right: String, _ distance: Int) {
        #expect(editDistance(Array(left), Array(right)) == distance)
        #expect(editDistance(Array(right), Array(left)) == distance)
    }

    @Test(
        arguments: [
            ("rate", "rate_hz"), ("Rate-Hz", "rate_hz"), ("hz", nil), ("chanels", "channels"), ("cadr", "card"),
            ("seconds", "pre_roll_seconds"), ("unrelated", nil), ("", nil),
        ] as [(String, String?)])
    func `the nearest name is what was meant`(_ name: String, _ nearest: String?) {
        #expect(["card", "rate_hz", "channels", "standby", "pre_roll_seconds"].nearest(to: name) == nearest)
    }
}

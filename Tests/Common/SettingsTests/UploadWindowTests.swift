import Testing

@testable import Settings

struct UploadWindowTests {
    @Test(arguments: [
        "", "never", "22:00", "22:00-", "22:00-06", "22:00-06:00 ", "2:00-06:00", "24:00-06:00", "22:60-06:00",
        "06:00-06:00", "22-00-06-00", "22:00-06:00-07:00", "\u{661}2:00-06:00",
    ])
    func `anything else is not a window`(_ text: String) {
        #expect(UploadWindow(text) == nil)
    }

    @Test(
        arguments: [
            ("always", 0...1439, nil), ("09:00-17:30", 540...1049, nil), ("22:00-06:00", 1320...1439, 0...359),
            ("00:00-23:59", 0...1438, nil),
        ] as [(String, ClosedRange<Int>, ClosedRange<Int>?)])
    func `a window holds its minutes`(_ text: String, _ hours: ClosedRange<Int>, _ more: ClosedRange<Int>?) {
        let window = UploadWindow(text)
        let minutes = (0..<1440).filter { window?.contains(minuteOfDay: $0) ?? false }
        #expect(minutes == (more.map(Array.init) ?? []) + Array(hours))
    }
}

import Takes
import Testing

@testable import Settings

struct KitNameTests {
    @Test(arguments: [
        ("heron07", "heron07"), ("Heron_07.example.org", "heron-07-example-org"), ("", "kit"), ("---", "kit"),
        ("Käfer\n", "k-fer"), (String(repeating: "a", count: 99), String(repeating: "a", count: 48)),
    ])
    func `a host name is cleaned`(_ hostName: String, _ cleaned: String) {
        let name = KitName.suggested(hostName: hostName, machineID: "4c1c7a9f0e3b4d1e8a6f2b5d9c3e7f10\n")
        #expect(name == "\(cleaned)-cgah")
        #expect(TakeName.isKitName(name))
    }

    @Test func `kits made from one image differ`() {
        let names = (0..<1000).map { KitName.suggested(hostName: "pi", machineID: String($0 + 0x1000, radix: 16)) }
        // With 1000 names out of 2^20, half a collision is expected.
        #expect(Set(names).count >= 997)
    }

    @Test func `space around the machine's id does not count`() {
        let name = KitName.suggested(hostName: "pi", machineID: "ab12")
        #expect(KitName.suggested(hostName: "pi", machineID: " ab12\n") == name)
    }

    @Test func `a name in the file goes before the machine's own`() {
        var settings = Settings()
        #expect(settings.kitName == KitName.ofThisMachine)
        #expect(TakeName.isKitName(settings.kitName))
        settings.kit.name = "heron07"
        #expect(settings.kitName == "heron07")
    }

    @Test(arguments: [("heron07", false), ("heron-12345", false), ("heron-123456", true), ("20261121-heron", true)])
    func `a name in which programs may read a date is warned of`(name: String, isWarned: Bool) {
        var settings = Settings()
        settings.kit.name = name
        let warning =
            "the kit's name \(name) has six or more digits in a row: some programs read a date in it: set another kit.name"
        #expect(settings.kitNameWarning == (isWarned ? warning : nil))
    }
}

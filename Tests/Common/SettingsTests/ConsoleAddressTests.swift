import Testing

@testable import Settings

@Suite struct ConsoleAddressTests {
    @Test(arguments: [
        ("0.0.0.0:80", "http://heron07.local"), ("[::]:8080", "http://heron07.local:8080"),
        ("192.168.4.1:80", "http://192.168.4.1"), ("[fd00::1]:8080", "http://[fd00::1]:8080"), ("off", nil),
    ])
    func `the address is the host's name, unless the console listens at one address alone`(
        listen: String, address: String?
    ) {
        let (settings, _) = Settings.parse("[console]\nlisten = \"\(listen)\"\n", file: "f")
        #expect(settings.console.address(hostName: "heron07") == address)
    }
}

import Foundation
import Settings
import Testing

@testable import Commands

@Suite struct LabelCommandTests {
    private func address(_ listen: String) -> String? {
        let (settings, _) = Settings.parse("[console]\nlisten = \"\(listen)\"\n", file: "f")
        return LabelCommand.address(settings, hostName: "heron07")
    }

    @Test func `the address is the host's name, unless the console listens at one address alone`() {
        #expect(address("0.0.0.0:80") == "http://heron07.local")
        #expect(address("[::]:8080") == "http://heron07.local:8080")
        #expect(address("192.168.4.1:80") == "http://192.168.4.1")
        #expect(address("[fd00::1]:8080") == "http://[fd00::1]:8080")
        #expect(address("off") == nil)
    }

    @Test func `the code of the kit's own Wi-Fi has its name and its password`() throws {
        let scratch = ScratchFolder()
        let file = scratch.path + "/access-point"
        #expect(LabelCommand.AccessPoint(name: "heron07", passwordFile: file) == nil)
        try Data("se;cret\\1\r\n".utf8).write(to: URL(filePath: file))
        let wifi = try #require(LabelCommand.AccessPoint(name: "heron07", passwordFile: file))
        #expect(wifi.password == #"se;cret\1"#)
        let long = String(repeating: "a", count: 41)
        #expect(LabelCommand.AccessPoint(name: long, passwordFile: file)?.name == String(repeating: "a", count: 32))
        #expect(wifi.code == #"WIFI:T:WPA;S:heron07;P:se\;cret\\1;;"#)
        #expect(LabelCommand.AccessPoint.address(port: 80) == "http://10.42.0.1")
        #expect(LabelCommand.AccessPoint.address(port: 8080) == "http://10.42.0.1:8080")
    }
}

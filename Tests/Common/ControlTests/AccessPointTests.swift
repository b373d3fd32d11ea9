import Testing

@testable import Control

@Suite struct AccessPointTests {
    @Test func `the code of the kit's own Wi-Fi has its name and its password`() throws {
        let wifi = try #require(AccessPoint(hostName: "heron07", passwordFile: Array("se;cret\\1\r\nmore\n".utf8)))
        #expect(wifi.name == "heron07" && wifi.password == #"se;cret\1"#)
        #expect(wifi.code == #"WIFI:T:WPA;S:heron07;P:se\;cret\\1;;"#)
        #expect(AccessPoint(hostName: "heron07", passwordFile: []) == nil)
    }

    @Test func `a host name that is too long for a network is cut, as the access point does`() {
        let long = String(repeating: "a", count: 41)
        #expect(AccessPoint(hostName: long, passwordFile: Array("x".utf8))?.name == String(repeating: "a", count: 32))
    }

    @Test func `the address in the kit's own Wi-Fi has the port of the page`() {
        #expect(AccessPoint.address(port: 80) == "http://10.42.0.1")
        #expect(AccessPoint.address(port: 8080) == "http://10.42.0.1:8080")
    }
}

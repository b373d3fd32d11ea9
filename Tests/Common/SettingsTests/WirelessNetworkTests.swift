import Testing

@testable import Settings

struct WirelessNetworkTests {
    private func parse(_ text: String) -> (networks: [WirelessNetwork], problems: [String]) {
        let (list, problems) = WirelessList.parse(Array(text.utf8), file: "wifi.toml")
        return (list.networks, problems.map(\.description))
    }

    @Test func `a country stands above the networks`() {
        let (list, problems) = WirelessList.parse(Array("country = \"DE\"\n[home]\n".utf8), file: "wifi.toml")
        #expect(list.country == "DE" && list.networks.map(\.name) == ["home"] && problems == [])
        #expect(WirelessList.parse(Array("[home]\n".utf8), file: "wifi.toml").list.country == nil)
    }

    @Test(arguments: ["\"de\"", "\"UK\"", "\"DEU\"", "\"Ö\"", "\"\"", "49", "true"])
    func `what is no country gets a sentence`(_ value: String) {
        let (list, problems) = WirelessList.parse(Array("country = \(value)\n[home]\n".utf8), file: "wifi.toml")
        #expect(
            problems.map(\.description) == [
                "wifi.toml:1: country: allowed are the two capital letters of a country, such as \"DE\", \"GB\" or \"US\""
            ])
        #expect(list.country == nil && list.networks.count == 1)
    }

    @Test func `a network has a name, a password, and may be hidden or open`() {
        let (networks, problems) = parse(
            """
            [home]
            name = "Waldhütte 5"
            password = "correct horse"
            hidden = true
            [open]
            ["Fire station"]
            password = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
            """)
        #expect(problems == [])
        #expect(networks.map(\.name) == ["Waldhütte 5", "open", "Fire station"])
        #expect(networks.map(\.isHidden) == [true, false, false])
        #expect(networks.map { $0.password?.count } == [13, nil, 64])
    }

    @Test(arguments: [
        (
            "name = \"x\"",
            "wifi.toml:1: name: stands outside a network: begin one with its name in brackets, such as [home]; only country stands above them"
        ),
        (
            "[a]\npasword = \"secret44\"",
            "wifi.toml:2: a.pasword: found an unknown key: allowed are name, password and hidden"
        ),
        ("[a]\nhidden = \"yes\"", "wifi.toml:2: a.hidden: allowed are true and false"),
        ("[a]\npassword = 12345678", "wifi.toml:2: a.password: is not in quotation marks: password = \"…\""),
        (
            "[a]\npassword = \"secret4\"",
            "wifi.toml:2: a.password: has 7 characters: allowed are 8 to 63, or 64 hexadecimal digits; left out: open"
        ),
        (
            "[a]\npassword = \"sécret44\"",
            "wifi.toml:2: a.password: has a character that is not printable ASCII: no network has such a password"
        ),
        ("[a]\nname = \"\"", "wifi.toml:2: a.name: has 0 bytes: the name of a network has 1 to 32"),
        ("[a]\nname = \"ääääääääääääääääö\"", "wifi.toml:2: a.name: has 34 bytes: the name of a network has 1 to 32"),
    ])
    func `what is wrong gets a sentence, and the network is left out`(_ text: String, _ sentence: String) {
        let (networks, problems) = parse(text)
        #expect(problems == [sentence])
        #expect(networks == [])
        #expect(!problems.contains { $0.contains("secret4") || $0.contains("12345678") })
    }

    @Test func `a file that is no TOML is reported without what stands in it`() {
        let (networks, problems) = parse("[home]\npassword = secret44")
        #expect(networks == [])
        #expect(problems.count == 1 && problems[0].hasPrefix("wifi.toml:2: is not TOML: "))
        #expect(!problems[0].contains("secret44"))
    }

    @Test func `a profile names the network by its bytes, and escapes the password as key files do`() {
        let (networks, _) = parse("[\"a\\nb\"]\nname = \"ä;\"\npassword = \" a\\\\ b;#\\\"x\"\nhidden = true")
        #expect(
            networks.map(\.profile) == [
                """
                [connection]
                id=a\\nb
                type=wifi

                [wifi]
                ssid=195;164;59;
                hidden=true

                [wifi-security]
                key-mgmt=wpa-psk
                psk=\\sa\\\\ b;#"x

                """
            ])
        #expect(networks.first?.profileName(1) == "kit-2-ab.nmconnection")
    }
}

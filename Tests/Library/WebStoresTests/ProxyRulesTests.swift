import AsyncHTTPClient
import Testing

@testable import WebStores

struct ProxyRulesTests {
    private func isDirect(_ url: String, _ exceptions: String, _ name: String = "no_proxy") -> Bool {
        ProxyRules(environment: ["all_proxy": "proxy.example.org:3128", name: exceptions]).proxy(for: url) == nil
    }

    @Test("no_proxy names hosts, the names below them, ports, blocks of addresses, and all")
    func exceptions() {
        #expect(isDirect("https://BÜCHER.example/a", "bücher.example") && !isDirect("https://a.example", "ä.example"))
        for (url, list) in [
            ("https://example.org/a", "example.org"), ("https://cloud.example.org", "example.org"),
            ("https://cloud.example.org", ".example.org"), ("https://cloud.example.org", "*.example.org"),
            ("https://Cloud.Example.ORG.", "other, EXAMPLE.org"), ("https://example.org:8443", "example.org:8443"),
            ("https://example.org", "example.org:443"), ("http://example.org", "example.org:80"),
            ("https://a", "*"), ("https://a", "b,*"), ("https://a", "b a"), ("https://192.0.2.7", "192.0.2.7"),
            ("https://192.0.2.7", "192.0.2.0/24"), ("https://192.0.2.7:9000", "192.0.0.0/14"),
            ("https://[2001:db8::7]:443", "2001:db8::/32"), ("https://[2001:db8::7]", "2001:db8::7"),
            ("https://[2001:db8::7]:9000", "[2001:db8:0::7]:9000"), ("https://[::ffff:192.0.2.7]", "::/0"),
        ] {
            #expect(isDirect(url, list), "\(url) \(list)")
            #expect(isDirect(url, list, "NO_PROXY"))
        }
        for (url, list) in [
            ("https://example.org", ""), ("https://badexample.org", "example.org"),
            ("https://example.org", "a.example.org"),
            ("https://example.org", "example.org:8443"), ("https://192.0.3.7", "192.0.2.0/24"),
            ("https://192.0.2.7", "2.7"), ("https://[2001:db9::7]", "2001:db8::/32"), ("https://a", "a*"),
            ("https://example.org", "192.0.2.0/24"), ("https://192.0.2.7", "192.0.2.0/40"), ("https://a", ",/8, ,"),
        ] {
            #expect(!isDirect(url, list), "\(url) \(list)")
        }
    }

    @Test("each scheme has its proxy, and what stays on this machine has none")
    func schemes() {
        func proxies(_ environment: [String: String]) -> [ProxyRules.Proxy?] {
            let rules = ProxyRules(environment: environment)
            return ["https://a", "http://a"].map { rules.proxy(for: $0) }
        }
        let (one, two, three) = (
            ProxyRules.Proxy.server(host: "one", port: 1), ProxyRules.Proxy.server(host: "two", port: 2),
            ProxyRules.Proxy.socksServer(host: "three", port: 3)
        )
        #expect(
            proxies(["https_proxy": "one:1", "http_proxy": "two:2", "all_proxy": "socks5://three:3"]) == [one, two])
        #expect(proxies(["HTTPS_PROXY": "one:1", "HTTP_PROXY": "two:2"]) == [one, nil])
        #expect(proxies(["ALL_PROXY": "socks5h://three:3"]) == [three, three])
        #expect(proxies(["http_proxy": "http://two:2"]) == [two, two])
        #expect(proxies([:]) == [nil, nil])
        let rules = ProxyRules(environment: ["all_proxy": "one:1"])
        for url in ["http://localhost:9000", "http://127.0.0.7", "http://[::1]:80", "https://rec.localhost"] {
            #expect(rules.proxy(for: url) == nil)
        }
    }

    @Test("a proxy is read with a scheme or without, and with a password that is percent-encoded")
    func proxies() {
        #expect(ProxyRules.proxy("proxy.example.org:3128") == .server(host: "proxy.example.org", port: 3128))
        #expect(ProxyRules.proxy("http://proxy.example.org:3128") == ProxyRules.proxy("proxy.example.org:3128"))
        #expect(
            ProxyRules.proxy("http://kit:p%40ss@proxy.example.org:3128")
                == .server(
                    host: "proxy.example.org", port: 3128, authorization: .basic(username: "kit", password: "p@ss")))
        #expect(ProxyRules.proxy("proxy.example.org") == nil)
        #expect(ProxyRules.proxy("") == nil)
    }
}

import Settings
import Testing

@Suite struct SecretHostTests {
    private static func problem(_ host: String, _ address: String) -> String? {
        SecretHost(host).problem(in: "/etc/s3", at: address)
    }

    @Test(arguments: [
        ("s3.example.org", "https://s3.example.org"), ("S3.example.org", "https://s3.EXAMPLE.org/base/"),
        ("s3.example.org", "https://s3.example.org:9000/x"), ("s3.example.org:9000", "https://s3.example.org:9000"),
        ("[fd00::1]", "https://[fd00::1]:9000/"), ("[fd00::1]", "https://[fd00::1]/a:b"),
    ])
    func `a secret may go to its own host`(_ host: String, _ address: String) {
        #expect(Self.problem(host, address) == nil)
    }

    @Test(arguments: [
        ("s3.example.org", "https://example.org"), ("s3.example.org", "https://s3.example.org.attacker.example/"),
        ("s3.example.org:9000", "https://s3.example.org:9001"), ("s3.example.org:9000", "https://s3.example.org"),
        ("example.org", "https://attacker.example/example.org"), ("fd00::1", "https://[fd00::2]"),
        ("s3.example.org", ""), ("s3.example.org", "s3.example.org"),
    ])
    func `and to no other one`(_ host: String, _ address: String) {
        #expect(Self.problem(host, address) != nil)
    }

    @Test func `stores in use whose file names another host are found, where the file can be read`() throws {
        let (settings, problems) = Settings.parse(
            """
            [outbox]
            store = ["s3", "webdav"]
            [outbox.s3]
            bucket = "takes"
            region = "eu-north-1"
            [outbox.webdav]
            url = "https://attacker.example/takes/"
            """, file: "f")
        #expect(problems.isEmpty)
        let webdav = "/etc/fieldfare/webdav.credentials"
        let files = [
            "/etc/fieldfare/s3.credentials": "host = s3.eu-north-1.amazonaws.com", webdav: "host = 'cloud.example'",
        ]
        #expect(
            settings.outbox.misplacedSecrets { files[$0] } == [
                "\(webdav): names the host cloud.example, and the store is at attacker.example: nothing is sent there: "
                    + "correct the store's address, or host in that file"
            ])
        #expect(settings.outbox.misplacedSecrets { _ in nil } == [])
        #expect(settings.outbox.misplacedSecrets { _ in "username = kit" } == [])
    }
}

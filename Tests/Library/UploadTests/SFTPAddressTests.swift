import Settings
import StoreTrials
import Testing

@testable import Upload

struct SFTPAddressTests {
    @Test(
        "what a URL names",
        arguments: [
            ("sftp://kit@archive.example.org/recordings", "kit", "archive.example.org", 22, "/recordings"),
            ("sftp://kit@archive.example.org:2222/a/b/", "kit", "archive.example.org", 2222, "/a/b"),
            (
                "sftp://first.last%40example.org@[2001:db8::1]:22/~/höhe 7", "first.last@example.org", "2001:db8::1",
                22, "höhe 7"
            ),
            ("sftp://kit@h/~", "kit", "h", 22, "."),
            ("sftp://kit@h:22/a@b", "kit", "h", 22, "/a@b"),
        ])
    func parts(_ url: String, _ user: String, _ host: String, _ port: Int, _ folder: String) throws {
        let address = try SFTPAddress(url)
        #expect((address.user, address.host, address.port, address.folder) == (user, host, port, folder))
        #expect(try SFTPAddress(address.text.replacing("@example", with: "%40example")) == address)
    }

    @Test(
        "what is no such URL is refused, and no sentence has its password",
        arguments: [
            (
                "sftp://kit:secret@h/a",
                "sftp://kit@h/a: has a password, which is not used: remove it, and give the user a key"
            ),
            ("sftp://kit:sec/ret@h/a", "sftp://kit@h/a: names no user: write sftp://USER@HOST/PATH"),
            (
                "sftp://kit:s@secret@h/a",
                "sftp://kit@h/a: has a password, which is not used: remove it, and give the user a key"
            ),
            ("sftp://h/a", "sftp://h/a: names no user: write sftp://USER@HOST/PATH"),
            ("https://kit@h/a", "https://kit@h/a: is not a URL that begins with sftp://"),
            ("sftp://@h/a", "sftp://@h/a: the user's name has characters that are not allowed, or none"),
            (
                "sftp://-oProxyCommand=x@h/a",
                "sftp://-oProxyCommand=x@h/a: the user's name has characters that are not allowed, or none"
            ),
            ("sftp://a%20b@h/a", "sftp://a%20b@h/a: the user's name has characters that are not allowed, or none"),
            ("sftp://kit@-oX/a", "sftp://kit@-oX/a: the host's name has characters that are not allowed, or none"),
            ("sftp://kit@/a", "sftp://kit@/a: the host's name has characters that are not allowed, or none"),
            ("sftp://kit@h$(x)/a", "sftp://kit@h$(x)/a: the host's name has characters that are not allowed, or none"),
            ("sftp://kit@[h]/a", "sftp://kit@[h]/a: the host is not an address"),
            ("sftp://kit@h:0/a", "sftp://kit@h:0/a: the port is not a number from 1 to 65535"),
            ("sftp://kit@h:x/a", "sftp://kit@h:x/a: the port is not a number from 1 to 65535"),
            ("sftp://kit@h", "sftp://kit@h: names no folder: write a path, or /~ for the home folder"),
            ("sftp://kit@h/", "sftp://kit@h/: names no folder: write a path, or /~ for the home folder"),
            ("sftp://kit@h/~//etc", "sftp://kit@h/~//etc: names no folder: write a path, or /~ for the home folder"),
            ("sftp://kit@h/%0a", "sftp://kit@h/%0a: the path has characters that are not allowed"),
            ("sftp://kit@h/%zz", "sftp://kit@h/%zz: the path has characters that are not allowed"),
        ])
    func refusals(_ url: String, _ sentence: String) {
        #expect(throws: StoreError(.refused, "outbox: \(sentence): see url in [outbox.sftp]")) { try SFTPAddress(url) }
    }

    @Test("a store that cannot be opened has its name nevertheless")
    func plans() throws {
        let context = try StoreTrial().context
        var settings = Settings()
        for (url, name) in [
            ("sftp://kit@h:22/a/", "sftp:sftp://kit@h/a"), ("sftp://kit:secret@h/a", "sftp:sftp://kit@h/a"),
        ] {
            settings.outbox.sftp.url = url
            settings.outbox.sftp.keyFile = "/nowhere/key"
            let plan = try #require(StorePlan(.sftp, settings, context))
            #expect(plan.name == name && !plan.needsClock && plan.mount == nil)
            #expect(throws: StoreError.self) { try plan.open() }
        }
    }
}

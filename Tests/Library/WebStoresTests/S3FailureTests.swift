import Foundation
import NIOHTTP1
import Settings
import Takes
import TestBench
import Testing

@testable import Upload
@testable import WebStores

/// Answers from Amazon's reference ("Error responses", "List of error codes").
struct S3FailureTests {
    private func error(
        _ status: Int, _ code: String = "", _ message: String = "", _ headers: [(String, String)] = [],
        _ rest: String = "", endpoint: String? = nil
    ) throws -> StoreError {
        let folder = TestFolder()
        let path = "\(folder.path)/s3.credentials"
        folder.write("access_key_id = ID123\nsecret_access_key = KEY456\n", to: "s3.credentials")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        var settings = Settings().outbox.s3
        settings.bucket = "recordings"
        settings.credentialsFile = path
        let web = try Web()
        defer { Task { await web.close() } }
        let bucket = try S3Bucket(settings, web: web) { .init(microseconds: 0) }
        let text = code.isEmpty ? "" : "<Error><Code>\(code)</Code><Message>\(message)</Message>\(rest)</Error>"
        return S3Failure(status: status, headers: HTTPHeaders(headers), body: Array(text.utf8)).error(of: bucket)
    }

    private let place = "outbox: https://s3.us-east-1.amazonaws.com/recordings: "

    @Test("S3: each answer is the problem that it is")
    func problems() throws {
        #expect(
            try error(503, "SlowDown", "Reduce your request rate.", [("Retry-After", "7")]).problem
                == .busy(.seconds(7)))
        #expect(try error(500, "InternalError").problem == .busy(nil))
        #expect(try error(502).problem == .busy(nil))
        #expect(try error(429).problem == .busy(nil))
        // An error in the body of a success, as when an upload completes.
        #expect(try error(200, "InternalError").problem == .busy(nil))
        #expect(try error(400, "RequestTimeout").problem == .busy(nil))
        #expect(try error(409, "ConditionalRequestConflict").problem == .busy(nil))
        #expect(try error(507).problem == .full)
        #expect(try error(403, "QuotaExceeded").problem == .full)
        #expect(try error(400, "EntityTooLarge").problem == .rejected)
        #expect(try error(413).problem == .rejected)
        #expect(try error(400, "BadDigest").problem == .damaged)
        #expect(try error(404, "NoSuchKey").problem == .missing)
        #expect(try error(404, "NoSuchBucket").problem == .refused)
        #expect(try error(403, "RequestTimeTooSkewed").problem == .refused)
        #expect(try error(405, "MethodNotAllowed").problem == .refused)
    }

    @Test("S3: the sentence names the region that the server says")
    func region() throws {
        let expected = StoreError(
            .refused,
            place + "the bucket is in another region: write region = \"eu-west-1\" in [outbox.s3], not \"us-east-1\"")
        #expect(try error(301, "PermanentRedirect", "", [("x-amz-bucket-region", "eu-west-1")]) == expected)
        #expect(try error(400, "", "", [("x-amz-bucket-region", "eu-west-1")]) == expected)
        #expect(
            try error(400, "AuthorizationHeaderMalformed", "the region is wrong", [], "<Region>eu-west-1</Region>")
                == expected)
        #expect(
            try error(301, "PermanentRedirect", "Use the endpoint.").sentence == place
                + "the bucket is at another address (PermanentRedirect: Use the endpoint.): correct endpoint in [outbox.s3]"
        )
    }

    @Test("S3: what the server says is shown without control characters, and without the key")
    func secrets() throws {
        #expect(
            try error(400, "Bad", "the key ID123\n\u{1b}[1m of KEY456 is bad").sentence == place
                + "refuses (Bad: the key …  [1m of … is bad)")
        #expect(try error(400, "Bad", String(repeating: "a", count: 1000)).sentence.count < 400)
    }

    @Test("S3: a header that the server does not know is left out")
    func unknown() {
        func unknown(_ status: Int, _ text: String, _ headers: String...) -> Set<String> {
            S3Failure(status: status, headers: [:], body: Array(text.utf8)).unknown(of: headers)
        }
        let checksums: Set = [
            "x-amz-checksum-mode", "x-amz-checksum-algorithm", "x-amz-checksum-sha256", "x-amz-sdk-checksum-algorithm",
        ]
        // Backblaze B2.
        let b2 =
            "<Error><Code>InvalidArgument</Code><Message>Unsupported header 'x-amz-checksum-sha256' received for this API call."
            + "</Message></Error>"
        #expect(unknown(400, b2, "if-none-match", "x-amz-checksum-sha256", "content-type") == checksums)
        #expect(unknown(400, b2, "if-none-match") == [])
        #expect(unknown(400, "", "x-amz-checksum-mode") == checksums)
        // S3 before it supported conditions.
        let s3 = "<Error><Code>NotImplemented</Code><Message>A header</Message><Header>If-None-Match</Header></Error>"
        #expect(unknown(501, s3, "if-none-match", "x-amz-checksum-sha256") == ["if-none-match"])
        #expect(unknown(501, "", "if-match", "host") == ["if-match"])
        #expect(unknown(501, "", "host") == [])
        #expect(unknown(403, b2, "x-amz-checksum-sha256") == [])
    }

    @Test("S3: a bucket has its address as its service wants it")
    func addresses() throws {
        func address(_ bucket: String, _ endpoint: String?, region: String = "eu-west-1") throws -> [String] {
            var settings = Settings().outbox.s3
            settings.bucket = bucket
            settings.endpoint = endpoint
            settings.region = region
            let address = try S3Address(settings)
            return [address.server, address.host, address.path, address.place]
        }
        #expect(
            try address("my-takes", nil) == [
                "https://my-takes.s3.eu-west-1.amazonaws.com", "my-takes.s3.eu-west-1.amazonaws.com", "",
                "https://s3.eu-west-1.amazonaws.com/my-takes",
            ])
        #expect(
            try address("my.takes", nil) == [
                "https://s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com", "/my.takes",
                "https://s3.eu-west-1.amazonaws.com/my.takes",
            ])
        #expect(try address("a", nil, region: "cn-north-1")[1] == "a.s3.cn-north-1.amazonaws.com.cn")
        #expect(
            try address("takes", "https://example.org:443/base/") == [
                "https://example.org:443", "example.org", "/base/takes", "https://example.org:443/base/takes",
            ])
        #expect(try address("takes", "http://[::1]:9000")[1...2] == ["[::1]:9000", "/takes"])
        for wrong in [
            "example.org", "ftp://example.org", "https://", "https://a:b@example.org", "https://example.org?a",
        ] {
            #expect(throws: StoreError.self) { try address("takes", wrong) }
        }
    }

    @Test("S3: a file has at most 10 000 parts, of 8 MiB where that is enough")
    func parts() {
        for byteCount: Int64 in [8 << 20 + 1, 40 << 20, 10_000 << 23, 10_000 << 23 + 1, 5 << 40] {
            let parts = S3Parts(byteCount: byteCount)
            #expect(parts.count <= 10_000 && parts.partByteCount % (1 << 20) == 0)
            #expect(parts.partByteCount == 8 << 20 || byteCount > 10_000 << 23)
            let last = parts.range(of: parts.count)
            #expect(last.upperBound == byteCount && !last.isEmpty)
        }
    }

    @Test("S3: a date of a server is read, and nothing else")
    func dates() {
        #expect(S3Bucket.date(of: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])?.iso8601 == "1994-11-06T08:49:37.000000Z")
        for wrong in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        ] {
            #expect(S3Bucket.date(of: ["Date": wrong]) == nil)
        }
        for year in ["9999", "0001"] {
            #expect(S3Bucket.date(of: ["Date": "Sun, 06 Nov \(year) 08:49:37 GMT"]) == nil)
        }
    }

    @Test("S3: a key that is repeated at the end of a long message is in no sentence, not even its beginning")
    func longMessage() throws {
        let said = try error(400, "Bad", String(repeating: "x", count: 292) + "KEY456 ID123").sentence
        #expect(!said.contains("KEY") && said.hasSuffix("x… …)"), "\(said)")
    }
}

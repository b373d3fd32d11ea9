import Digests
import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Amazon's published examples: "Signature Calculations for the Authorization Header" in the API reference of S3.
struct S3SignatureTests {
    private let signature = SignatureV4(
        keyID: Secret("AKIAIOSFODNN7EXAMPLE"), key: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    private let time = WallTime(iso8601: "2013-05-24T00:00:00.000000Z")!
    private let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func request(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], payload: String? = nil
    ) -> SignatureV4.Request {
        .init(
            method: method, path: SignatureV4.encoded(path, keepingSlashes: true), query: query,
            headers: headers + [
                ("Host", "examplebucket.s3.amazonaws.com"), ("x-amz-date", "20130524T000000Z"),
                ("x-amz-content-sha256", payload ?? empty),
            ], payload: payload ?? empty)
    }

    @Test("S3: Amazon's examples are signed as published")
    func examples() {
        let scope = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        #expect(
            signature.authorization(of: request("GET", "/test.txt", headers: [("Range", "bytes=0-9")]), at: time).text
                == scope + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        let welcome = Digest.sha256("Welcome to Amazon S3.").hexadecimal
        #expect(welcome == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        #expect(
            signature.authorization(
                of: request(
                    "PUT", "/test$file.text",
                    headers: [
                        ("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                    ],
                    payload: welcome), at: time
            ).text == scope + "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
                + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        #expect(
            signature.authorization(of: request("GET", "/", query: [("lifecycle", "")]), at: time).text
                == scope + "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
                + "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            signature.authorization(of: request("GET", "/", query: [("max-keys", "2"), ("prefix", "J")]), at: time).text
                == scope + "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
                + "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("S3: any path and query are signed as botocore signs them", .needsServers)
    func botocore() throws {
        let texts = [
            "heron07/2026-11-21/a.wav", "höhe 7+a&b=c%41/", "it's (*)/?b#c;", "//a//../b/", "~-._", "\u{1F426}",
        ]
        for text in texts {
            let request = request(
                "GET", "/recordings/" + text, query: [("uploads", ""), ("prefix", text), ("list-type", "2")],
                headers: [("x-amz-meta-title", "  a   b ")])
            let query = request.query.map { "\(SignatureV4.encoded($0.name))=\(SignatureV4.encoded($0.value))" }
            let url = "https://examplebucket.s3.amazonaws.com\(request.path)?\(query.joined(separator: "&"))"
            let expected = try TestServer.python(
                """
                import datetime, sys
                from botocore import auth, awsrequest, credentials
                time = datetime.datetime(2013, 5, 24)
                auth.get_current_datetime = lambda *_: time
                request = awsrequest.AWSRequest(method="GET", url=sys.argv[1], headers={"x-amz-meta-title": "  a   b "})
                auth.S3SigV4Auth(credentials.Credentials(sys.argv[2], sys.argv[3]), "s3", "us-east-1").add_auth(request)
                print(request.headers["Authorization"])
                """, [url, signature.keyID.text, signature.key.text])
            #expect(
                expected.replacingOccurrences(of: ", ", with: ",")
                    == signature.authorization(of: request, at: time).text)
            #expect(PercentCoding.decoded(SignatureV4.encoded(text)) == text)
        }
        #expect(PercentCoding.decoded("a+b%2B", plusIsSpace: true) == "a b+")
        for text in ["%", "%4", "%zz", "%+5", "%ff"] { #expect(PercentCoding.decoded(text) == nil) }
    }
}

import Digests
import Takes
import Upload

/// Signs requests to a service like Amazon's, in the headers.
///
/// AWS Signature Version 4, in the variant for S3: a path is encoded once, and the payload's hash is signed
/// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
struct SignatureV4: Sendable {
    let keyID: Secret
    let key: Secret
    let region: String
    let service = "s3"

    /// The signed parts of a request.
    struct Request {
        var method: String
        /// Percent-encoded.
        var path: String
        var query: [(name: String, value: String)] = []
        /// Including `host`.
        var headers: [(name: String, value: String)]
        /// SHA-256 of the body, in hexadecimal.
        var payload: String
    }

    static let algorithm = "AWS4-HMAC-SHA256"

    /// The value of the `Authorization` header. The headers must include `x-amz-date` with the same time.
    func authorization(of request: Request, at time: WallTime) -> Secret {
        let stamp = Self.stamp(time)
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        let hash = Digest.sha256(Self.canonical(request)).hexadecimal
        let text = "\(Self.algorithm)\n\(stamp)\n\(scope)\n\(hash)"
        var signingKey = Array("AWS4\(key.text)".utf8)
        for part in [String(stamp.prefix(8)), region, service, "aws4_request"] {
            signingKey = Digest.authenticationCode(part, key: signingKey)
        }
        let signature = Digest.authenticationCode(text, key: signingKey).hexadecimal
        return Secret(
            "\(Self.algorithm) Credential=\(keyID.text)/\(scope),SignedHeaders=\(Self.names(request.headers)),"
                + "Signature=\(signature)")
    }

    /// `20261121T061811Z`.
    static func stamp(_ time: WallTime) -> String {
        let digits = time.iso8601.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" }
        return digits + "Z"
    }

    /// Encodes all bytes except letters, digits and `-._~` as `%XX`.
    static func encoded(_ text: String, keepingSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes += [byte].hexadecimal.uppercased().utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func canonical(_ request: Request) -> String {
        let query = request.query.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }
            .map { "\($0)=\($1)" }.joined(separator: "&")
        let headers = sorted(request.headers).map { name, value in
            "\(name):\(value.split(separator: " ").joined(separator: " "))\n"
        }
        return [
            request.method, request.path, query, headers.joined(), names(request.headers), request.payload,
        ].joined(separator: "\n")
    }

    private static func sorted(_ headers: [(name: String, value: String)]) -> [(String, String)] {
        headers.map { ($0.name.lowercased(), $0.value) }.sorted { $0.0 < $1.0 }
    }

    private static func names(_ headers: [(name: String, value: String)]) -> String {
        sorted(headers).map(\.0).joined(separator: ";")
    }
}

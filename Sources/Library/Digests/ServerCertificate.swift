import COpenSSL

/// A private key and its self-signed certificate, made by OpenSSL's libcrypto, for a server without a certificate
/// authority.
public struct ServerCertificate: Hashable, Sendable {
    /// Private key and certificate, in PEM (RFC 7468).
    public let pem: String
    /// SHA-256 of the certificate, 32 bytes long.
    public let sha256: [UInt8]
    /// The encoded extension with the names.
    private let encodedNames: [UInt8]

    /// The period of validity, as in X.509. It is constant, because the kit's clock may not be set.
    ///
    /// Apple's systems refuse certificates with more than 825 days of validity that begin after 1 July 2019
    /// (support.apple.com/103769).
    private static let (begin, end) = ("180101000000Z", "491231235959Z")

    /// Makes a key on the curve P-256, and a certificate.
    /// - Parameter names: host names, or IPv4 or IPv6 addresses. The first one becomes the subject.
    /// - Returns: nil if libcrypto fails, for example because a name is invalid.
    public init?(names: [String]) {
        guard let key = unsafe fieldfare_make_key() else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let certificate = unsafe X509_new() else { return nil }
        defer { unsafe X509_free(certificate) }
        guard unsafe Self.fill(certificate, names), unsafe X509_set_pubkey(certificate, key) == 1,
            unsafe X509_sign(certificate, key, EVP_sha256()) > 0
        else { return nil }
        unsafe self.init(certificate, key)
    }

    /// Parses the text of `pem`.
    /// - Returns: nil if the text does not contain a key and a certificate signed by it.
    public init?(pem: String) {
        let text = Array(pem.utf8)
        guard text.count < 1 << 16, let key = unsafe fieldfare_read_key(text, Int32(text.count)) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let source = unsafe BIO_new_mem_buf(text, Int32(text.count)) else { return nil }
        defer { unsafe BIO_free(source) }
        guard let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) else { return nil }
        defer { unsafe X509_free(certificate) }
        guard unsafe X509_check_private_key(certificate, key) == 1, unsafe X509_verify(certificate, key) == 1,
            unsafe Self.isPair(key)
        else { return nil }
        unsafe self.init(certificate, key)
    }

    /// Whether the private half of a key belongs to the public half. Only the public half was compared before.
    private static func isPair(_ key: OpaquePointer) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_pairwise_check(context) == 1
    }

    private init?(_ certificate: OpaquePointer, _ key: OpaquePointer) {
        guard let output = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(output) }
        guard unsafe PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil) == 1,
            unsafe PEM_write_bio_X509(output, certificate) == 1,
            let names = unsafe X509_get_ext(certificate, X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1))
        else { return nil }
        // Safe: the library writes at most the given number of bytes. A hash has 32.
        var text = [UInt8](repeating: 0, count: 1 << 14)
        let count = unsafe BIO_read(output, &text, Int32(text.count))
        var hash = [UInt8](repeating: 0, count: 32)
        guard count > 0, count < text.count, unsafe X509_digest(certificate, EVP_sha256(), &hash, nil) == 1 else {
            return nil
        }
        pem = String(decoding: text.prefix(Int(count)), as: UTF8.self)
        sha256 = hash
        encodedNames = unsafe Self.bytes(of: names)
    }

    /// Whether the certificate has exactly these names in this order.
    public func has(names: [String]) -> Bool {
        guard let wanted = unsafe Self.encode(NID_subject_alt_name, Self.text(of: names)) else { return false }
        defer { unsafe X509_EXTENSION_free(wanted) }
        return unsafe Self.bytes(of: wanted) == encodedNames
    }

    private static func fill(_ certificate: OpaquePointer, _ names: [String]) -> Bool {
        guard let subject = unsafe X509_get_subject_name(certificate), let first = names.first else { return false }
        // The maximum length of a common name (RFC 5280, appendix A.1).
        let common = Array(first.utf8.prefix(64))
        // Browsers refuse a second certificate with the same issuer and serial number.
        let number = UInt64.random(in: 1...UInt64(Int64.max))
        return unsafe X509_set_version(certificate, Int(X509_VERSION_3)) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number) == 1
            && X509_NAME_add_entry_by_NID(
                subject, NID_commonName, V_ASN1_UTF8STRING, common, Int32(common.count), -1, 0) == 1
            && X509_set_issuer_name(certificate, subject) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), begin) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), end) == 1
            && add(NID_subject_alt_name, text(of: names), to: certificate)
            && add(NID_basic_constraints, "critical,CA:FALSE", to: certificate)
            && add(NID_key_usage, "critical,digitalSignature", to: certificate)
            && add(NID_ext_key_usage, "serverAuth", to: certificate)
    }

    private static func add(_ kind: Int32, _ value: String, to certificate: OpaquePointer) -> Bool {
        guard let made = unsafe Self.encode(kind, value) else { return false }
        defer { unsafe X509_EXTENSION_free(made) }
        return unsafe X509_add_ext(certificate, made, -1) == 1
    }

    /// The text form of extensions is described in x509v3_config(5).
    private static func encode(_ kind: Int32, _ value: String) -> OpaquePointer? {
        unsafe X509V3_EXT_nconf_nid(nil, nil, kind, value)
    }

    private static func text(of names: [String]) -> String {
        names.map { (isAddress($0) ? "IP:" : "DNS:") + $0 }.joined(separator: ",")
    }

    /// A host name does not end in a number (RFC 1123, 2.1) and does not contain a colon.
    private static func isAddress(_ name: String) -> Bool {
        name.contains(":") || name.split(separator: ".").last?.utf8.allSatisfy { (0x30...0x39).contains($0) } == true
    }

    private static func bytes(of encoded: OpaquePointer) -> [UInt8] {
        guard let text = unsafe X509_EXTENSION_get_data(encoded) else { return [] }
        // Safe: the extension owns the bytes, and they are copied at once.
        return unsafe Array(
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text))))
    }
}

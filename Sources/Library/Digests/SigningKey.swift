import COpenSSL

/// An RSA key for signatures, by OpenSSL's libcrypto.
@safe
public final class SigningKey {
    private let key: OpaquePointer

    /// Reads a private key in PEM, PKCS #8 or PKCS #1 (RFC 7468, RFC 8017). A key with a password is not supported.
    /// - Returns: nil if the text does not contain an RSA key.
    public init?(pem: String) {
        let text = Array(pem.utf8)
        guard text.count < 1 << 20, let key = unsafe fieldfare_read_key(text, Int32(text.count)) else { return nil }
        guard unsafe fieldfare_is_rsa(key) == 1 else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Signs with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 8017, section 8.2).
    /// - Returns: a signature as long as the key, or nil if signing fails.
    public func signature(of text: String) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        // Safe: the buffer has the size that the library asked for, and only the text's bytes are read.
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
        let text = Array(text.utf8)
        var count = 0
        guard unsafe EVP_DigestSign(context, nil, &count, text, text.count) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &bytes, &count, text, text.count) == 1 else { return nil }
        return Array(bytes.prefix(count))
    }
}

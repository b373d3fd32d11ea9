import COpenSSL

/// An incremental hash, computed by OpenSSL's libcrypto.
public struct Digest: Sendable {
    /// MD5 and SHA-1 serve only for comparison with the values of servers. They give no protection against forgery.
    public enum Algorithm: Sendable {
        /// RFC 1321: 16 bytes.
        case md5
        /// FIPS 180-4: 20 bytes.
        case sha1
        /// FIPS 180-4: 32 bytes.
        case sha256
    }

    private var state: State

    public init(_ algorithm: Algorithm) {
        state = State(algorithm)
    }

    public mutating func update(_ bytes: some Collection<UInt8>) {
        if !isKnownUniquelyReferenced(&state) { state = State(copying: state) }
        // Safe: the bytes are only read during the call.
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { bytes in
            unsafe state.update(UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { update(Array(bytes)) }
    }

    /// The hash of all bytes so far. More bytes may follow.
    public var bytes: [UInt8] { State(copying: state).finish() }

    /// SHA-256 of bytes, 32 bytes long.
    public static func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] { of(bytes, .sha256) }

    /// SHA-256 of a text in UTF-8, 32 bytes long.
    public static func sha256(_ text: String) -> [UInt8] { of(text.utf8, .sha256) }

    public static func of(_ bytes: some Collection<UInt8>, _ algorithm: Algorithm) -> [UInt8] {
        var digest = Digest(algorithm)
        digest.update(bytes)
        return digest.bytes
    }

    /// HMAC with SHA-256 (RFC 2104), 32 bytes long. Only the holder of the key can compute it.
    public static func authenticationCode(_ text: String, key: [UInt8]) -> [UInt8] {
        let text = Array(text.utf8)
        var code = [UInt8](repeating: 0, count: 32)
        // Safe: the library writes 32 bytes, the length of the hash.
        let isComputed =
            unsafe HMAC(EVP_sha256(), key, Int32(key.count), text, text.count, &code, nil) != nil
        precondition(isComputed, "libcrypto computes no HMAC: \(State.help)")
        return code
    }
}

/// OpenSSL's state of a hash. Only its single owner changes it; `Digest` ensures that.
@safe
private final class State: @unchecked Sendable {
    private let context: OpaquePointer

    /// Hashing bytes in memory fails only if the system's libcrypto forbids the algorithm, or if memory is exhausted.
    static let help = "is this system's OpenSSL set to refuse it (openssl list -digest-algorithms)?"

    init(_ algorithm: Digest.Algorithm) {
        unsafe context = Self.makeContext()
        let type =
            switch algorithm {
            case .md5: unsafe EVP_md5()
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            }
        let isBegun = unsafe EVP_DigestInit_ex(context, type, nil) == 1
        precondition(isBegun, "libcrypto does not begin a hash by \(algorithm): \(Self.help)")
    }

    init(copying other: State) {
        unsafe context = Self.makeContext()
        let isCopied = unsafe EVP_MD_CTX_copy_ex(context, other.context) == 1
        precondition(isCopied, "libcrypto does not copy a hash: \(Self.help)")
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    private static func makeContext() -> OpaquePointer {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("libcrypto makes no hash: no memory is left") }
        return unsafe context
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        let isAdded = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
        precondition(isAdded, "libcrypto adds nothing to a hash: \(Self.help)")
    }

    func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let isFinished = unsafe EVP_DigestFinal_ex(context, &bytes, &count) == 1
        precondition(isFinished, "libcrypto does not end a hash: \(Self.help)")
        return Array(bytes.prefix(Int(count)))
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits per byte.
    public var hexadecimal: String {
        String(decoding: flatMap { [Self.digit($0 >> 4), Self.digit($0 & 15)] }, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}

import GRDB
import Glibc
import Takes

/// A failed operation on the library's database files.
public struct CatalogError: Error, Hashable, CustomStringConvertible {
    public var operation: String
    public var path: String
    public var cause: Cause

    public enum Cause: Hashable, Sendable, CustomStringConvertible {
        /// The system's error number, `errno(3)`.
        case system(Int32)
        /// SQLite's extended result code, and its message.
        case database(Int32, String)

        public var description: String {
            switch self {
            case .system(let code): "\(SystemError(code))"
            case .database(let code, let message): "\(message) (SQLite error \(code))"
            }
        }
    }

    init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        cause = .system(code)
    }

    init(_ operation: String, _ path: String, _ error: DatabaseError) {
        self.operation = operation
        self.path = path
        cause =
            error.resultCode == .SQLITE_FULL
            ? .system(ENOSPC) : .database(error.extendedResultCode.rawValue, error.message ?? "unknown")
    }

    /// Whether the database is damaged, so that the catalog must be replaced.
    var isOfDamage: Bool {
        guard case .database(let code, _) = cause else { return false }
        return switch ResultCode(rawValue: code) {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        default: false
        }
    }

    /// The failure without advice, such as `cannot write /l/catalog.sqlite: No space left on device`.
    public var fact: String { "cannot \(operation) \(path): \(cause)" }

    public var description: String { "catalog: \(fact): \(advice)" }

    private static let ownerAdvice = "the library's user must be allowed to write there"

    private var advice: String {
        switch cause {
        case .system(ENOSPC), .system(EDQUOT): "free some space there"
        case .system: Self.ownerAdvice
        case .database(let code, _):
            switch ResultCode(rawValue: code) {
            case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: Self.ownerAdvice
            case .SQLITE_IOERR: "check that storage"
            case .SQLITE_BUSY, .SQLITE_LOCKED: "another program uses it, stop that program"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: "the library builds it again"
            case .SQLITE_NOMEM: "the kit has too little free memory"
            case .SQLITE_MISUSE: "it was closed meanwhile, try again"
            default: "stop the library, and build it again with 'fieldfare-library --rebuild'"
            }
        }
    }
}

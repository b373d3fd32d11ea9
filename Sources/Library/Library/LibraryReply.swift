public import Catalog
public import Control
import Takes
import Transport

/// A reply of the library. It is converted to JSON only at the socket and for HTTP.
public protocol LibraryReply: Sendable {
    /// The reply as a JSON object.
    /// - Throws: `Refusal` if the reply cannot be encoded.
    var json: String { get throws(Refusal) }
}

extension LibraryReply where Self: Encodable {
    public var json: String {
        get throws(Refusal) {
            guard let text = jsonText(self) else { throw Refusal(.internal, "control: the reply cannot be written") }
            return text
        }
    }
}

extension TakePage: LibraryReply {}
extension OutboxReport: LibraryReply {}
extension RemotePiece: LibraryReply {}

/// A take after a change.
public struct TakeReply: Encodable, LibraryReply {
    var take: CatalogedTake
}

public struct ShowReply: Encodable, LibraryReply {
    var take: CatalogedTake
    var notes: TakeNotes
    /// Why the notes cannot be read, or null.
    @ExplicitNull var problem: String?
    /// The markers after all changes in the notes.
    var markers: [Sidecar.Marker]
    var sidecar: JSONValue
}

/// The code for pairing phones, and the fingerprint by which a person recognises the console's certificate.
struct PairingCodeReply: Encodable, LibraryReply {
    var code: String
    @ExplicitNull var fingerprint: String?
}

public struct StickReply: Encodable, LibraryReply {
    /// The beginning of its mark.
    var stick: String
}

/// Success without content.
struct DoneReply: Encodable, LibraryReply {}

public struct LibraryStatus: Encodable, LibraryReply {
    var takes: Int
    /// The number of takes on storages that are not present.
    var elsewhere: Int
    /// The scan in progress, or null.
    @ExplicitNull var scan: Scan?
    /// The kits that recorded the takes.
    var kits: [String]
    var directories: [Directory]
    /// The first takes whose sidecar or notes cannot be used.
    var problems: [Problem]
    /// The number of all problems.
    var problemCount: Int
    var version: String

    /// Further problems are only counted.
    static let mostProblems = 20

    struct Problem: Codable, Sendable {
        var take: String
        var problem: String
    }

    enum CodingKeys: String, CodingKey {
        case takes, elsewhere, scan, kits, directories, problems, version
        case problemCount = "problem_count"
    }

    struct Scan: Codable, Sendable {
        var done: Int
        /// The number of takes found so far.
        var total: Int
    }

    /// A folder for takes whose storage is present.
    struct Directory: Codable, Sendable {
        var path: String
        /// The mark that identifies the storage.
        var storage: String
    }
}

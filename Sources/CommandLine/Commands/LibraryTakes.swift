import Control
import Takes
import Transport

/// The takes in the library's catalog.
struct LibraryTakes {
    private let session: Session
    private let client: LibraryClient

    /// Starting a process and reading an SD card on a board are slow.
    static let timeout = Duration.seconds(30)

    init(_ session: Session, _ client: LibraryClient) {
        self.session = session
        self.client = client
    }

    /// The keys of the library's status that a command needs.
    private struct Status: Decodable {
        var scan: Scan?
        var directories: [Directory]

        struct Scan: Decodable {
            var done: Int
            var total: Int?
        }
        struct Directory: Decodable { var path: String }
    }

    private struct Page<Take: Decodable>: Decodable {
        var takes: [Take]
        var next: String?
    }

    /// Writes the takes that match a query, page by page.
    /// - Parameter limit: the maximum number over all pages.
    func list(_ query: TakeQuery, limit: Int?, isRestricted: Bool) throws(Failure) {
        let status = try ask(.status, for: Status.self)
        if let scan = status.scan {
            let count = scan.total.map { "\(scan.done) of \($0)" } ?? "\(scan.done)"
            session.console.complain("takes: the library still reads the folders (\(count)): takes may be missing")
        }
        var list = TakesList(session, isRestricted: isRestricted)
        try list.begin(directory: status.directories.first?.path)
        if session.options.json {
            // The JSON is passed on unchanged, because a newer library may report more about a take than this command
            // knows.
            try pages(query, limit) { (takes: [JSONValue]) throws(Failure) in
                for take in takes where query.isDamaged != true || take["damaged"]?.text != nil {
                    try list.add(json: take)
                }
            }
        } else {
            try pages(query, limit) { (takes: [CatalogedTake]) throws(Failure) in
                // An older library ignores unknown conditions.
                try list.add(query.isDamaged == true ? takes.filter { $0.damaged != nil } : takes)
            }
        }
        try list.end(place: nil)
    }

    /// Passes on the takes that match a query, page by page.
    func pages<Take: Decodable>(
        _ query: TakeQuery, _ limit: Int?, _ use: ([Take]) throws(Failure) -> Void
    ) throws(Failure) {
        var query = query
        var left = limit ?? .max
        while left > 0 {
            query.limit = min(left, TakeQuery.mostTakes)
            let page = try ask(.takes(query), for: Page<Take>.self)
            try use(page.takes)
            left -= page.takes.count
            guard let next = page.next, !page.takes.isEmpty else { return }
            query.after = next
        }
    }

    /// The library's reply about a take.
    struct Shown: Decodable {
        var take: CatalogedTake
        var notes: TakeNotes
    }

    /// A take after a change.
    struct Changed: Decodable {
        var take: CatalogedTake
    }

    func ask<Reply: Decodable>(_ message: LibraryMessage, for type: Reply.Type) throws(Failure) -> Reply {
        do {
            return try client.ask(message, for: type, timeout: Self.timeout)
        } catch {
            throw Failure(error)
        }
    }

    func ask(_ message: LibraryMessage) throws(Failure) -> JSONValue {
        do {
            return try client.ask(message, timeout: Self.timeout)
        } catch {
            throw Failure(error)
        }
    }
}

import Control
import Takes

/// Writes a list of takes one by one, because there may be a hundred thousand.
struct TakesList {
    private let session: Session
    private let isRestricted: Bool
    private var width: Int
    private var count = 0
    private var separator = ""
    private var failures: [Failure] = []

    /// - Parameter isRestricted: whether the query excludes some takes.
    init(_ session: Session, isRestricted: Bool, width: Int = 0) {
        self.session = session
        self.isRestricted = isRestricted
        self.width = width
    }

    private var isJSON: Bool { session.options.json }

    /// - Parameter directory: the folder of the takes, or nil if it is unavailable now.
    func begin(directory: String?) throws(Failure) {
        guard isJSON else { return }
        let directory = directory.map { JSONValue.string($0) } ?? .null
        try session.console.write("{\"directory\":\(directory),\"takes\":[")
    }

    /// Adds takes. From here on, the column is wide enough for their longest stem.
    mutating func add(_ takes: [CatalogedTake]) throws(Failure) {
        width = takes.reduce(width) { max($0, $1.take.utf8.count) }
        for take in takes {
            count += 1
            let line = TakeLine(take, showsUnicode: session.console.showsUnicode)
            try session.write(line: line.text(stemWidth: width))
            if let damage = take.damaged { try session.write(line: "  \(damage.printable)") }
        }
    }

    /// Adds a take as JSON.
    mutating func add(json take: JSONValue) throws(Failure) {
        count += 1
        try session.console.write(separator + take.description)
        separator = ","
    }

    mutating func add(_ take: TakeName, unreadable failure: Failure) throws(Failure) {
        failures.append(failure)
        session.console.complain(failure.description)
        guard isJSON else { return }
        try add(json: .object(["take": .string(take.stem), "error": .string(failure.description)]))
    }

    /// - Parameter place: the place that the message for an empty list names, or nil for the kit.
    func end(place: String?) throws(Failure) {
        if isJSON {
            try session.console.write("]}\n")
        } else if count == 0, failures.isEmpty {
            let none = isRestricted ? "no such takes" : "no takes"
            try session.write(line: [place, none].compactMap(\.self).joined(separator: ": "))
        }
        guard let first = failures.first else { return }
        let count = failures.count == 1 ? "1 take" : "\(failures.count) takes"
        throw Failure(exitStatus: first.exitStatus, "takes: \(count) cannot be read")
    }
}

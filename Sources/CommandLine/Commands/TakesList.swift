import Control
import Takes

/// A list of takes as it is written, a take at a time: there may be a hundred thousand.
struct TakesList {
    private let session: Session
    private let isRestricted: Bool
    private var width: Int
    private var count = 0
    private var separator = ""
    private var failures: [Failure] = []

    /// - Parameter isRestricted: whether not all takes were asked for.
    init(_ session: Session, isRestricted: Bool, width: Int = 0) {
        self.session = session
        self.isRestricted = isRestricted
        self.width = width
    }

    private var isJSON: Bool { session.options.json }

    /// - Parameter directory: the folder of the takes; nil: there is none now.
    func begin(directory: String?) throws(Failure) {
        guard isJSON else { return }
        let directory = directory.map { JSONValue.string($0) } ?? .null
        try session.console.write("{\"directory\":\(directory),\"takes\":[")
    }

    /// Adds takes, and makes room for the longest of their stems from here on.
    mutating func add(_ takes: [CatalogedTake]) throws(Failure) {
        width = takes.reduce(width) { max($0, $1.take.utf8.count) }
        for take in takes {
            count += 1
            let line = TakeLine(take, showsUnicode: session.console.showsUnicode)
            try session.write(line: line.text(stemWidth: width))
            if let damage = take.damaged { try session.write(line: "  \(damage.printable)") }
        }
    }

    /// Adds a take as it is in JSON.
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

    /// - Parameter place: what is said to have no takes, if it has none; nil: the kit.
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

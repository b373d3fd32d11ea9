import ArgumentParser
import Control
import Glibc
import TakeFiles
import Takes

struct TakesCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "takes", abstract: "List the finished takes, the oldest first.",
        discussion: """
            Reads the takes from their folder, so that the recorder is not disturbed. A take that is being recorded is \
            not among them. A line has the stem, when the take began (UTC; '?' where the clock was not set), its \
            length, and what else is to be known of it.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: TakesOptions

    func run(in session: Session) throws(Failure) {
        let kit = try KitTakes(of: session, for: "takes", directory: place.directory)
        var list = List(session, width: kit.takes.reduce(0) { max($0, $1.stem.utf8.count) })
        try list.begin(kit)
        for take in kit.takes {
            do {
                try list.add(try kit.folder.sidecar(of: take))
            } catch let failure as Failure {
                throw failure
            } catch let error as FileError where error.code == ENOENT {
                // It was deleted meanwhile.
                continue
            } catch {
                try list.add(take, unreadable: Failure(reading: error, "takes"))
            }
        }
        try list.end()
    }
}

extension TakesCommand {
    /// The list as it is written, a take at a time: there may be a hundred thousand.
    private struct List {
        let session: Session
        let width: Int
        private var separator = ""
        private var failures: [Failure] = []

        init(_ session: Session, width: Int) {
            self.session = session
            self.width = width
        }

        private var isJSON: Bool { session.options.json }

        func begin(_ kit: KitTakes) throws(Failure) {
            if isJSON {
                try session.console.write("{\"directory\":\(JSONValue.string(kit.folder.path)),\"takes\":[")
            } else if kit.takes.isEmpty {
                try session.write(line: "\(kit.folder.path): no takes")
            }
        }

        mutating func add(_ sidecar: Sidecar) throws(Failure) {
            guard isJSON else { return try session.write(line: TakeText(sidecar).line(stemWidth: width)) }
            try add(sidecar.summary)
        }

        mutating func add(_ take: TakeName, unreadable failure: Failure) throws(Failure) {
            failures.append(failure)
            session.console.complain(failure.description)
            if isJSON { try add(["take": .string(take.stem), "error": .string(failure.description)]) }
        }

        private mutating func add(_ members: [String: JSONValue]) throws(Failure) {
            try session.console.write(separator + JSONValue.object(members).description)
            separator = ","
        }

        func end() throws(Failure) {
            if isJSON { try session.console.write("]}\n") }
            guard let first = failures.first else { return }
            let count = failures.count == 1 ? "1 take" : "\(failures.count) takes"
            throw Failure(exitStatus: first.exitStatus, "takes: \(count) cannot be read")
        }
    }
}

extension Sidecar {
    /// What a list has of it, by the names of the sidecar.
    fileprivate var summary: [String: JSONValue] {
        [
            "take": .string(take), "number": .integer(number), "kit": .string(kit), "revision": .integer(revision),
            "started": .string(started), "started_corrected": startedCorrected.map { .string($0) } ?? .null,
            "clock": .string(clock.rawValue), "duration_seconds": .double(durationSeconds),
            "frames": .integer(Int(frames)), "rate_hz": .integer(rateHz), "channels": .integer(channels),
            "format": .string(format.rawValue), "ended_by": endedBy.map { .string($0.rawValue) } ?? .null,
            "recovered": .bool(recovered), "pending_format": pendingFormat.map { .string($0) } ?? .null,
            "files": .array(parts.flatMap { [$0.file, $0.unfilteredFile].compactMap(\.self) }.map { .string($0) }),
        ]
    }
}

import Control
import Files
import FoundationEssentials
import Glibc
import Takes

/// The result of comparing a store with the recordings.
struct VerifyReport: Encodable {
    var store: String
    var takes: Int
    /// The files that do not differ, as far as they were compared.
    private(set) var files: [File] = []
    var problems: [Problem] = []
    /// The paths of missing sound that a person accepted on the kit.
    var accepted: [String] = []
    /// The takes that are in the folders of several days.
    let repeated: [Repeated]

    init(store: String, takes: [TakeName]) {
        self.store = store
        let days = Dictionary(grouping: takes, by: \.stem).mapValues { $0.map(\.day).sorted() }
        self.takes = days.count
        repeated = days.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
            Repeated(take: $0.key, days: $0.value)
        }
    }

    /// A take that the store has in the folders of several days.
    struct Repeated: Encodable, Equatable {
        var take: String
        var days: [String]
    }

    struct File: Encodable, Equatable {
        var path: String
        var bytes: Int64
        /// Hexadecimal.
        var sha256: String
        var proof: Proof
    }

    /// The evidence that a file is as it was recorded.
    enum Proof: String, Encodable {
        /// The file was read back.
        case read
        /// Only the length was compared.
        case length
        /// There was nothing to compare it with.
        case none
    }

    enum Verdict {
        case asRecorded
        /// There was nothing to compare it with.
        case uncompared
        /// With the problem.
        case differs(String)
    }

    /// A file that differs from the recording.
    struct Problem: Encodable, Equatable {
        var path: String
        var problem: String
    }

    /// Adds the result for a file.
    mutating func add(_ file: RemoteObject, _ sha256: String, _ proof: Proof, _ verdict: Verdict) {
        switch verdict {
        case .asRecorded: files.append(File(path: file.path, bytes: file.bytes, sha256: sha256, proof: proof))
        case .uncompared: files.append(File(path: file.path, bytes: file.bytes, sha256: sha256, proof: .none))
        case .differs(let problem): problems.append(Problem(path: file.path, problem: problem))
        }
    }

    /// The report for a person.
    var lines: [String] {
        func count(_ proof: Proof) -> Int { files.count { $0.proof == proof } }
        func named(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }
        let measured = count(.length) == 0 ? "" : ", \(count(.length)) of the same length"
        var lines = [
            "\(store.printable): \(takes == 1 ? "1 take" : "\(takes) takes"), \(named(count(.read))) as recorded\(measured), \(Figures.size(files.map(\.bytes).total))",
            "  by reading back: \(count(.read)); by length alone: \(count(.length))",
        ]
        if count(.length) > 0 { lines.append("  --read reads those back as well") }
        if count(.none) > 0 { lines.append("  \(named(count(.none))) with nothing to compare with") }
        lines += accepted.map { "  \($0.printable): missing, as a person accepted on the kit" }
        lines += repeated.map {
            "  \($0.take.printable): is there \($0.days.count) times, in \($0.days.joined(separator: ", "))"
        }
        return lines + problems.map { "  \($0.path.printable): \($0.problem.printable)" }
    }
}

/// The tag files of a bag (RFC 8493) whose payload is the store's content, placed below `data`.
struct BagFiles {
    private let report: VerifyReport

    init(_ report: VerifyReport) { self.report = report }

    var declaration: String { "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n" }

    var information: String {
        let bytes = report.files.map(\.bytes).total
        return """
            Bagging-Date: \(SystemClock().wallTime().date)
            Bag-Software-Agent: Fieldfare \(fieldfareVersion)
            External-Identifier: \(report.store)
            Payload-Oxum: \(bytes).\(report.files.count)

            """
    }

    /// `HASH  data/DAY/FILE`, in the order of the files' names.
    var manifest: String {
        report.files.sorted { $0.path < $1.path }.map { "\($0.sha256)  data/\($0.path)\n" }.joined()
    }

    func write(to folder: String) throws(Failure) {
        do {
            let files = FileSystem()
            let directory = try files.makeFolder(folder, mode: 0o755)
            for (name, text) in [
                ("bagit.txt", declaration), ("bag-info.txt", information), ("manifest-sha256.txt", manifest),
            ] {
                let file = try files.create("\(folder)/\(name)", isNew: false)
                try files.write(Array(text.utf8), to: file, at: 0)
                try files.sync(file)
            }
            try files.syncFolder(directory)
        } catch {
            throw Failure(exitStatus: 73, "remote verify: \(error.fact)")
        }
    }
}

import FoundationEssentials
import Glibc
import TakeFiles
import Takes

/// What a comparison of a store with what was recorded found.
struct VerifyReport: Encodable {
    var store: String
    var takes: Int
    /// Those that are as they were recorded, as far as they were compared.
    var files: [File] = []
    var problems: [Problem] = []

    init(store: String, takes: Int) {
        self.store = store
        self.takes = takes
    }

    /// A file that is as it was recorded.
    struct File: Encodable, Equatable {
        var path: String
        var bytes: Int64
        /// Hexadecimal.
        var sha256: String
        var proof: Proof
    }

    /// What shows that a file is as it was recorded.
    enum Proof: String, Encodable {
        /// It was read back.
        case read
        /// The store says its hash.
        case stated
        /// Its length alone.
        case length
    }

    /// What is not as it was recorded.
    struct Problem: Encodable, Equatable {
        var path: String
        var problem: String
    }

    mutating func add(_ file: File) { files.append(file) }

    /// What a person reads.
    var lines: [String] {
        let bytes = files.map(\.bytes).total
        func count(_ proof: Proof) -> Int { files.count { $0.proof == proof } }
        let measured = count(.length) == 0 ? "" : ", \(count(.length)) of the same length"
        var lines = [
            "\(store.printable): \(takes == 1 ? "1 take" : "\(takes) takes"), \(files.count - count(.length)) files as recorded\(measured), \(Figures.size(bytes))",
            "  by reading back: \(count(.read)); by the store's hash: \(count(.stated)); by length alone: \(count(.length))",
        ]
        if count(.length) > 0 { lines.append("  --read reads those back as well") }
        return lines + problems.map { "  \($0.path.printable): \($0.problem.printable)" }
    }
}

/// The tag files of a bag after RFC 8493, whose payload is what the store has, put below `data`.
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

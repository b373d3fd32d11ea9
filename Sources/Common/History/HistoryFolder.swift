import Glibc
public import TakeFiles
public import Takes

/// The files of the history, in a folder of their own: `000001.jsonl` and so on, a record a line, the newest last.
///
/// A file ends at a size, and the oldest of them are removed: the history is bounded. A line that a power cut left unfinished is
/// skipped by readers, and removed when the next line is written.
public struct HistoryFolder: Sendable {
    /// The folder's path.
    public let path: String
    let files: FileSystem

    /// Where a kit's recorder keeps it.
    public static let usualPath = "/var/lib/fieldfare/history"

    /// The history in a folder; nothing is read yet.
    public init(_ path: String, files: FileSystem = FileSystem()) {
        self.path = path
        self.files = files
    }

    /// The folder of the history below that of a kit's own state.
    public init(state: String, files: FileSystem = FileSystem()) {
        self.init(state + "/history", files: files)
    }

    /// A file ends once it is longer.
    static let fileBytes: Int64 = 256 << 10
    /// So many files are kept: 16 MiB, which are some years of an idle kit, or a year of one that records each day.
    static let fileCount = 64

    /// The numbers of the files that are there, in their order.
    /// - Throws: `FileError`. A folder that is not there has none.
    func numbers() throws(FileError) -> [Int] {
        do throws(FileError) {
            return try files.entries(path).compactMap(Self.number).sorted()
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
    }

    /// The path of a file.
    func file(_ number: Int) -> String { "\(path)/\(Self.name(number))" }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".jsonl"
    }

    /// A name with other zeros is somebody's copy, and one with more digits would end the counting.
    private static func number(_ name: String) -> Int? {
        guard name.hasSuffix(".jsonl"), let number = Int(name.dropLast(6)), (1...999_999_999).contains(number),
            name == Self.name(number)
        else { return nil }
        return number
    }

    /// What was found in the history's files.
    public struct Contents: Sendable {
        /// The oldest first.
        public var records: [HistoryRecord] = []
        /// How many lines are no records.
        public var damaged = 0
        /// The files that cannot be read, each as a sentence.
        public var unreadable: [String] = []
    }

    /// The records of all files.
    ///
    /// - Parameter since: only those from there on, by the date that the kit had; nil: all.
    /// - Throws: `FileError`, if the folder cannot be read.
    public func records(since: WallTime? = nil) throws(FileError) -> Contents {
        var contents = Contents()
        for number in try numbers().reversed() { read(number, into: &contents) }
        if let since { contents.records.removeAll { $0.at < since } }
        return contents
    }

    /// The newest records. Only the files that they are in are read.
    ///
    /// - Parameter newest: how many, at most.
    /// - Throws: `FileError`, if the folder cannot be read.
    public func records(newest count: Int) throws(FileError) -> Contents {
        var contents = Contents()
        for number in try numbers().reversed() where contents.records.count < count {
            read(number, into: &contents)
        }
        contents.records = contents.records.suffix(count)
        return contents
    }

    /// The bytes of all files that can be read, the oldest first.
    /// - Throws: `FileError`, if there is none.
    public func lines() throws(FileError) -> [UInt8] {
        _ = try files.entries(path)
        var bytes: [UInt8] = []
        for number in try numbers() {
            bytes += (try? files.contents(file(number), limit: Int(Self.fileBytes) + HistoryRecord.longestLine)) ?? []
        }
        return bytes
    }

    /// What happened since the recorder started last, that start included. Only the files that it is in are read.
    ///
    /// - Returns: nil, if that is not known: a file of it cannot be read. Empty: it never started.
    public func lastRun() -> [HistoryRecord]? {
        guard let numbers = try? numbers() else { return nil }
        var contents = Contents()
        for number in numbers.reversed() {
            read(number, into: &contents)
            guard contents.unreadable.isEmpty else { return nil }
            if let start = contents.records.lastIndex(where: \.isStart) { return Array(contents.records[start...]) }
        }
        return []
    }

    /// Puts what a file has in front of what the newer ones have.
    private func read(_ number: Int, into contents: inout Contents) {
        do throws(FileError) {
            let bytes = try files.contents(file(number), limit: Int(Self.fileBytes) + HistoryRecord.longestLine)
            let lines = bytes.split(separator: 0x0a)
            let records = lines.compactMap { HistoryRecord(line: $0) }
            contents.records.insert(contentsOf: records, at: 0)
            contents.damaged += lines.count - records.count
        } catch {
            // The writer removes the oldest one.
            if error.code != ENOENT { contents.unreadable.insert(error.fact, at: 0) }
        }
    }
}

extension HistoryRecord {
    /// Whether the recorder started.
    fileprivate var isStart: Bool { if case .started = event { true } else { false } }
}

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
    func file(_ number: Int) -> String {
        let digits = String(number)
        return path + "/" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".jsonl"
    }

    private static func number(_ name: String) -> Int? {
        guard name.hasSuffix(".jsonl"), name.utf8.count >= 12, let number = Int(name.dropLast(6)), number > 0 else {
            return nil
        }
        return number
    }

    /// The records of all files, the oldest first.
    ///
    /// - Parameter since: only those from there on, by the date that the kit had; nil: all.
    /// - Returns: the records, and how many lines are none.
    /// - Throws: `FileError`.
    public func records(since: WallTime? = nil) throws(FileError) -> (records: [HistoryRecord], damaged: Int) {
        try records(since: since, in: try numbers())
    }

    /// The records of the newest two files, the oldest first.
    /// - Throws: `FileError`.
    public func newestRecords() throws(FileError) -> [HistoryRecord] {
        try records(since: nil, in: try numbers().suffix(2)).records
    }

    private func records(
        since: WallTime?, in numbers: [Int]
    ) throws(FileError) -> (records: [HistoryRecord], damaged: Int) {
        var (records, damaged) = ([HistoryRecord](), 0)
        for number in numbers {
            let content: [UInt8]
            do throws(FileError) {
                content = try files.contents(file(number), limit: Int(Self.fileBytes) + HistoryRecord.longestLine)
            } catch {
                // The writer removes the oldest one.
                guard error.code == ENOENT else { throw error }
                continue
            }
            for line in content.split(separator: 0x0a) {
                guard let record = HistoryRecord(line: line) else {
                    damaged += 1
                    continue
                }
                if since.map({ record.at >= $0 }) ?? true { records.append(record) }
            }
        }
        return (records, damaged)
    }
}

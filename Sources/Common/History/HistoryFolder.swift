public import Files
import Glibc
public import Takes

/// The history's files in a folder of their own: `000001.jsonl` and so on, one record per line, the newest last.
///
/// The history is bounded: each file has a maximum size, and the oldest files are removed. Readers skip a line that a
/// power cut left unfinished, and the next write removes it.
public struct HistoryFolder: Sendable {
    public let path: String
    let files: FileSystem

    /// The folder on a kit.
    public static let usualPath = "/var/lib/fieldfare/history"

    /// Names the history of a folder. Nothing is read yet.
    public init(_ path: String, files: FileSystem = FileSystem()) {
        self.path = path
        self.files = files
    }

    /// The history below the kit's state folder.
    public init(state: String, files: FileSystem = FileSystem()) {
        self.init(state + "/history", files: files)
    }

    /// A file ends once it is longer than this.
    static let fileBytes: Int64 = 256 << 10
    /// The number of files that are kept: 16 MiB, which is some years of an idle kit, or a year of one that records
    /// each day.
    static let fileCount = 64

    /// The numbers of the existing files, in order.
    /// - Throws: `FileError`. A missing folder has no files and is not an error.
    func numbers() throws(FileError) -> [Int] {
        do throws(FileError) {
            return try files.entries(path).compactMap(Self.number).sorted()
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
    }

    func file(_ number: Int) -> String { "\(path)/\(Self.name(number))" }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".jsonl"
    }

    /// Only the exact name counts. A name with other leading zeros is somebody's copy, and one with more digits would
    /// exhaust the numbers.
    private static func number(_ name: String) -> Int? {
        guard name.hasSuffix(".jsonl"), let number = Int(name.dropLast(6)), (1...999_999_999).contains(number),
            name == Self.name(number)
        else { return nil }
        return number
    }

    public struct Contents: Sendable {
        /// The oldest first.
        public var records: [HistoryRecord] = []
        /// The number of lines that are not records.
        public var damaged = 0
        /// One sentence for each file that cannot be read.
        public var unreadable: [String] = []
    }

    /// The records of all files.
    ///
    /// - Parameter since: the first time to include, by the date that the kit had then, or nil for all records.
    /// - Throws: `FileError`, if the folder cannot be read.
    public func records(since: WallTime? = nil) throws(FileError) -> Contents {
        var contents = Contents()
        for number in try numbers().reversed() { read(number, into: &contents) }
        if let since { contents.records.removeAll { $0.at < since } }
        return contents
    }

    /// The newest records. Only the files that contain them are read.
    ///
    /// - Parameters:
    ///   - newest: the maximum number.
    ///   - time: older files than the first one without a newer record are not read, or nil for all. A file whose
    ///     records are years older does not count, because its clock was not set.
    /// - Throws: `FileError`, if the folder cannot be read.
    public func records(newest count: Int, backTo time: WallTime? = nil) throws(FileError) -> Contents {
        var contents = Contents()
        for number in try numbers().reversed() where contents.records.count < count {
            let known = contents.records.count
            read(number, into: &contents)
            let added = contents.records.dropLast(known)
            if let time, added.allSatisfy({ $0.at < time }), added.contains(where: { $0.at > time - Self.oldest }) {
                break
            }
        }
        contents.records = contents.records.suffix(count)
        return contents
    }

    /// A clock that was not set is years behind.
    private static let oldest = Duration.seconds(400 * 86_400)

    /// The records of a stretch of time, by the date that the kit had then, and some from before and after it: each
    /// file that may have some of them is read as a whole.
    ///
    /// - Throws: `FileError`, if the folder cannot be read.
    public func records(around stretch: Range<WallTime>) throws(FileError) -> Contents {
        var contents = Contents()
        // The records of the newer files, the oldest first.
        var beginnings: [WallTime] = []
        for number in try numbers().reversed() {
            let beginning = beginning(of: number)
            // Dates go back where a clock was not set: then the file ends before a later one begins.
            let end = beginnings.first { $0 >= beginning ?? $0 }
            let isBefore = end.map { $0 < stretch.lowerBound } ?? false
            // They also go back where a wrong clock is set.
            let isAfter = [beginning, ending(of: number)].allSatisfy { $0.map { $0 >= stretch.upperBound } ?? false }
            if !isBefore, !isAfter { read(number, into: &contents) }
            if let beginning { beginnings.insert(beginning, at: 0) }
        }
        return contents
    }

    /// The date of a file's first record, or nil if it cannot be read.
    private func beginning(of number: Int) -> WallTime? {
        guard let open = try? files.openToRead(file(number)),
            let bytes = try? files.read(open, at: 0, count: HistoryRecord.longestLine)
        else { return nil }
        return HistoryRecord(line: bytes.prefix { $0 != 0x0a })?.at
    }

    /// The date of a file's last record, or nil if it cannot be read.
    private func ending(of number: Int) -> WallTime? {
        guard let open = try? files.openToRead(file(number)), let length = try? files.length(open),
            let bytes = try? files.read(
                open, at: max(0, length - Int64(HistoryRecord.longestLine)), count: HistoryRecord.longestLine)
        else { return nil }
        return bytes.split(separator: 0x0a).last.flatMap { HistoryRecord(line: $0)?.at }
    }

    /// The bytes of all readable files, the oldest first.
    /// - Throws: `FileError`, if no file can be read.
    public func lines() throws(FileError) -> [UInt8] {
        _ = try files.entries(path)
        var bytes: [UInt8] = []
        for number in try numbers() {
            bytes += (try? files.contents(file(number), limit: Int(Self.fileBytes) + HistoryRecord.longestLine)) ?? []
        }
        return bytes
    }

    /// The events since the recorder's last start, including that start. Only the files that contain them are read.
    ///
    /// - Returns: nil if one of these files cannot be read, or an empty list if the recorder never started.
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

    /// Inserts a file's records before those of the newer files.
    private func read(_ number: Int, into contents: inout Contents) {
        do throws(FileError) {
            let bytes = try files.contents(file(number), limit: Int(Self.fileBytes) + HistoryRecord.longestLine)
            let lines = bytes.split(separator: 0x0a)
            let records = lines.compactMap { HistoryRecord(line: $0) }
            contents.records.insert(contentsOf: records, at: 0)
            contents.damaged += lines.count - records.count
        } catch {
            // The writer may remove the oldest file meanwhile.
            if error.code != ENOENT { contents.unreadable.insert(error.fact, at: 0) }
        }
    }
}

extension HistoryRecord {
    fileprivate var isStart: Bool { if case .started = event { true } else { false } }
}

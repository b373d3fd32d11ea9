public import TakeFiles

/// Appends to the history. One process writes, from one thread.
public struct HistoryWriter {
    private let folder: HistoryFolder
    private var current: Current?

    /// The file that is appended to.
    private struct Current {
        var number: Int
        var file: OpenFile
        /// Up to here it has whole lines.
        var length: Int64
    }

    /// A writer for a folder, which is made with the first record.
    public init(_ folder: HistoryFolder) {
        self.folder = folder
    }

    /// Appends records. They are on the disk when this returns.
    ///
    /// - Throws: `FileError`. Then none of them is in the history, or some are, and the next call goes on behind the last whole line.
    public mutating func append(_ records: [HistoryRecord]) throws(FileError) {
        var lines = records.compactMap(\.line)[...]
        do throws(FileError) {
            while !lines.isEmpty {
                var target: Current
                if let current { target = current } else { target = try open() }
                var bytes: [UInt8] = []
                while let line = lines.first, target.length + Int64(bytes.count) < HistoryFolder.fileBytes {
                    bytes += line
                    lines = lines.dropFirst()
                }
                try folder.files.write(bytes, to: target.file, at: target.length)
                try folder.files.syncData(target.file)
                target.length += Int64(bytes.count)
                current = target.length < HistoryFolder.fileBytes ? target : nil
            }
        } catch {
            // It may have half of a line.
            current = nil
            throw error
        }
    }

    /// Opens the newest file behind its last whole line, or makes the next one.
    private func open() throws(FileError) -> Current {
        let directory = try folder.files.makeFolder(folder.path)
        let numbers = try folder.numbers()
        if let last = numbers.last, let found = try reopen(last) { return found }
        let number = (numbers.last ?? 0) + 1
        let file = try folder.files.create(folder.file(number), isNew: true)
        try folder.files.sync(directory)
        for old in numbers.dropLast(HistoryFolder.fileCount - 1) { try folder.files.remove(folder.file(old)) }
        return Current(number: number, file: file, length: 0)
    }

    /// The newest file; nil: it is full.
    private func reopen(_ number: Int) throws(FileError) -> Current? {
        let file = try folder.files.open(folder.file(number))
        let length = try folder.files.length(file)
        guard length < HistoryFolder.fileBytes else { return nil }
        let content = try folder.files.read(file, at: 0, count: Int(length))
        let whole = Int64(content.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0)
        if whole < length { try folder.files.truncate(file, to: whole) }
        return Current(number: number, file: file, length: whole)
    }
}

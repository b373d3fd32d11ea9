public import Files

/// Appends to the history. Only one process may write, from one thread.
public struct HistoryWriter {
    private let folder: HistoryFolder
    private var current: Current?
    /// The file that was appended to last, and its synced length. Bytes after it were not acknowledged, and are written
    /// again.
    private var synced: (number: Int, length: Int64)?

    private struct Current {
        var number: Int
        var file: OpenFile
        /// The length of its whole lines.
        var length: Int64
    }

    /// A writer for a folder, which is created with the first record.
    public init(_ folder: HistoryFolder) {
        self.folder = folder
    }

    /// Appends records, and removes those that are on the disk from the list. When this returns, the list is empty.
    ///
    /// - Throws: `FileError`. Records that are then left in the list are not in the history.
    public mutating func append(_ records: inout [HistoryRecord]) throws(FileError) {
        do throws(FileError) {
            while !records.isEmpty {
                var target: Current
                if let current { target = current } else { target = try open() }
                var (bytes, count) = ([UInt8](), 0)
                while count < records.count, target.length + Int64(bytes.count) < HistoryFolder.fileBytes {
                    bytes += records[count].line ?? []
                    count += 1
                }
                synced = (target.number, target.length)
                try folder.files.write(bytes, to: target.file, at: target.length)
                try folder.files.syncData(target.file)
                records.removeFirst(count)
                target.length += Int64(bytes.count)
                synced = (target.number, target.length)
                current = target.length < HistoryFolder.fileBytes ? target : nil
            }
        } catch {
            // The file may end with half a line.
            current = nil
            throw error
        }
    }

    /// Opens the newest file at the end of its last whole line, or creates the next file.
    private func open() throws(FileError) -> Current {
        let directory = try folder.files.makeFolder(folder.path)
        let numbers = try folder.numbers()
        // An unreadable file stays as it is, and writing continues in the next one.
        if let last = numbers.last, let found = try? reopen(last) { return found }
        let number = (numbers.last ?? 0) + 1
        let file = try folder.files.create(folder.file(number), isNew: true)
        try folder.files.sync(directory)
        for old in numbers.dropLast(HistoryFolder.fileCount - 1) { try? folder.files.remove(folder.file(old)) }
        return Current(number: number, file: file, length: 0)
    }

    /// The newest file, or nil if it is full.
    private func reopen(_ number: Int) throws(FileError) -> Current? {
        let file = try folder.files.open(folder.file(number))
        let length = try folder.files.length(file)
        guard length < HistoryFolder.fileBytes else { return nil }
        let content = try folder.files.read(file, at: 0, count: Int(length))
        var whole = Int64(content.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0)
        if let synced, synced.number == number { whole = min(whole, synced.length) }
        if whole < length { try folder.files.truncate(file, to: whole) }
        return Current(number: number, file: file, length: whole)
    }
}

import Files

enum RIFFChunks {
    /// More than the markers of any take need, and small enough to be held in memory.
    static let largestByteCount = 8 << 20

    /// Reads `RIFF`, then every chunk with its header and the zero byte after an odd size. For `data` it reads only the
    /// header.
    ///
    /// `flac --keep-foreign-metadata` stores the chunks in this form.
    /// - Returns: an empty array if the file does not consist of whole chunks from its first byte to its last, or if
    ///   they are too large.
    static func all(of file: OpenFile, files: FileSystem) throws(FileError) -> [[UInt8]] {
        let head = try files.read(file, at: 0, count: 12)
        guard head.count == 12, head.starts(with: Array("RIFF".utf8)), head[8...] == Array("WAVE".utf8)[...] else {
            return []
        }
        var chunks = [head]
        var byteCount = head.count
        let end = 8 + size(head)
        var offset: Int64 = 12
        while offset < end {
            let start = try files.read(file, at: offset, count: 8)
            guard start.count == 8 else { return [] }
            let isData = start.starts(with: Array("data".utf8))
            let filled = size(start) + size(start) % 2
            let wanted = isData ? 8 : 8 + filled
            byteCount += Int(wanted)
            guard byteCount <= largestByteCount else { return [] }
            let chunk = try files.read(file, at: offset, count: Int(wanted))
            guard chunk.count == Int(wanted) else { return [] }
            chunks.append(chunk)
            offset += 8 + filled
        }
        // A file that ends before or after the RIFF size could not be restored exactly.
        guard offset == end, try files.read(file, at: end - 1, count: 2).count == 1 else { return [] }
        return chunks
    }

    /// The size field of a chunk header.
    private static func size(_ head: [UInt8]) -> Int64 {
        (4..<8).reduce(0) { $0 | Int64(head[$1]) << (8 * ($1 - 4)) }
    }
}

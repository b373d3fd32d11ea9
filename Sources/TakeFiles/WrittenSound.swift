/// The sums of the sound that was written to an audio file and is not known to be on the disk: after a failure of the storage, the
/// file may hold something else there, or nothing.
struct WrittenSound: Sendable {
    /// Bytes of sound that are on the disk, from the first on.
    private(set) var sureBytes: Int64 = 0
    private var pieces: [Piece] = []

    private struct Piece {
        var byteCount: Int64
        var sum: UInt64
    }

    /// These bytes were written behind all others.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        pieces.append(unsafe Piece(byteCount: Int64(bytes.count), sum: Self.sum(bytes)))
    }

    /// The first `byteCount` bytes are on the disk; they end with a piece.
    mutating func settle(_ byteCount: Int64) {
        while let piece = pieces.first, sureBytes + piece.byteCount <= byteCount {
            sureBytes += piece.byteCount
            pieces.removeFirst()
        }
    }

    /// How many bytes of a file, from its first frame on, are what was written, as it reads now.
    ///
    /// - Parameter isKept: whether those that were not on the disk are written once more, since the kernel drops pages that it
    ///   failed to write.
    func soundBytes(in file: OpenFile, _ files: FileSystem, isKept: Bool) throws(FileError) -> Int64 {
        var end = sureBytes
        for piece in pieces {
            let place = Int64(WAVHeader.byteCount) + end
            let bytes = try files.read(file, at: place, count: Int(piece.byteCount))
            // Safe: the bytes outlive the call.
            let isSound = unsafe bytes.withUnsafeBytes { buffer in
                unsafe buffer.count == piece.byteCount && Self.sum(buffer) == piece.sum
            }
            guard isSound else { break }
            if isKept { try files.write(bytes, to: file, at: place) }
            end += piece.byteCount
        }
        return end
    }

    /// A sum that differs if any word differs.
    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count)
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
            sum ^= sum >> 29
        }
        let words = bytes.count / 8
        for word in 0..<words {
            // Safe: 8 * words ≤ count.
            add(unsafe bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self))
        }
        for index in 8 * words..<bytes.count { add(UInt64(unsafe bytes[index])) }
        return sum
    }
}

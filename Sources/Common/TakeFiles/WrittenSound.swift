/// The sound that was written to an audio file: its fingerprint, and those of what is not known to be on the disk. After a failure of
/// the storage, the file may hold something else there, or nothing.
struct WrittenSound: Sendable {
    /// Bytes of sound that are on the disk, from the first on.
    private(set) var sureBytes: Int64 = 0
    /// The fingerprint of those bytes, then of all bytes; nil: none is computed.
    private var sureDigest, digest: SoundDigest?
    private var pieces: [Piece] = []

    private struct Piece {
        var byteCount: Int64
        /// The fingerprint up to the end of this piece: what stays after a failure may end here.
        var digest: SoundDigest?
    }

    /// No sound yet.
    /// - Parameter hasFingerprint: whether one is computed.
    init(hasFingerprint: Bool = true) {
        digest = hasFingerprint ? SoundDigest() : nil
        sureDigest = digest
    }

    /// These bytes were written behind all others.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        unsafe digest?.update(bytes)
        pieces.append(Piece(byteCount: Int64(bytes.count), digest: digest))
    }

    /// The first `byteCount` bytes are on the disk; they end with a piece.
    mutating func settle(_ byteCount: Int64) {
        var count = 0
        while count < pieces.count, sureBytes + pieces[count].byteCount <= byteCount {
            sureBytes += pieces[count].byteCount
            sureDigest = pieces[count].digest
            count += 1
        }
        pieces.removeFirst(count)
    }

    /// The fingerprint of the first `byteCount` bytes; nil: none is known, since no piece ends there or none is computed.
    func fingerprint(ofFirst byteCount: Int64) -> String? {
        if byteCount == sureBytes { return sureDigest?.hexadecimal }
        var end = sureBytes
        for piece in pieces {
            end += piece.byteCount
            if end >= byteCount { return end == byteCount ? piece.digest?.hexadecimal : nil }
        }
        return nil
    }

    /// How many bytes of a file, from its first frame on, are what was written, as it reads now. Without a fingerprint, those that are on
    /// the disk.
    ///
    /// - Parameter isKept: whether those that were not on the disk are written once more, since the kernel drops pages that it
    ///   failed to write.
    func soundBytes(in file: OpenFile, _ files: FileSystem, isKept: Bool) throws(FileError) -> Int64 {
        var end = sureBytes
        var found = sureDigest
        for piece in pieces {
            let place = Int64(WAVHeader.byteCount) + end
            let bytes = try files.read(file, at: place, count: Int(piece.byteCount))
            found?.update(bytes)
            guard bytes.count == piece.byteCount, let found, found.hexadecimal == piece.digest?.hexadecimal else {
                break
            }
            if isKept { try files.write(bytes, to: file, at: place) }
            end += piece.byteCount
        }
        return end
    }
}

import Files

/// The sound that was written to an audio file: its fingerprint, and the fingerprints of pieces that are not known to
/// be on the disk. After a storage failure, the file may contain other data there, or nothing.
struct WrittenSound: Sendable {
    /// The number of leading bytes of sound that are on the disk.
    private(set) var sureBytes: Int64 = 0
    /// The fingerprint of those bytes, then of all bytes. Nil if none is computed.
    private var sureDigest, digest: SoundDigest?
    private var pieces: [Piece] = []

    private struct Piece {
        var byteCount: Int64
        /// The fingerprint up to the end of this piece. After a failure the kept data may end here.
        var digest: SoundDigest?
    }

    /// No sound yet.
    /// - Parameter hasFingerprint: whether to compute one.
    init(hasFingerprint: Bool = true) {
        digest = hasFingerprint ? SoundDigest() : nil
        sureDigest = digest
    }

    /// Records bytes that were written after all others.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        unsafe digest?.update(bytes)
        pieces.append(Piece(byteCount: Int64(bytes.count), digest: digest))
    }

    /// Records that the first `byteCount` bytes, which end with a piece, are on the disk.
    mutating func settle(_ byteCount: Int64) {
        var count = 0
        while count < pieces.count, sureBytes + pieces[count].byteCount <= byteCount {
            sureBytes += pieces[count].byteCount
            sureDigest = pieces[count].digest
            count += 1
        }
        pieces.removeFirst(count)
    }

    /// The fingerprint of the first `byteCount` bytes. Nil if none is computed, or no piece ends there.
    func fingerprint(ofFirst byteCount: Int64) -> String? {
        if byteCount == sureBytes { return sureDigest?.hexadecimal }
        var end = sureBytes
        for piece in pieces {
            end += piece.byteCount
            if end >= byteCount { return end == byteCount ? piece.digest?.hexadecimal : nil }
        }
        return nil
    }

    /// How many bytes of a file, from its first frame, match the written sound when they are read now. Without a
    /// fingerprint, the number of bytes on the disk.
    ///
    /// - Parameter isKept: whether to rewrite matching bytes that were not on the disk, since the kernel drops pages
    ///   that it failed to write.
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

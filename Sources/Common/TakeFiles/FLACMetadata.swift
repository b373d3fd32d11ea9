/// The metadata blocks of a FLAC file, between `fLaC` and the first frame (RFC 9639, section 8).
package struct FLACMetadata: Hashable, Sendable {
    struct Comment: Hashable, Sendable {
        /// Letters, digits and `_`.
        var name: String
        var text: String
    }

    /// A position in the sound, or a region.
    struct Cue: Hashable, Sendable {
        /// Counted from the start of the file.
        var frame: Int64
        var label: String
        /// The length of the region, or nil for a position.
        var frames: Int64?
    }

    var comments: [Comment]
    /// The markers, sorted by frame.
    var cues: [Cue] = []
    /// The number of frames that the file will hold. The cue sheet ends there.
    var frames: Int64
    /// The frame rate from which the times of chapters are computed.
    var rateHz: Int
    /// The chunks of the source WAV file, as `RIFFChunks` reads them; may be empty.
    var chunks: [[UInt8]] = []

    /// Bytes for comments that are added later without rewriting the whole file.
    static let paddingByteCount = 8192
    /// A cue sheet that is not from a CD numbers its tracks from 1 to 254 (section 8.7).
    static let mostTracks = 254
    /// Chapter numbers have three digits.
    static let mostChapters = 999
    /// The length field of a block has 24 bits.
    static let largestBlock = (1 << 24) - 1

    /// All bytes before the first frame. Their length depends on `vendor`, not on `streamInfo`.
    ///
    /// - Parameters:
    ///   - streamInfo: the content of the STREAMINFO block from the encoder.
    ///   - vendor: the encoder's name for itself.
    func bytes(streamInfo: [UInt8], vendor: [UInt8]) -> [UInt8] {
        var blocks: [(type: UInt8, content: [UInt8])] = [(0, streamInfo)]
        // ffmpeg reads chapters from both blocks and keeps those of the later one. The comments come later because they
        // have the names.
        if let sheet = cueSheet { blocks.append((5, sheet)) }
        blocks.append((4, commentBlock(vendor: vendor)))
        // The application "riff": `flac --keep-foreign-metadata` stores these blocks, and restores the same WAV file
        // from them. It needs `--channel-map=none` for more than two channels, and before 1.4.3
        // `--force-legacy-wave-format` for plain 24 bits.
        if chunks.allSatisfy({ $0.count + 4 <= Self.largestBlock }) {
            blocks += chunks.map { (2, Array("riff".utf8) + $0) }
        }
        blocks.append((1, [UInt8](repeating: 0, count: Self.paddingByteCount)))
        var bytes = Array("fLaC".utf8)
        for (index, block) in blocks.enumerated() {
            let isLast = index == blocks.count - 1
            bytes.append(block.type | (isLast ? 0x80 : 0))
            bytes.append(bigEndian: UInt64(block.content.count), byteCount: 3)
            bytes += block.content
        }
        return bytes
    }

    /// The VORBIS_COMMENT block (section 8.6): the comments, then as many chapters as fit.
    private func commentBlock(vendor: [UInt8]) -> [UInt8] {
        var entries: [[UInt8]] = []
        var size = 8 + vendor.count
        for comment in comments + chapters {
            let entry = Array("\(comment.name)=\(comment.text)".utf8)
            guard size + 4 + entry.count <= Self.largestBlock else { break }
            entries.append(entry)
            size += 4 + entry.count
        }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(vendor.count))
        bytes += vendor
        bytes.append(littleEndian: UInt32(entries.count))
        for entry in entries {
            bytes.append(littleEndian: UInt32(entry.count))
            bytes += entry
        }
        return bytes
    }

    /// The cues as the comments `CHAPTER001` and `CHAPTER001NAME`, in milliseconds, as players read them (Xiph's
    /// chapter extension), and the lengths of regions as `CHAPTER001FRAMES`.
    ///
    /// The chapter extension has no ends of chapters. A length is a plain number because VLC reads a time in any comment
    /// that begins with `CHAPTER001` as the chapter's start.
    private var chapters: [Comment] {
        cues.prefix(Self.mostChapters).enumerated().flatMap { index, cue in
            let name = "CHAPTER" + Self.padded(Int64(index + 1), 3)
            let (seconds, rest) = cue.frame.quotientAndRemainder(dividingBy: Int64(rateHz))
            let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.padded($0, 2) }
            var chapter = [
                Comment(
                    name: name,
                    text: time.joined(separator: ":") + "." + Self.padded(rest * 1000 / Int64(rateHz), 3)),
                Comment(name: name + "NAME", text: cue.label),
            ]
            if let frames = cue.frames { chapter.append(Comment(name: name + "FRAMES", text: String(frames))) }
            return chapter
        }
    }

    /// The CUESHEET block (section 8.7), or nil without cues. A track begins exactly at the frame of each cue. A track
    /// cannot be empty, so only the first of several cues on one frame counts, and cues after the last frame are
    /// omitted.
    private var cueSheet: [UInt8]? {
        var starts: [Int64] = []
        for cue in cues where cue.frame < frames && starts.count < Self.mostTracks {
            if cue.frame > starts.last ?? -1 { starts.append(cue.frame) }
        }
        guard !starts.isEmpty else { return nil }
        // No catalogue number, no lead-in, not from a CD.
        var bytes = [UInt8](repeating: 0, count: 128 + 8 + 259)
        bytes.append(UInt8(starts.count + 1))
        for (index, start) in starts.enumerated() {
            bytes.append(bigEndian: UInt64(start), byteCount: 8)
            bytes.append(UInt8(index + 1))
            // No ISRC, audio without emphasis. One index point, number 1, at the track's start.
            bytes += [UInt8](repeating: 0, count: 12 + 14)
            bytes += [1] + [UInt8](repeating: 0, count: 8) + [1, 0, 0, 0]
        }
        // The lead-out.
        bytes.append(bigEndian: UInt64(frames), byteCount: 8)
        bytes.append(255)
        bytes += [UInt8](repeating: 0, count: 12 + 14 + 1)
        return bytes
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension [UInt8] {
    /// Appends the lowest `byteCount` bytes of a number in big-endian order.
    fileprivate mutating func append(bigEndian number: UInt64, byteCount: Int) {
        for place in (0..<byteCount).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }
}

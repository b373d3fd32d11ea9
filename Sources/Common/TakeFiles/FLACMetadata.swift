/// The metadata of a FLAC file: the blocks between `fLaC` and the first frame (RFC 9639, section 8).
package struct FLACMetadata: Hashable, Sendable {
    /// A Vorbis comment.
    struct Comment: Hashable, Sendable {
        /// Letters, digits and `_`.
        var name: String
        /// Any text.
        var text: String
    }

    /// A place in the sound.
    struct Cue: Hashable, Sendable {
        /// Its frame in the file.
        var frame: Int64
        /// Its name.
        var label: String
    }

    /// The Vorbis comments, in order.
    var comments: [Comment]
    /// The markers, by frame.
    var cues: [Cue] = []
    /// Frames that the file will hold: the cue sheet ends there.
    var frames: Int64
    /// Frames a second, from which the times of chapters are computed.
    var rateHz: Int
    /// The chunks of the WAV file that the sound comes from, as `RIFFChunks` reads them; may be empty.
    var chunks: [[UInt8]] = []

    /// Room for comments that are added later without writing the whole file again.
    static let paddingByteCount = 8192
    /// A cue sheet that is not of a CD numbers its tracks 1 to 254 (section 8.7).
    static let mostTracks = 254
    /// Chapters are numbered with three digits.
    static let mostChapters = 999
    /// A block's length has 24 bits.
    static let largestBlock = (1 << 24) - 1

    /// Everything before the first frame; its length depends on `vendor`, not on `streamInfo`.
    ///
    /// - Parameters:
    ///   - streamInfo: the content of the block STREAMINFO, as the encoder made it.
    ///   - vendor: the encoder's name for itself.
    func bytes(streamInfo: [UInt8], vendor: [UInt8]) -> [UInt8] {
        var blocks: [(type: UInt8, content: [UInt8])] = [(0, streamInfo)]
        // ffmpeg reads chapters from both, and keeps those of the later block: the comments, which have the names.
        if let sheet = cueSheet { blocks.append((5, sheet)) }
        blocks.append((4, commentBlock(vendor: vendor)))
        // The application "riff": what `flac --keep-foreign-metadata` stores, and makes into the same WAV file again. It needs
        // `--channel-map=none` for more than two channels, and before 1.4.3 `--force-legacy-wave-format` for plain 24 bits.
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

    /// The block VORBIS_COMMENT (section 8.6): the comments, then as many chapters as fit.
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

    /// The cues as the comments `CHAPTER001` and `CHAPTER001NAME`, to the millisecond, as players read them (Xiph's chapter extension).
    private var chapters: [Comment] {
        cues.prefix(Self.mostChapters).enumerated().flatMap { index, cue in
            let name = "CHAPTER" + Self.padded(Int64(index + 1), 3)
            let (seconds, rest) = cue.frame.quotientAndRemainder(dividingBy: Int64(rateHz))
            let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.padded($0, 2) }
            return [
                Comment(
                    name: name,
                    text: time.joined(separator: ":") + "." + Self.padded(rest * 1000 / Int64(rateHz), 3)),
                Comment(name: name + "NAME", text: cue.label),
            ]
        }
    }

    /// The block CUESHEET (section 8.7): a track begins at each cue, to the frame. A track is longer than nothing, so that
    /// of cues on one frame the first alone counts, and none behind the last frame. Nil without cues.
    private var cueSheet: [UInt8]? {
        var starts: [Int64] = []
        for cue in cues where cue.frame < frames && starts.count < Self.mostTracks {
            if cue.frame > starts.last ?? -1 { starts.append(cue.frame) }
        }
        guard !starts.isEmpty else { return nil }
        // No catalogue number, no lead-in, not of a CD.
        var bytes = [UInt8](repeating: 0, count: 128 + 8 + 259)
        bytes.append(UInt8(starts.count + 1))
        for (index, start) in starts.enumerated() {
            bytes.append(bigEndian: UInt64(start), byteCount: 8)
            bytes.append(UInt8(index + 1))
            // No ISRC, audio without emphasis; one index point, number 1, at the track's start.
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
    /// Appends the lowest `byteCount` bytes of a number, highest first.
    fileprivate mutating func append(bigEndian number: UInt64, byteCount: Int) {
        for place in (0..<byteCount).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }
}

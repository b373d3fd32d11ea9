import Files

/// The fields of a FLAC header that depend on all of its sound. They must be known in advance if the output cannot be
/// rewritten.
package struct FLACSignature: Hashable, Sendable {
    var frames: Int64
    /// MD5 of all samples, interleaved, each little-endian in as many bytes as its bits need (RFC 9639, section 8.2);
    /// 16 bytes.
    var md5: [UInt8]

    /// - Parameter md5: of all samples; 16 bytes.
    package init(frames: Int64, md5: [UInt8]) {
        precondition(md5.count == 16)
        self.frames = frames
        self.md5 = md5
    }

    /// The content of a STREAMINFO block with these values set. The lengths of the shortest and the longest frame stay
    /// unknown.
    func applied(to streamInfo: [UInt8]) -> [UInt8] {
        var info = streamInfo
        // 36 bits.
        info[13] = info[13] & 0xf0 | UInt8(truncatingIfNeeded: frames >> 32) & 0x0f
        for byte in 0..<4 { info[14 + byte] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * byte)) }
        info.replaceSubrange(18..<34, with: md5)
        return info
    }
}

/// The destination of an encoder's FLAC output, with our metadata in place of the encoder's own.
///
/// libsndfile writes no cue sheet and few comments, and FLAC stores both before the first frame. So the encoder's own
/// header stays in memory, where the encoder completes its STREAMINFO at the end. The frames are written after our
/// header.
final class FLACStream {
    enum Output {
        /// A file. Its header is written last.
        case file(OpenFile, FileSystem)
        /// Memory, in the order of the bytes, until `takePieces` takes them.
        case pieces(FLACSignature)
    }

    private let output: Output
    private let metadata: FLACMetadata
    /// The bytes that `takePieces` has not returned yet.
    private var pieces: [UInt8] = []
    /// The bytes that the encoder wrote before its first frame.
    private var head: [UInt8] = []
    /// The parsed `head`, when it is complete.
    private var own: FLACHead?
    /// The offset of the frames in the file minus their offset in the encoder's output, in bytes.
    private var shift: Int64 = 0

    /// The offset of the encoder's next write, in the encoder's output.
    private(set) var position: Int64 = 0
    /// The number of bytes that the encoder has written.
    private(set) var length: Int64 = 0
    /// The first error. After it, nothing more is written.
    private(set) var failure: FileError?
    /// Set when the rest of the output is not needed.
    var isAbandoned = false

    init(to output: Output, metadata: FLACMetadata) {
        self.output = output
        self.metadata = metadata
    }

    /// Returns the bytes that must be sent next, and forgets them.
    func takePieces() -> [UInt8] {
        defer { pieces = [] }
        return pieces
    }

    /// Writes frames after our header.
    private func put(_ bytes: [UInt8], at place: Int64) throws(FileError) {
        switch output {
        case .file(let file, let files): try files.write(bytes, to: file, at: place)
        case .pieces: pieces += bytes
        }
    }

    func seek(to place: Int64) {
        position = max(0, place)
    }

    /// Writes at `position`.
    /// - Returns: whether all bytes were written. After a failure nothing is written.
    func write(_ bytes: [UInt8]) -> Bool {
        guard failure == nil, !isAbandoned else { return false }
        do throws(FileError) {
            let inHead = own.map { max(0, min(bytes.count, $0.byteCount - Int(position))) } ?? bytes.count
            let start = Int(position)
            if inHead > 0 {
                let missing = start + inHead - head.count
                if missing > 0 { head += [UInt8](repeating: 0, count: missing) }
                head.replaceSubrange(start..<start + inHead, with: bytes[..<inHead])
            }
            if inHead < bytes.count {
                try put(Array(bytes[inHead...]), at: shift + position + Int64(inHead))
            }
            if own == nil, let found = FLACHead(head) {
                own = found
                if case .pieces(let signature) = output {
                    pieces = metadata.bytes(
                        streamInfo: signature.applied(to: found.streamInfo), vendor: found.vendor)
                }
                shift = Int64(
                    metadata.bytes(streamInfo: found.streamInfo, vendor: found.vendor).count - found.byteCount)
                let rest = Array(head[found.byteCount...])
                head.removeLast(rest.count)
                if !rest.isEmpty { try put(rest, at: shift + Int64(found.byteCount)) }
            }
        } catch {
            failure = error
            return false
        }
        position += Int64(bytes.count)
        length = max(length, position)
        return true
    }

    /// Writes our header, after the encoder has completed its own.
    /// - Returns: false if the encoder wrote no header, because it got no frame.
    func finish() throws(FileError) -> Bool {
        guard let finished = FLACHead(head) else { return false }
        if case .file(let file, let files) = output {
            try files.write(metadata.bytes(streamInfo: finished.streamInfo, vendor: finished.vendor), to: file, at: 0)
        }
        return true
    }
}

/// The blocks that an encoder writes before its first frame.
struct FLACHead: Hashable {
    var byteCount: Int
    /// The content of the STREAMINFO block.
    var streamInfo: [UInt8]
    /// The encoder's name; may be empty.
    var vendor: [UInt8] = []

    /// Parses the blocks up to the last one. Nil if they are not complete.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("fLaC".utf8)) else { return nil }
        var found: [UInt8: ArraySlice<UInt8>] = [:]
        var offset = 4
        while true {
            guard offset + 4 <= bytes.count else { return nil }
            let type = bytes[offset]
            let size = bytes[offset + 1..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 4 + size <= bytes.count else { return nil }
            found[type & 0x7f] = bytes[offset + 4..<offset + 4 + size]
            offset += 4 + size
            if type & 0x80 != 0 { break }
        }
        guard let streamInfo = found[0], streamInfo.count == 34 else { return nil }
        byteCount = offset
        self.streamInfo = Array(streamInfo)
        if let comments = found[4], comments.count >= 4 {
            let size = comments.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            vendor = Array(comments.dropFirst(4).prefix(size))
        }
    }
}

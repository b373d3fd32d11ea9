public import Takes

/// Parses the sound of a WAV file from its bytes, given from the first to the last. Chunks may have any order, and each
/// size is checked.
public struct WAVSound: Sendable {
    /// The part of the file to which the next byte belongs.
    private enum Place {
        /// `RIFF`, the size and `WAVE`.
        case head
        /// The name and the size of a chunk.
        case chunk
        /// The `fmt ` chunk, with this size.
        case format(Int)
        /// The sound, with this number of bytes left.
        case sound(Int64)
        /// Other content, with this number of bytes left.
        case other(Int64)
        /// After the end of the RIFF chunk.
        case behind
        case damaged(String)
    }

    /// The result of reading a whole file.
    public enum Outcome: Hashable, Sendable {
        /// - Parameters:
        ///   - stated: bytes of sound according to the header.
        ///   - found: bytes of sound that are present.
        ///   - sha256: of the bytes that are present.
        case sound(StreamFormat, stated: Int64, found: Int64, sha256: String)
        /// It cannot be read as WAV. The text says why, as in "its header …".
        case damaged(String)
    }

    private var place = Place.head
    private var pending: [UInt8] = []
    /// Bytes read so far.
    private var position: Int64 = 0
    private var end: Int64 = 0
    private var format: StreamFormat?
    private var statedBytes: Int64?
    private var digest = SoundDigest()

    /// The maximum size of a format chunk.
    private static let longestFormat = 4096

    public init() {}

    /// Adds bytes of the file.
    /// - Returns: the range of the bytes that is sound. It is contiguous, because a file has only one chunk of sound.
    @discardableResult
    public mutating func update(_ bytes: [UInt8]) -> Range<Int> {
        // Safe: the bytes are read during the call.
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    @discardableResult
    public mutating func update(_ bytes: UnsafeRawBufferPointer) -> Range<Int> {
        var found = 0..<0
        var start = 0
        while start < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
            let count: Int
            switch place {
            case .head: count = unsafe gather(12, of: rest) { $0.beginFile($1) }
            case .chunk: count = position < end ? unsafe gather(8, of: rest) { $0.beginChunk($1) } : beBehind()
            case .format(let size):
                count = unsafe gather(size, of: rest) { sound, chunk in
                    sound.place = .chunk
                    sound.readFormat(chunk)
                }
            case .sound(let left):
                count = Int(min(left, Int64(rest.count)))
                unsafe digest.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                found = start..<start + count
                position += Int64(count)
                place = left > Int64(count) ? .sound(left - Int64(count)) : Self.behind(statedBytes ?? 0)
            case .other(let left):
                count = Int(min(left, Int64(rest.count)))
                position += Int64(count)
                place = left > Int64(count) ? .other(left - Int64(count)) : .chunk
            case .behind, .damaged: return found
            }
            start += count
        }
        return found
    }

    /// The result. Valid after all bytes of the file were added.
    public var outcome: Outcome {
        if case .damaged(let problem) = place { return .damaged(problem) }
        if case .head = place {
            return .damaged(position == 0 && pending.isEmpty ? "it is empty" : "it ends within its header")
        }
        guard let format else { return .damaged("its header is damaged: it has no chunk 'fmt '") }
        guard let statedBytes else { return .damaged("its header is damaged: it has no chunk 'data'") }
        return .sound(format, stated: statedBytes, found: digest.byteCount, sha256: digest.hexadecimal)
    }

    /// The state after a chunk, which has a padding byte if its size is odd.
    private static func behind(_ size: Int64) -> Place { size % 2 == 1 ? .other(1) : .chunk }

    private mutating func beBehind() -> Int {
        place = .behind
        return 0
    }

    /// Collects `size` bytes, and then uses them.
    /// - Returns: the number of bytes taken.
    private mutating func gather(
        _ size: Int, of bytes: UnsafeRawBufferPointer, _ use: (inout WAVSound, [UInt8]) -> Void
    ) -> Int {
        let count = min(size - pending.count, bytes.count)
        unsafe pending += bytes[..<count]
        position += Int64(count)
        guard pending.count == size else { return count }
        let whole = pending
        pending = []
        use(&self, whole)
        return count
    }

    private mutating func beginFile(_ head: [UInt8]) {
        guard head.starts(with: Array("RIFF".utf8)), head[8...].elementsEqual("WAVE".utf8) else {
            place = .damaged("its header is damaged: it does not begin as WAV or FLAC")
            return
        }
        end = 8 + Int64(head.littleEndian(4, 4))
        place = .chunk
    }

    private mutating func beginChunk(_ head: [UInt8]) {
        let size = Int64(head.littleEndian(4, 4))
        switch String(decoding: head[..<4], as: UTF8.self) {
        case "fmt " where format == nil:
            guard (16...Int64(Self.longestFormat)).contains(size) else {
                place = .damaged("its header is damaged: its chunk 'fmt ' has \(size) bytes")
                return
            }
            place = .format(Int(size + size % 2))
        case "data" where statedBytes == nil:
            guard position + size <= end else {
                place = .damaged("its header is damaged: its sizes contradict each other")
                return
            }
            statedBytes = size
            place = size == 0 ? .chunk : .sound(size)
        case _: place = size == 0 ? .chunk : .other(size + size % 2)
        }
    }

    private mutating func readFormat(_ chunk: [UInt8]) {
        let isExtensible = chunk.littleEndian(0, 2) == 0xfffe
        let tag = isExtensible && chunk.count >= 40 ? chunk.littleEndian(24, 2) : chunk.littleEndian(0, 2)
        let sample: SampleFormat? =
            switch (tag, chunk.littleEndian(14, 2)) {
            case (1, 16): .s16
            case (1, 24): .s24Packed
            case (1, 32): .s32
            case (3, 32): .float
            default: nil
            }
        guard let sample else {
            place = .damaged("its header is damaged: it has samples of a kind that no recorder stores")
            return
        }
        let found = StreamFormat(
            rateHz: chunk.littleEndian(4, 4), channels: chunk.littleEndian(2, 2), sampleFormat: sample)
        guard found.canBeStored, chunk.littleEndian(12, 2) == found.bytesPerFrame else {
            place = .damaged("its header is damaged: its chunk 'fmt ' contradicts itself")
            return
        }
        format = found
    }
}

extension [UInt8] {
    /// Reads a little-endian number of `count` bytes at `offset`.
    fileprivate func littleEndian(_ offset: Int, _ count: Int) -> Int {
        self[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

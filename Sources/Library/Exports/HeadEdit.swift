import Files
import Takes

/// Bytes in a file's head that differ in a copy. The copy has the same length.
public struct HeadEdit: Hashable, Sendable {
    public let offset: Int64
    /// The bytes in the copy.
    public let bytes: [UInt8]

    /// The offsets in a `bext` chunk, relative to its content (EBU Tech 3285, version 1).
    private enum Broadcast {
        static let description = 0..<256
        static let originator = 256..<288
        static let reference = 288..<320
        static let date = 320
        static let dateEnd = 346
        static let byteCount = 602
    }

    /// The metadata for a copy of a part of a take.
    struct Origin {
        /// The stem on the kit.
        var stem: String
        /// The stem of the copies.
        var copyStem: String
        /// The time at which the part's first frame was sampled.
        var started: WallTime
        var rateHz: Int
    }

    /// Applies the edit to a stretch of the file.
    /// - Parameter place: the offset of the stretch in the file.
    public func apply(to stretch: inout [UInt8], at place: Int64) {
        let changed =
            max(offset, place)..<max(max(offset, place), min(offset + Int64(bytes.count), place + Int64(stretch.count)))
        guard !changed.isEmpty else { return }
        let source = Int(changed.lowerBound - offset)..<Int(changed.upperBound - offset)
        stretch.replaceSubrange(Int(changed.lowerBound - place)..<Int(changed.upperBound - place), with: bytes[source])
    }

    /// Sets the date and the take's stem in `bext` of a WAV file, or in the kept chunk and the comments of a FLAC file.
    /// Nil if the file was not written by a recorder, or a FLAC file does not have enough padding.
    init?(dating file: OpenFile, _ origin: Origin, files: FileSystem) throws(FileError) {
        let head = try files.read(file, at: 0, count: 20 + Broadcast.byteCount)
        if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WAVEbext".utf8)) {
            guard let dated = Self.dated(Array(head.dropFirst(20)), origin) else { return nil }
            self.init(offset: 20, bytes: Array(dated[..<Broadcast.dateEnd]))
        } else if head.starts(with: Array("fLaC".utf8)) {
            guard var blocks = try Self.blocks(of: file, files) else { return nil }
            let byteCount = blocks.map { $0.content.count }.reduce(0, +)
            Self.date(&blocks, origin)
            // The growth of the comments is taken from the padding.
            let growth = blocks.map { $0.content.count }.reduce(0, +) - byteCount
            guard let padding = blocks.firstIndex(where: { $0.type & 0x7f == 1 && $0.content.count >= growth }) else {
                return nil
            }
            blocks[padding].content = [UInt8](repeating: 0, count: blocks[padding].content.count - growth)
            self.init(offset: 4, bytes: blocks.flatMap(\.bytes))
        } else {
            return nil
        }
    }

    private init(offset: Int64, bytes: [UInt8]) {
        self.offset = offset
        self.bytes = bytes
    }

    /// A `bext` chunk's content with another date and stem, or nil if a recorder did not write it.
    private static func dated(_ content: [UInt8], _ origin: Origin) -> [UInt8]? {
        guard content.count >= Broadcast.byteCount,
            content[Broadcast.originator].prefix(while: { $0 != 0 }).elementsEqual("Fieldfare".utf8)
        else { return nil }
        var bytes = content
        let date =
            Array(origin.started.date.utf8) + Array(origin.started.timeOfDay.utf8)
            + (0..<8).map { UInt8(truncatingIfNeeded: origin.timeReference >> (8 * $0)) }
        bytes.replaceSubrange(Broadcast.date..<Broadcast.dateEnd, with: date)
        for field in [Broadcast.description, Broadcast.reference] {
            let text = String(decoding: content[field].prefix { $0 != 0 }, as: UTF8.self)
            let copied = Array(origin.renamed(text).utf8.prefix(field.count))
            bytes.replaceSubrange(field, with: copied + [UInt8](repeating: 0, count: field.count - copied.count))
        }
        return bytes
    }
}

extension HeadEdit.Origin {
    /// Frames since midnight.
    fileprivate var timeReference: Int64 { started.microsecondsOfDay * Int64(rateHz) / 1_000_000 }

    /// Replaces the kit's stem in a text with that of the copies.
    fileprivate func renamed(_ text: String) -> String {
        // `OriginatorReference` contains only the end of a long stem.
        if text == stem.suffix(32) { return String(copyStem.suffix(32)) }
        return text.replacing(stem, with: copyStem)
    }
}

// MARK: - FLAC

extension HeadEdit {
    /// A metadata block (RFC 9639, section 8).
    private struct Block {
        /// The highest bit marks the last block.
        var type: UInt8
        var content: [UInt8]

        var bytes: [UInt8] {
            [type] + (0..<3).map { UInt8(truncatingIfNeeded: content.count >> (16 - 8 * $0)) } + content
        }
    }

    /// An upper limit for all metadata.
    private static let mostBytes: Int64 = 64 << 20

    private static func blocks(of file: OpenFile, _ files: FileSystem) throws(FileError) -> [Block]? {
        var blocks: [Block] = []
        var offset: Int64 = 4
        repeat {
            let head = try files.read(file, at: offset, count: 4)
            guard head.count == 4, offset < mostBytes else { return nil }
            let size = head[1...].reduce(0) { $0 << 8 | Int($1) }
            let content = try files.read(file, at: offset + 4, count: size)
            guard content.count == size else { return nil }
            blocks.append(Block(type: head[0], content: content))
            offset += 4 + Int64(size)
        } while blocks[blocks.count - 1].type & 0x80 == 0
        return blocks
    }

    private static func date(_ blocks: inout [Block], _ origin: Origin) {
        let kept = Array("riffbext".utf8)
        for index in blocks.indices {
            switch blocks[index].type & 0x7f {
            case 2 where blocks[index].content.starts(with: kept):
                let content = Array(blocks[index].content.dropFirst(12))
                if let dated = dated(content, origin) {
                    blocks[index].content.replaceSubrange(12..., with: dated)
                }
            case 4: blocks[index].content = comments(blocks[index].content, origin) ?? blocks[index].content
            default: break
            }
        }
    }

    /// The VORBIS_COMMENT block (section 8.6) with another date and stem, or nil if it is incomplete.
    private static func comments(_ content: [UInt8], _ origin: Origin) -> [UInt8]? {
        var place = 0
        func number() -> Int? {
            guard place + 4 <= content.count else { return nil }
            defer { place += 4 }
            return content[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard let vendor = number(), place + vendor <= content.count else { return nil }
        let head = content[..<(4 + vendor)]
        place += vendor
        guard let count = number() else { return nil }
        let started = origin.started
        let texts = [
            ("DATE", started.date), ("CREATION_TIME", started.iso8601), ("ORIGINATION_DATE", started.date),
            ("ORIGINATION_TIME", started.timeOfDay), ("TIME_REFERENCE", String(origin.timeReference)),
        ]
        var entries: [[UInt8]] = []
        for _ in 0..<count {
            guard let length = number(), place + length <= content.count else { return nil }
            var entry = Array(content[place..<place + length])
            place += length
            let text = String(decoding: entry, as: UTF8.self)
            if let mark = text.firstIndex(of: "="),
                ["TITLE", "DESCRIPTION", "ORIGINATOR_REFERENCE", "TAKE"].contains(text[..<mark])
            {
                entry = Array("\(text[...mark])\(origin.renamed(String(text[mark...].dropFirst())))".utf8)
            }
            if !texts.contains(where: { entry.starts(with: Array("\($0.0)=".utf8)) }) { entries.append(entry) }
        }
        entries += texts.map { Array("\($0.0)=\($0.1)".utf8) }
        func bytes(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        return Array(head) + bytes(entries.count) + entries.flatMap { bytes($0.count) + $0 }
    }
}

public import Files
import TakeFiles
public import Takes

/// Files as one ZIP archive without compression (APPNOTE 6.3.10 of PKWARE, with ZIP64). Its length is known before the
/// first byte.
///
/// Length and checksum precede each file: many streaming readers refuse an uncompressed file that is followed by a data
/// descriptor. So a file with an unknown checksum is read twice, the first time just before it is sent, and must not
/// change in between.
public struct ZipArchive: ExportStream {
    public struct Entry: Sendable {
        public enum Content: Sendable {
            case file(String, HeadEdit? = nil)
            case bytes([UInt8], modified: WallTime)
        }

        public var content: Content
        /// The name in the archive, with `/` between folders.
        public var name: String

        /// - Parameter edit: the difference between the file and its copy in the archive.
        public init(path: String, edit: HeadEdit? = nil, name: String) {
            content = .file(path, edit)
            self.name = name
        }

        public init(bytes: [UInt8], modified: WallTime, name: String) {
            content = .bytes(bytes, modified: modified)
            self.name = name
        }
    }

    /// Never nil.
    public let byteCount: Int64?
    private let members: [Member]
    private let files: FileSystem
    private let checksums: ZipChecksums
    private var stage = Stage.head(0)
    private var position: Int64 = 0
    private var checks: [(crc: UInt32, offset: Int64)] = []

    private enum Stage {
        case head(Int)
        /// A file is read for its checksum.
        case check(Int, OpenFile, FileAttributes, ZipChecksums.Reading)
        /// A file is read again and sent.
        case content(Int, OpenFile, at: Int64, CRC32)
        case bytes(Int, [UInt8], at: Int)
        case directory(Int, start: Int64)
        case done
    }

    private struct Member: Sendable {
        var content: Entry.Content
        var name: [UInt8]
        var size: Int64
        /// MS-DOS format, in UTC, with a resolution of two seconds.
        var time: UInt16
        var date: UInt16

        /// The key of the content's checksum: a file, or an edited copy of it.
        var key: String {
            guard case .file(let path, let edit) = content else { return "" }
            return edit.map { "\(path)/\($0.hashValue)" } ?? path
        }

        /// Whether the length is in a ZIP64 field.
        var isLarge: Bool
        var headByteCount: Int64 { 30 + Int64(name.count) + (isLarge ? 20 : 0) }

        func directoryByteCount(offset: Int64, limit: Int64) -> Int64 {
            let extra = (isLarge ? 16 : 0) + (offset >= limit ? 8 : 0)
            return 46 + Int64(name.count) + (extra > 0 ? Int64(4 + extra) : 0)
        }
    }

    /// A length or offset that does not fit into 32 bits is in a ZIP64 field.
    private static let usualLimit = Int64(UInt32.max)
    private let limit: Int64
    private static let pieceByteCount = 1 << 14
    /// These bytes are not sent, so a larger piece costs no more memory.
    private static let checkedByteCount = 1 << 16

    /// An archive of files with their present lengths. Symbolic links are not followed.
    /// - Parameter checksums: the checksums of earlier archives of the same files.
    /// - Throws: `FileError`.
    public init(
        _ entries: [Entry], checksums: ZipChecksums = ZipChecksums(), files: FileSystem = FileSystem()
    ) throws {
        try self.init(entries, checksums: checksums, files: files, limit: Self.usualLimit)
    }

    /// - Parameter limit: lengths and offsets from this value on are in ZIP64 fields.
    init(
        _ entries: [Entry], checksums: ZipChecksums = ZipChecksums(), files: FileSystem, limit: Int64
    ) throws {
        self.files = files
        self.limit = limit
        self.checksums = checksums
        members = try entries.map { entry in
            let size: Int64
            let modified: WallTime
            switch entry.content {
            case .file(let path, _):
                let attributes = try files.takeFileAttributes(path)
                (size, modified) = (attributes.byteCount, WallTime(microseconds: attributes.modifiedNs / 1000))
            case .bytes(let bytes, let time): (size, modified) = (Int64(bytes.count), time)
            }
            let (time, date) = Self.stamp(modified)
            return Member(
                content: entry.content, name: Array(entry.name.utf8), size: size, time: time, date: date,
                isLarge: size >= limit)
        }
        var offset: Int64 = 0
        var directory: Int64 = 0
        for member in members {
            directory += member.directoryByteCount(offset: offset, limit: limit)
            offset += member.headByteCount + member.size
        }
        byteCount =
            offset + directory + Self.endByteCount(count: members.count, start: offset, size: directory, limit: limit)
    }

    public mutating func next() throws -> [UInt8]? {
        let piece = try make()
        position += Int64(piece?.count ?? 0)
        return piece
    }

    private mutating func make() throws -> [UInt8]? {
        switch stage {
        case .head(let index):
            guard index < members.count else {
                stage = .directory(0, start: position)
                return []
            }
            return try begin(index, members[index])
        case .check(let index, let file, let attributes, let reading):
            let member = members[index]
            let crc = try reading.goOn { (place, check) throws -> UInt32? in
                guard place < member.size else { return check.value }
                let piece = try self.piece(of: file, member, at: place, count: Self.checkedByteCount)
                check.update(piece)
                place += Int64(piece.count)
                return nil
            }
            guard let crc else { return [] }
            if try files.attributes(of: file) == attributes {
                checksums.keep(crc, of: member.key, attributes)
            } else {
                checksums.forget(member.key)
            }
            return start(index, file, crc: crc)
        case .content(let index, let file, let place, var check):
            let member = members[index]
            guard place < member.size else {
                stage = .head(index + 1)
                return []
            }
            let piece = try self.piece(of: file, member, at: place, count: Self.pieceByteCount)
            check.update(piece)
            let next = place + Int64(piece.count)
            // If the content has changed, its last piece is never sent.
            guard next < member.size || check.value == checks[index].crc else {
                checksums.forget(member.key)
                throw Self.changed(file)
            }
            stage = .content(index, file, at: next, check)
            return piece
        case .bytes(let index, let bytes, let place):
            let end = min(bytes.count, place + Self.pieceByteCount)
            stage = end < bytes.count ? .bytes(index, bytes, at: end) : .head(index + 1)
            return Array(bytes[place..<end])
        case .directory(let index, let start):
            if index < members.count {
                stage = .directory(index + 1, start: start)
                return entry(members[index], crc: checks[index].crc, offset: checks[index].offset)
            }
            stage = .done
            return Self.end(count: members.count, start: start, size: position - start, limit: limit)
        case .done: return nil
        }
    }

    private mutating func begin(_ index: Int, _ member: Member) throws -> [UInt8] {
        switch member.content {
        case .bytes(let bytes, _):
            var check = CRC32(.ieee)
            check.update(bytes)
            checks.append((check.value, position))
            stage = .bytes(index, bytes, at: 0)
            return Self.head(member, crc: check.value)
        case .file(let path, _):
            let file = try files.openTakeFile(path)
            // The file may have been replaced since its length was announced.
            guard try files.length(file) == member.size else { throw Self.changed(file) }
            let attributes = try files.attributes(of: file)
            if let crc = checksums.value(of: member.key, attributes) { return start(index, file, crc: crc) }
            stage = .check(index, file, attributes, checksums.reading(of: member.key, attributes))
            return []
        }
    }

    /// The local header of the next file.
    private mutating func start(_ index: Int, _ file: OpenFile, crc: UInt32) -> [UInt8] {
        stage = .content(index, file, at: 0, CRC32(.ieee))
        checks.append((crc, position))
        return Self.head(members[index], crc: crc)
    }

    private func piece(of file: OpenFile, _ member: Member, at place: Int64, count: Int) throws -> [UInt8] {
        let count = Int(min(Int64(count), member.size - place))
        var piece = try files.read(file, at: place, count: count)
        if case .file(_, let edit?) = member.content { edit.apply(to: &piece, at: place) }
        guard piece.count == count else { throw Self.changed(file) }
        return piece
    }

    private static func changed(_ file: OpenFile) -> ExportError {
        ExportError(.take, "archive: \(file.path) was changed while it was sent: download it again")
    }

    // MARK: - Records

    /// The names are in UTF-8.
    private static let flags: UInt16 = 1 << 11

    private static func head(_ member: Member, crc: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0403_4b50))
        bytes.append(littleEndian: UInt16(member.isLarge ? 45 : 20))
        bytes.append(littleEndian: flags)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: member.time)
        bytes.append(littleEndian: member.date)
        bytes.append(littleEndian: crc)
        let size: UInt32 = member.isLarge ? .max : UInt32(member.size)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: UInt16(member.name.count))
        bytes.append(littleEndian: UInt16(member.isLarge ? 20 : 0))
        bytes += member.name
        if member.isLarge {
            bytes.append(littleEndian: UInt16(1))
            bytes.append(littleEndian: UInt16(16))
            bytes.append(littleEndian: UInt64(member.size))
            bytes.append(littleEndian: UInt64(member.size))
        }
        return bytes
    }

    private func entry(_ member: Member, crc: UInt32, offset: Int64) -> [UInt8] {
        var extra: [UInt8] = []
        if member.isLarge {
            extra.append(littleEndian: UInt64(member.size))
            extra.append(littleEndian: UInt64(member.size))
        }
        if offset >= limit { extra.append(littleEndian: UInt64(offset)) }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0201_4b50))
        // Made on Unix, so that the permissions below apply.
        bytes.append(littleEndian: UInt16(3 << 8 | 45))
        bytes.append(littleEndian: UInt16(extra.isEmpty ? 20 : 45))
        bytes.append(littleEndian: Self.flags)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: member.time)
        bytes.append(littleEndian: member.date)
        bytes.append(littleEndian: crc)
        let size: UInt32 = member.isLarge ? .max : UInt32(member.size)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: UInt16(member.name.count))
        bytes.append(littleEndian: UInt16(extra.isEmpty ? 0 : extra.count + 4))
        // No comment, a single disk, binary content.
        bytes += [0, 0, 0, 0, 0, 0]
        bytes.append(littleEndian: UInt32(0o100644) << 16)
        bytes.append(littleEndian: offset >= limit ? .max : UInt32(offset))
        bytes += member.name
        if !extra.isEmpty {
            bytes.append(littleEndian: UInt16(1))
            bytes.append(littleEndian: UInt16(extra.count))
            bytes += extra
        }
        return bytes
    }

    private static func isLarge(count: Int, start: Int64, size: Int64, limit: Int64) -> Bool {
        count >= Int(UInt16.max) || start >= limit || size >= limit
    }

    private static func endByteCount(count: Int, start: Int64, size: Int64, limit: Int64) -> Int64 {
        22 + (isLarge(count: count, start: start, size: size, limit: limit) ? 56 + 20 : 0)
    }

    private static func end(count: Int, start: Int64, size: Int64, limit: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        if isLarge(count: count, start: start, size: size, limit: limit) {
            bytes.append(littleEndian: UInt32(0x0606_4b50))
            bytes.append(littleEndian: UInt64(44))
            bytes.append(littleEndian: UInt16(3 << 8 | 45))
            bytes.append(littleEndian: UInt16(45))
            bytes.append(littleEndian: UInt64(0))
            bytes.append(littleEndian: UInt64(count))
            bytes.append(littleEndian: UInt64(count))
            bytes.append(littleEndian: UInt64(size))
            bytes.append(littleEndian: UInt64(start))
            bytes.append(littleEndian: UInt32(0x0706_4b50))
            bytes.append(littleEndian: UInt32(0))
            bytes.append(littleEndian: UInt64(start + size))
            bytes.append(littleEndian: UInt32(1))
        }
        bytes.append(littleEndian: UInt32(0x0605_4b50))
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: UInt16(clamping: count))
        bytes.append(littleEndian: UInt16(clamping: count))
        bytes.append(littleEndian: size >= limit ? .max : UInt32(size))
        bytes.append(littleEndian: start >= limit ? .max : UInt32(start))
        bytes.append(littleEndian: UInt16(0))
        return bytes
    }

    private static func stamp(_ time: WallTime) -> (time: UInt16, date: UInt16) {
        let date = time.date.split(separator: "-").compactMap { UInt16($0) }
        let clock = time.timeOfDay.split(separator: ":").compactMap { UInt16($0) }
        // Dates in this format begin in 1980.
        guard date.count == 3, clock.count == 3, (1980...2107).contains(date[0]) else { return (0, 1 << 5 | 1) }
        return (clock[0] << 11 | clock[1] << 5 | clock[2] / 2, (date[0] - 1980) << 9 | date[1] << 5 | date[2])
    }
}

public import TakeFiles
import Takes

/// Files as one ZIP archive, stored as they are (APPNOTE 6.3.10 of PKWARE, with ZIP64): its length is known before the first byte.
///
/// Checksums follow each file, in data descriptors, so that nothing is read twice.
public struct ZipArchive: ExportStream {
    /// A file of the archive.
    public struct Entry: Sendable {
        /// Where it is.
        public var path: String
        /// Its name in the archive, with `/` between folders.
        public var name: String

        /// A file.
        public init(path: String, name: String) {
            self.path = path
            self.name = name
        }
    }

    /// Known before the first byte.
    public let byteCount: Int64?
    private let members: [Member]
    private let files: FileSystem
    private var stage = Stage.head(0)
    private var position: Int64 = 0
    private var checks: [(crc: UInt32, offset: Int64)] = []
    private var check = CRC32(.ieee)

    private enum Stage {
        case head(Int)
        case content(Int, OpenFile, at: Int64)
        case directory(Int, start: Int64)
        case done
    }

    private struct Member: Sendable {
        var path: String
        var name: [UInt8]
        var size: Int64
        /// As MS-DOS has it: UTC, two seconds a step.
        var time: UInt16
        var date: UInt16

        /// Whether its length stands in a ZIP64 field.
        var isLarge: Bool
        var headByteCount: Int64 { 30 + Int64(name.count) + (isLarge ? 20 : 0) }
        var descriptorByteCount: Int64 { isLarge ? 24 : 16 }

        func directoryByteCount(offset: Int64, limit: Int64) -> Int64 {
            let extra = (isLarge ? 16 : 0) + (offset >= limit ? 8 : 0)
            return 46 + Int64(name.count) + (extra > 0 ? Int64(4 + extra) : 0)
        }
    }

    /// What does not fit into 32 bits stands in a ZIP64 field.
    private static let usualLimit = Int64(UInt32.max)
    private let limit: Int64
    private static let pieceByteCount: Int64 = 1 << 14

    /// An archive of files, as long as each is now. No link is followed.
    /// - Throws: `FileError`.
    public init(_ entries: [Entry], files: FileSystem = FileSystem()) throws {
        try self.init(entries, files: files, limit: Self.usualLimit)
    }

    /// - Parameter limit: lengths and places from here on stand in ZIP64 fields.
    init(_ entries: [Entry], files: FileSystem, limit: Int64) throws {
        self.files = files
        self.limit = limit
        members = try entries.map { entry in
            let file = try files.openToRead(entry.path, followsLink: false)
            let (time, date) = Self.stamp(WallTime(microseconds: try files.attributes(entry.path).modifiedNs / 1000))
            let size = try files.length(file)
            return Member(
                path: entry.path, name: Array(entry.name.utf8), size: size, time: time, date: date,
                isLarge: size >= limit)
        }
        var offset: Int64 = 0
        var directory: Int64 = 0
        for member in members {
            directory += member.directoryByteCount(offset: offset, limit: limit)
            offset += member.headByteCount + member.size + member.descriptorByteCount
        }
        byteCount =
            offset + directory + Self.endByteCount(count: members.count, start: offset, size: directory, limit: limit)
    }

    /// Makes the next piece.
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
            let member = members[index]
            let file = try files.openToRead(member.path, followsLink: false)
            checks.append((0, position))
            check = CRC32(.ieee)
            stage = .content(index, file, at: 0)
            return Self.head(member)
        case .content(let index, let file, let place):
            let member = members[index]
            guard place < member.size else {
                checks[index].crc = check.value
                stage = .head(index + 1)
                return Self.descriptor(member, crc: check.value)
            }
            let count = Int(min(Self.pieceByteCount, member.size - place))
            let piece = try files.read(file, at: place, count: count)
            guard piece.count == count else {
                throw ExportError(.take, "archive: \(member.path) was changed while it was sent: download it again")
            }
            check.update(piece)
            stage = .content(index, file, at: place + Int64(count))
            return piece
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

    // MARK: - Records

    /// UTF-8 names, and sizes and checksum behind the content.
    private static let flags: UInt16 = 1 << 11 | 1 << 3

    private static func head(_ member: Member) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0403_4b50))
        bytes.append(littleEndian: UInt16(member.isLarge ? 45 : 20))
        bytes.append(littleEndian: flags)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: member.time)
        bytes.append(littleEndian: member.date)
        bytes.append(littleEndian: UInt32(0))
        let size: UInt32 = member.isLarge ? .max : 0
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: UInt16(member.name.count))
        bytes.append(littleEndian: UInt16(member.isLarge ? 20 : 0))
        bytes += member.name
        if member.isLarge {
            bytes.append(littleEndian: UInt16(1))
            bytes.append(littleEndian: UInt16(16))
            bytes.append(littleEndian: UInt64(0))
            bytes.append(littleEndian: UInt64(0))
        }
        return bytes
    }

    private static func descriptor(_ member: Member, crc: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0807_4b50))
        bytes.append(littleEndian: crc)
        for _ in 0..<2 {
            if member.isLarge {
                bytes.append(littleEndian: UInt64(member.size))
            } else {
                bytes.append(littleEndian: UInt32(member.size))
            }
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
        // Made on Unix, so that the rights below count.
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
        // No comment, one disk, binary.
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
        // The format begins in 1980.
        guard date.count == 3, clock.count == 3, (1980...2107).contains(date[0]) else { return (0, 1 << 5 | 1) }
        return (clock[0] << 11 | clock[1] << 5 | clock[2] / 2, (date[0] - 1980) << 9 | date[1] << 5 | date[2])
    }
}

/// The requests of version 3 of SFTP (draft-ietf-secsh-filexfer-02, and the file `PROTOCOL` of OpenSSH).
enum SFTPRequest {
    case open(String, SFTPOpening)
    case close(SFTPHandle)
    case read(SFTPHandle, at: Int64, count: Int)
    case write(SFTPHandle, at: Int64, [UInt8])
    case attributes(String)
    case openAttributes(SFTPHandle)
    /// Sets the modification and access times, in seconds since 1970.
    case setTime(String, UInt32)
    case openFolder(String)
    case readFolder(SFTPHandle)
    case remove(String)
    case makeFolder(String)
    /// On most servers, this fails if the new name exists.
    case rename(String, String)
    /// Overwrites the new name: `posix-rename@openssh.com`.
    case replace(String, String)
    /// Writes a file through to the disk: `fsync@openssh.com`.
    case sync(SFTPHandle)
    /// `statvfs@openssh.com`.
    case space(String)

    /// The first packet of a client: version 3.
    static let greeting: [UInt8] = [0, 0, 0, 5, 1, 0, 0, 0, 3]

    /// The packet, including its length.
    func packet(id: UInt32) -> [UInt8] {
        var packet = SFTPPacket(type, id: id)
        switch self {
        case .open(let path, let opening):
            packet.add(path)
            packet.add(opening.rawValue)
            packet.add(UInt32(0))
        case .close(let handle), .readFolder(let handle), .openAttributes(let handle): packet.add(handle.bytes)
        case .read(let handle, let offset, let count):
            packet.add(handle.bytes)
            packet.add(UInt64(offset))
            packet.add(UInt32(count))
        case .write(let handle, let offset, let bytes):
            packet.add(handle.bytes)
            packet.add(UInt64(offset))
            packet.add(bytes)
        case .attributes(let path), .openFolder(let path), .remove(let path): packet.add(path)
        case .makeFolder(let path):
            packet.add(path)
            packet.add(UInt32(0))
        case .setTime(let path, let seconds):
            packet.add(path)
            // SSH_FILEXFER_ATTR_ACMODTIME
            packet.add(UInt32(8))
            packet.add(seconds)
            packet.add(seconds)
        case .rename(let from, let to):
            packet.add(from)
            packet.add(to)
        case .replace(let from, let to):
            packet.add(SFTPExtension.replace.rawValue)
            packet.add(from)
            packet.add(to)
        case .sync(let handle):
            packet.add(SFTPExtension.sync.rawValue)
            packet.add(handle.bytes)
        case .space(let path):
            packet.add(SFTPExtension.space.rawValue)
            packet.add(path)
        }
        return packet.finished
    }

    private var type: UInt8 {
        switch self {
        case .open: 3
        case .close: 4
        case .setTime: 9
        case .read: 5
        case .write: 6
        case .openAttributes: 8
        case .openFolder: 11
        case .readFolder: 12
        case .remove: 13
        case .makeFolder: 14
        case .attributes: 17
        case .rename: 18
        case .replace, .sync, .space: 200
        }
    }

    /// The most file bytes that the answer may have.
    var mostData: Int { if case .read(_, _, let count) = self { count } else { 0 } }
}

/// The `pflags` of an open request.
struct SFTPOpening: OptionSet {
    let rawValue: UInt32
    static let read = SFTPOpening(rawValue: 1)
    static let write = SFTPOpening(rawValue: 2)
    static let create = SFTPOpening(rawValue: 8)
    static let empty = SFTPOpening(rawValue: 16)
    /// Fails if the file exists.
    static let new = SFTPOpening(rawValue: 32)
}

/// The server's identifier of an open file.
struct SFTPHandle: Hashable, Sendable {
    let bytes: [UInt8]
}

/// Extensions of the protocol, with their versions.
enum SFTPExtension: String, CaseIterable {
    case replace = "posix-rename@openssh.com"
    case sync = "fsync@openssh.com"
    case space = "statvfs@openssh.com"

    fileprivate var version: String { self == .space ? "2" : "1" }
}

enum SFTPReply: Sendable, Equatable {
    case version(UInt32, Set<SFTPExtension>)
    case status(UInt32)
    case handle(SFTPHandle)
    case data([UInt8])
    case names([SFTPEntry])
    case attributes(SFTPAttributes)
    case space(SFTPSpace)

    /// Reads a packet without its length.
    /// - Returns: the answer and the number of its request; the number is nil for `version`.
    /// - Throws: `SFTPGarbled` if the packet is malformed.
    static func read(_ packet: [UInt8]) throws(SFTPGarbled) -> (id: UInt32?, reply: SFTPReply) {
        var reader = SFTPReader(packet)
        let type = try reader.byte()
        if type == 2 {
            let version = try reader.number()
            var extensions: Set<SFTPExtension> = []
            while !reader.isAtEnd {
                let (name, version) = (try reader.text(), try reader.text())
                if let known = name.flatMap(SFTPExtension.init), version == known.version { extensions.insert(known) }
            }
            return (nil, .version(version, extensions))
        }
        let id = try reader.number()
        switch type {
        // The text after the code is ignored: it adds nothing to the code and may be anything.
        case 101: return (id, .status(try reader.number()))
        case 102:
            let handle = try reader.bytes()
            guard handle.count <= 256 else { throw SFTPGarbled("a handle of \(handle.count) bytes") }
            return (id, .handle(SFTPHandle(bytes: handle)))
        case 103: return (id, .data(try reader.bytes()))
        case 104:
            var names: [SFTPEntry] = []
            for _ in 0..<(try reader.number()) {
                let name = try reader.text()
                _ = try reader.bytes()
                let attributes = try reader.attributes()
                // A name that is not UTF-8 is not a file of a take.
                if let name { names.append(SFTPEntry(name: name, attributes: attributes)) }
            }
            return (id, .names(names))
        case 105: return (id, .attributes(try reader.attributes()))
        // Only the request for space has such an answer.
        case 201: return (id, .space(try reader.space()))
        default: throw SFTPGarbled("a packet of type \(type)")
        }
    }
}

/// The status codes with a meaning beyond a general failure.
enum SFTPStatus {
    static let done: UInt32 = 0
    static let end: UInt32 = 1
    static let missing: UInt32 = 2
    static let denied: UInt32 = 3
    static let failure: UInt32 = 4
    static let unsupported: UInt32 = 8
    /// Defined in later versions; some servers send it in version 3.
    static let exists: UInt32 = 11
    /// As `exists`.
    static let full: UInt32 = 14
    /// As `exists`.
    static let overQuota: UInt32 = 15
}

struct SFTPEntry: Hashable, Sendable {
    var name: String
    var attributes: SFTPAttributes
}

struct SFTPAttributes: Hashable, Sendable {
    /// Nil if the server does not say.
    var byteCount: Int64?
    /// `st_mode` of stat(2), or nil if the server does not say.
    var mode: UInt32?

    var isFolder: Bool { mode.map { $0 & 0o170000 == 0o040000 } ?? false }
    /// True also if the server does not say.
    var isFile: Bool { mode.map { $0 & 0o170000 == 0o100000 } ?? true }
}

struct SFTPSpace: Hashable, Sendable {
    /// For this user.
    var freeBytes: Int64
    var hasFreeFiles: Bool
    var isReadOnly: Bool
}

/// The server sent data that is not SFTP.
struct SFTPGarbled: Error {
    let found: String

    init(_ found: String) { self.found = found }
}

/// Splits the received bytes into packets. It holds at most one packet and the last added bytes.
struct SFTPPackets {
    private var bytes: [UInt8] = []
    private var start = 0

    /// OpenSSH sends no longer packets (`SFTP_MAX_MSG_LENGTH`).
    private static let longest = 256 << 10

    mutating func add(_ more: some Sequence<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        bytes.append(contentsOf: more)
    }

    /// The next packet without its length, or nil if it is incomplete.
    mutating func next() throws(SFTPGarbled) -> [UInt8]? {
        guard bytes.count - start >= 4 else { return nil }
        let head = bytes[start..<start + 4]
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...Self.longest).contains(count) else {
            // Four letters, read as a length, are more than a gigabyte.
            let text = bytes[start...].prefix(60).prefix { (32..<127).contains($0) }
            throw SFTPGarbled(
                text.count >= 4 ? "the text \"\(String(decoding: text, as: UTF8.self))\"" : "a packet of \(count) bytes"
            )
        }
        guard bytes.count - start >= 4 + count else { return nil }
        defer { start += 4 + count }
        return Array(bytes[start + 4..<start + 4 + count])
    }
}

private struct SFTPPacket {
    private var bytes: [UInt8]

    init(_ type: UInt8, id: UInt32) {
        bytes = [0, 0, 0, 0, type]
        add(id)
    }

    mutating func add(_ number: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    mutating func add(_ content: [UInt8]) {
        add(UInt32(content.count))
        bytes += content
    }

    var finished: [UInt8] {
        var packet = SFTPPacket(0, id: 0)
        packet.bytes = []
        packet.add(UInt32(bytes.count - 4))
        return packet.bytes + bytes.dropFirst(4)
    }
}

/// Reads the fields of a packet, and never beyond its end.
private struct SFTPReader {
    private var rest: ArraySlice<UInt8>

    init(_ packet: [UInt8]) { rest = packet[...] }

    var isAtEnd: Bool { rest.isEmpty }

    private mutating func take(_ count: Int) throws(SFTPGarbled) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw SFTPGarbled("a packet that ends early") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func byte() throws(SFTPGarbled) -> UInt8 { try take(1).first ?? 0 }

    mutating func number() throws(SFTPGarbled) -> UInt32 { try take(4).reduce(0) { $0 << 8 | UInt32($1) } }

    mutating func long() throws(SFTPGarbled) -> UInt64 { try take(8).reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func bytes() throws(SFTPGarbled) -> [UInt8] { Array(try take(Int(number()))) }

    /// Nil if the text is not UTF-8.
    mutating func text() throws(SFTPGarbled) -> String? { String(validating: try bytes(), as: UTF8.self) }

    mutating func attributes() throws(SFTPGarbled) -> SFTPAttributes {
        var attributes = SFTPAttributes()
        let flags = try number()
        if flags & 1 != 0 {
            guard let byteCount = Int64(exactly: try long()) else { throw SFTPGarbled("a file of 2^63 bytes or more") }
            attributes.byteCount = byteCount
        }
        if flags & 2 != 0 { _ = try long() }
        if flags & 4 != 0 { attributes.mode = try number() }
        if flags & 8 != 0 { _ = try long() }
        if flags & 0x8000_0000 != 0 {
            for _ in 0..<(try number()) { _ = (try bytes(), try bytes()) }
        }
        return attributes
    }

    mutating func space() throws(SFTPGarbled) -> SFTPSpace {
        var values: [UInt64] = []
        for _ in 0..<11 { values.append(try long()) }
        let (free, overflow) = values[1].multipliedReportingOverflow(by: values[4])
        return SFTPSpace(
            freeBytes: overflow ? .max : Int64(clamping: free),
            // A file system without an inode table reports 0 for both.
            hasFreeFiles: values[5] == 0 || values[7] > 0, isReadOnly: values[9] & 1 != 0)
    }
}

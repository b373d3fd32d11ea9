internal import CLinux
import CSndFile
public import Files
import Glibc
public import Takes

/// An open sound file, WAV or FLAC, read by libsndfile. It is closed when it goes out of scope.
@safe public struct SoundFileReader: ~Copyable {
    public let path: String
    /// The stored format. FLAC of up to 24 bits is reported as the smallest layout that holds it.
    public let format: StreamFormat
    /// The number of frames by the file's header.
    public let frames: Int64

    private let handle: OpaquePointer

    /// Opens a sound file (`sf_open_fd`).
    ///
    /// - Throws: `SoundFileError` if it cannot be opened, is not a sound file, or holds samples of a type that a
    ///   recorder does not store.
    public init(path: String) throws(SoundFileError) { try self.init(path: path, at: path) }

    /// Opens a file through its open descriptor: its path may lead to another file by now.
    public init(_ file: OpenFile) throws(SoundFileError) { try self.init(path: file.path, at: file.ownPath) }

    /// - Parameter place: the path to open; `path` is the name for messages.
    private init(path: String, at place: String) throws(SoundFileError) {
        let file = try Self.open(path, at: place)
        var info = SF_INFO()
        // The library closes the descriptor, with the handle or when it fails. Its reason for a failure (`sf_strerror` of
        // no handle) is not asked for: each opening of any thread replaces it.
        guard let handle = unsafe sf_open_fd(file, Int32(SFM_READ), &info, Int32(SF_TRUE)) else {
            throw SoundFileError(
                operation: "open", path: path, problem: "its header is damaged, or of a kind that is not read here")
        }
        guard let sample = Self.sampleFormat(info.format) else {
            unsafe sf_close(handle)
            throw SoundFileError(
                operation: "open", path: path,
                problem: "samples of kind 0x\(String(info.format, radix: 16)) are not read here")
        }
        self.path = path
        unsafe self.handle = handle
        format = StreamFormat(
            rateHz: Int(info.samplerate), channels: Int(info.channels), sampleFormat: sample)
        frames = Int64(info.frames)
    }

    deinit {
        unsafe sf_close(handle)
    }

    /// A descriptor of a file that is WAV or FLAC. The library would block on a pipe, and would try decoders that are not
    /// needed here, such as MP3.
    private static func open(_ path: String, at place: String) throws(SoundFileError) -> Int32 {
        let file = unsafe Glibc.open(place, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            throw SoundFileError(operation: "open", path: path, problem: "\(SystemError(errno))")
        }
        if let problem = problem(of: file) {
            close(file)
            throw SoundFileError(operation: "open", path: path, problem: problem)
        }
        return file
    }

    private static func problem(of file: Int32) -> String? {
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return "it is not a regular file"
        }
        var head = [UInt8](repeating: 0, count: 4)
        // Safe: the array has room for 4 bytes. The library begins at the descriptor's position, so it stays 0.
        guard unsafe pread(file, &head, 4, 0) == 4, [Array("RIFF".utf8), Array("fLaC".utf8)].contains(head) else {
            return "it is neither WAV nor FLAC"
        }
        return nil
    }

    /// Whether the last read found damage and continued, as after a FLAC block with a wrong checksum (`sf_error`).
    var hasFailed: Bool { unsafe sf_error(handle) != 0 }

    /// Reads frames as integers of full scale 2³¹, losslessly if the file holds integers (`sf_readf_int`).
    ///
    /// - Parameter samples: interleaved, whole frames.
    /// - Returns: the number of frames read; fewer only at the end.
    public mutating func read(into samples: inout MutableSpan<Int32>) throws(SoundFileError) -> Int {
        let count = samples.count / format.channels
        let handle = unsafe handle
        // Safe: count frames of format.channels samples fit into the span.
        let read = unsafe samples.withUnsafeMutableBufferPointer { buffer in
            count == 0 ? 0 : unsafe sf_readf_int(handle, buffer.baseAddress!, sf_count_t(count))
        }
        return try checked(Int(read), of: count)
    }

    /// Reads frames as floating-point numbers of full scale 1 (`sf_readf_double`).
    ///
    /// - Parameter samples: interleaved, whole frames.
    /// - Returns: the number of frames read; fewer only at the end.
    public mutating func read(into samples: inout MutableSpan<Double>) throws(SoundFileError) -> Int {
        let count = samples.count / format.channels
        let handle = unsafe handle
        // Safe: count frames of format.channels samples fit into the span.
        let read = unsafe samples.withUnsafeMutableBufferPointer { buffer in
            count == 0 ? 0 : unsafe sf_readf_double(handle, buffer.baseAddress!, sf_count_t(count))
        }
        return try checked(Int(read), of: count)
    }

    /// Sets the frame that is read next (`sf_seek`).
    public mutating func seek(toFrame frame: Int64) throws(SoundFileError) {
        // The library returns −1 for an error, and for a request of −1.
        guard frame >= 0, unsafe sf_seek(handle, sf_count_t(frame), Int32(SEEK_SET)) == sf_count_t(frame) else {
            throw SoundFileError(operation: "seek", path: path, problem: "no frame \(frame) of \(frames)")
        }
    }

    public func cues() -> [Cue] {
        var count: UInt32 = 0
        guard
            unsafe sf_command(
                handle, Int32(SFC_GET_CUE_COUNT), &count, Int32(MemoryLayout<UInt32>.size)) != 0, count > 0
        else { return [] }
        // SF_CUES is a count followed by that number of points. The library's own type is limited to 100.
        let start = MemoryLayout<SF_CUES>.offset(of: \.cue_points) ?? 4
        let size = start + Int(count) * MemoryLayout<SF_CUE_POINT>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: size, alignment: MemoryLayout<SF_CUES>.alignment)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        guard unsafe sf_command(handle, Int32(SFC_GET_CUE), memory, Int32(size)) != 0 else { return [] }
        return (0..<Int(count)).map { index in
            // Safe: the memory holds count points after start.
            var point = unsafe memory.load(
                fromByteOffset: start + index * MemoryLayout<SF_CUE_POINT>.stride, as: SF_CUE_POINT.self)
            return Cue(frame: Int64(point.sample_offset), label: Self.string(&point.name))
        }
    }

    public struct Cue: Hashable, Sendable {
        public var frame: Int64
        /// Empty if the cue point has no label.
        public var label: String

        public init(frame: Int64, label: String) {
            self.frame = frame
            self.label = label
        }
    }

    /// The file's `bext` chunk, or nil if the chunk is missing or its date is damaged.
    public func origin() -> BroadcastOrigin? {
        // SF_BROADCAST_INFO with room for more than its 256 bytes of coding history.
        let size = MemoryLayout<SF_BROADCAST_INFO>.size + 4096
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: size, alignment: MemoryLayout<SF_BROADCAST_INFO>.alignment)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        guard unsafe sf_command(handle, Int32(SFC_GET_BROADCAST_INFO), memory, Int32(size)) != 0 else { return nil }
        var info = unsafe memory.load(as: SF_BROADCAST_INFO.self)
        let (date, time) = (Self.string(&info.origination_date), Self.string(&info.origination_time))
        let started = WallTime(iso8601: "\(date)T\(time).000000Z")
        // A recorder whose clock was not set writes no date.
        guard started != nil || date.isEmpty && time.isEmpty else { return nil }
        let reference = UInt64(info.time_reference_high) << 32 | UInt64(info.time_reference_low)
        // Frames since midnight.
        guard reference <= UInt64(format.rateHz) * 86_400 else { return nil }
        let microseconds = (Double(reference) * 1e6 / Double(format.rateHz)).rounded()
        let history = MemoryLayout<SF_BROADCAST_INFO>.offset(of: \.coding_history) ?? 0
        let length = min(Int(info.coding_history_size), size - history)
        // Safe: history + length ≤ size.
        let bytes = unsafe UnsafeRawBufferPointer(start: memory + history, count: length).prefix { $0 != 0 }
        return BroadcastOrigin(
            description: Self.string(&info.description), originator: Self.string(&info.originator),
            reference: Self.string(&info.originator_reference),
            started: started.map {
                WallTime(microseconds: $0.microseconds - $0.microsecondsOfDay + Int64(microseconds))
            },
            codingHistory: unsafe String(decoding: bytes, as: UTF8.self))
    }

    private func checked(_ read: Int, of count: Int) throws(SoundFileError) -> Int {
        if read < count, unsafe sf_error(handle) != 0 {
            throw SoundFileError(operation: "read", path: path, problem: unsafe Self.text(of: handle))
        }
        return read
    }

    private static func sampleFormat(_ format: Int32) -> SampleFormat? {
        switch Int(format) & SF_FORMAT_SUBMASK {
        case SF_FORMAT_PCM_16: .s16
        case SF_FORMAT_PCM_24: .s24Packed
        case SF_FORMAT_PCM_32: .s32
        case SF_FORMAT_FLOAT: .float
        default: nil
        }
    }

    /// The library's message for the last error of a file.
    static func text(of handle: OpaquePointer) -> String {
        var text = unsafe String(cString: sf_strerror(handle))
        while text.last == "." || text.last == "\n" || text.last == " " { text.removeLast() }
        let prefix = "System error : "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// A field of fixed length, up to its first zero byte.
    private static func string<Field>(_ field: inout Field) -> String {
        // Safe: the field is read as bytes, within its length.
        unsafe withUnsafeBytes(of: &field) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

import CGPIOD
import Glibc
import Takes

/// A system call that failed.
struct CallError: Error, Equatable {
    /// The value of `errno`.
    var code: Int32
}

/// An open chip of libgpiod.
@safe struct ChipHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// A requested line of libgpiod.
@safe struct RequestHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

struct LineRequest: Equatable {
    var path: String
    var offset: Int
    var isOutput: Bool
    var activeLow: Bool
    var pull: InputLine.Pull
}

struct RawEdge: Equatable {
    var isActive: Bool
    var at: Instant
}

struct ChipInfo: Equatable {
    var name: String
    var label: String
    var lineCount: Int
}

struct LineInfo: Equatable {
    var name: String
    var consumer: String
    var isOutput: Bool
    var isActiveLow: Bool
    var isUsed: Bool
}

/// One function for each call into libgpiod and epoll, so that each can be made to fail in tests.
struct GPIOCalls {
    /// The device paths of all chips, ordered by chip number.
    var chipPaths: () -> [String] = kernelChipPaths
    var openChip: (String) throws(CallError) -> ChipHandle = libraryOpenChip
    var closeChip: (ChipHandle) -> Void = { unsafe gpiod_chip_close($0.pointer) }
    var chipInfo: (ChipHandle) throws(CallError) -> ChipInfo = libraryChipInfo
    var lineInfo: (ChipHandle, Int) throws(CallError) -> LineInfo = libraryLineInfo
    var request: (LineRequest) throws(CallError) -> RequestHandle = libraryRequest
    var release: (RequestHandle) -> Void = { unsafe cgpiod_release($0.pointer) }
    var descriptor: (RequestHandle) -> Int32 = { unsafe cgpiod_descriptor($0.pointer) }
    var value: (RequestHandle) throws(CallError) -> Bool = { handle throws(CallError) in
        try check { unsafe cgpiod_value(handle.pointer) } == 1
    }
    var setValue: (RequestHandle, Bool) throws(CallError) -> Void = { handle, isActive throws(CallError) in
        _ = try check { unsafe cgpiod_set_value(handle.pointer, isActive) }
    }
    /// Reads 1 to 16 edges, or throws `EAGAIN` if none are queued.
    var readEdges: (RequestHandle) throws(CallError) -> [RawEdge] = libraryReadEdges
    var createPoll: () throws(CallError) -> Int32 = { () throws(CallError) in
        try check { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    }
    var addToPoll: (_ poll: Int32, _ descriptor: Int32, _ index: Int) throws(CallError) -> Void = pollAdd
    var removeFromPoll: (_ poll: Int32, _ descriptor: Int32) -> Void = { poll, descriptor in
        _ = epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, nil)
    }
    /// Reports the ready lines without waiting.
    var poll: (_ poll: Int32) throws(CallError) -> [PollReport] = pollNow
    var close: (Int32) -> Void = { _ = Glibc.close($0) }
}

/// A line that has queued edges, or whose device has disappeared.
struct PollReport: Equatable {
    var index: Int
    /// Whether the line's device has disappeared.
    var isGone: Bool
}

/// The largest number of edges that one read returns.
let edgesAtOnce = Int(CGPIOD_EDGES_AT_ONCE)

/// Throws `errno` if the call returns a negative number.
func check(_ call: () -> Int32) throws(CallError) -> Int32 {
    let result = call()
    guard result >= 0 else { throw CallError(code: errno) }
    return result
}

/// Retries the call while signals interrupt it.
func uninterrupted<Value>(_ call: () throws(CallError) -> Value) throws(CallError) -> Value {
    while true {
        do {
            return try call()
        } catch  where error.code == EINTR {
            continue
        } catch {
            throw error
        }
    }
}

private func kernelChipPaths() -> [String] {
    Directory.names(in: "/dev").compactMap { name in
        name.hasPrefix("gpiochip") ? Int(name.dropFirst("gpiochip".count)) : nil
    }.sorted().map { "/dev/gpiochip\($0)" }
}

private func libraryOpenChip(_ path: String) throws(CallError) -> ChipHandle {
    guard let pointer = unsafe gpiod_chip_open(path) else { throw CallError(code: errno) }
    return unsafe ChipHandle(pointer: pointer)
}

private func libraryChipInfo(_ chip: ChipHandle) throws(CallError) -> ChipInfo {
    var info = cgpiod_chip_info()
    _ = try check { unsafe cgpiod_read_chip_info(chip.pointer, &info) }
    return ChipInfo(
        name: text(of: &info.name), label: text(of: &info.label), lineCount: Int(info.line_count))
}

private func libraryLineInfo(_ chip: ChipHandle, _ offset: Int) throws(CallError) -> LineInfo {
    var info = cgpiod_line_info()
    _ = try check { unsafe cgpiod_read_line_info(chip.pointer, UInt32(offset), &info) }
    return LineInfo(
        name: text(of: &info.name), consumer: text(of: &info.consumer),
        isOutput: info.is_output, isActiveLow: info.is_active_low, isUsed: info.is_used)
}

/// A text in a C array that ends in NUL.
private func text<Array>(of array: inout Array) -> String {
    // Safe: the bytes are the array's own.
    unsafe withUnsafeBytes(of: &array) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

private func libraryRequest(_ request: LineRequest) throws(CallError) -> RequestHandle {
    let pull: Int32 =
        switch request.pull {
        case .up: 1
        case .down: -1
        case .none: 0
        }
    let pointer = unsafe cgpiod_request_line(
        request.path, UInt32(request.offset), "fieldfare", request.isOutput, request.activeLow, pull)
    guard let pointer = unsafe pointer else { throw CallError(code: errno) }
    return unsafe RequestHandle(pointer: pointer)
}

private func libraryReadEdges(_ request: RequestHandle) throws(CallError) -> [RawEdge] {
    var edges = Array(repeating: cgpiod_edge(), count: edgesAtOnce)
    // Safe: the array has room for the largest number of edges that the call writes.
    let count = try check { unsafe cgpiod_read_edges(request.pointer, &edges) }
    return edges.prefix(Int(count)).map { edge in
        RawEdge(isActive: edge.is_active, at: Instant(nanoseconds: edge.nanoseconds))
    }
}

private func pollAdd(_ poll: Int32, _ descriptor: Int32, _ index: Int) throws(CallError) {
    // Safe: the same member of the union is written here and read in `pollNow`.
    var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
    _ = try check { unsafe epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) }
}

private func pollNow(_ poll: Int32) throws(CallError) -> [PollReport] {
    let capacity = 16
    var events = unsafe Array(repeating: epoll_event(), count: capacity)
    let count = try check { unsafe epoll_wait(poll, &events, Int32(capacity), 0) }
    return unsafe events.prefix(Int(count)).map { event in
        unsafe PollReport(
            index: Int(event.data.u64), isGone: event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0)
    }
}

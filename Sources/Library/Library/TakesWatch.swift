import CLinux
import Glibc
import Takes
import Workers

/// The kernel's events for the folders of takes: `inotify(7)`, and changes of the mounts in `/proc/self/mountinfo`.
///
/// The events come from a thread of the watch. Any thread may add folders.
final class TakesWatch: Sendable {
    enum Event: Hashable, Sendable {
        /// A sidecar was added, replaced or removed.
        case sidecar(folder: String, file: String)
        /// A folder appeared in a watched one or disappeared from it.
        case folder(in: String, name: String)
        /// The change is unknown, so everything must be read again.
        case unknown
        /// A file system was mounted or unmounted.
        case mounts
        /// The catalog's database turned out to be damaged.
        case damaged
    }

    /// The events in order, for a single reader.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let descriptor: Int32
    private let mounts: Int32
    private let stop: Int32
    private let folders = Locked(Folders())
    private let thread = Locked<Thread?>(nil)

    private struct Folders {
        var paths: [Int32: String] = [:]
        var numbers: [String: Int32] = [:]
    }

    /// Starts the watch without any folder.
    /// - Throws: `WatchError` if the system provides no more inotify instances, or the error of the thread.
    init() throws {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw WatchError(path: "inotify", code: errno) }
        mounts = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        stop = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        let (descriptor, mounts, stop) = (descriptor, mounts, stop)
        let folders = folders
        let started = try Thread(name: "watch") {
            Self.run(descriptor, mounts: mounts, stop: stop, folders: folders, continuation)
        }
        thread.withLock { $0 = started }
    }

    deinit {
        eventfd_write(stop, 1)
        thread.withLock { $0 }?.join()
        for number in [descriptor, mounts, stop] where number >= 0 { close(number) }
        continuation.finish()
    }

    func finish() { continuation.finish() }

    /// Adds an event of the library's own.
    func post(_ event: Event) { continuation.yield(event) }

    /// Watches a folder for sidecars and for folders in it. Idempotent.
    /// - Throws: `WatchError`, with `ENOSPC` if the system allows no more watches.
    func add(_ folder: String) throws(WatchError) {
        let mask =
            IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR
        let number = unsafe inotify_add_watch(descriptor, folder, UInt32(mask))
        guard number >= 0 else { throw WatchError(path: folder, code: errno) }
        folders.withLock { folders in
            folders.paths[number] = folder
            folders.numbers[folder] = number
        }
    }

    /// Ends the watch of all folders for which `isKept` is false.
    func removeAll(but isKept: (String) -> Bool) {
        let numbers = folders.withLock { folders in
            folders.numbers.filter { !isKept($0.key) }.map(\.value)
        }
        for number in numbers { inotify_rm_watch(descriptor, number) }
    }

    // MARK: On the thread

    private static func run(
        _ descriptor: Int32, mounts: Int32, stop: Int32, folders: Locked<Folders>,
        _ continuation: AsyncStream<Event>.Continuation
    ) {
        var files = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            // The kernel signals a change of the mounts with POLLPRI, proc(5).
            pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // Safe: the array outlives the call.
            guard unsafe poll(&files, nfds_t(files.count), -1) > 0 else { continue }
            if files[2].revents != 0 { return }
            if files[1].revents != 0 { continuation.yield(.mounts) }
            if files[0].revents != 0 {
                for event in take(descriptor, folders) { continuation.yield(event) }
            }
        }
    }

    /// The pending events without duplicates.
    private static func take(_ descriptor: Int32, _ folders: Locked<Folders>) -> [Event] {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        // Safe: the kernel writes at most as many bytes as the array has.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return [] }
        var events: [Event] = []
        var known: Set<Event> = []
        for notice in InotifyNotice.all(in: bytes[..<count]) {
            guard let event = event(notice, folders), known.insert(event).inserted else { continue }
            events.append(event)
        }
        return events
    }

    private static func event(_ notice: InotifyNotice, _ folders: Locked<Folders>) -> Event? {
        if notice.has(IN_Q_OVERFLOW) { return .unknown }
        let folder = folders.withLock { $0.paths[notice.watch] }
        guard let folder else { return nil }
        if notice.has(IN_IGNORED) {
            folders.withLock { folders in
                folders.paths[notice.watch] = nil
                if folders.numbers[folder] == notice.watch { folders.numbers[folder] = nil }
            }
            return nil
        }
        if notice.has(IN_UNMOUNT) { return .mounts }
        if notice.has(IN_DELETE_SELF) || notice.has(IN_MOVE_SELF) { return .unknown }
        if notice.has(IN_ISDIR) { return .folder(in: folder, name: notice.name) }
        // The rename of a sidecar commits a take. A newly created file is still empty.
        guard notice.name.hasSuffix(".json"), !notice.has(IN_CREATE) else { return nil }
        return .sidecar(folder: folder, file: notice.name)
    }
}

/// One `struct inotify_event`.
struct InotifyNotice: Equatable {
    var watch: Int32
    var mask: UInt32
    var name: String

    func has(_ flag: Int32) -> Bool { mask & UInt32(bitPattern: flag) != 0 }

    /// Parses the events that `read(2)` returned: watch, mask, cookie and length of the name with 4 bytes each, then
    /// the name, padded with zeros.
    static func all(in bytes: ArraySlice<UInt8>) -> [InotifyNotice] {
        var notices: [InotifyNotice] = []
        var rest = bytes
        while rest.count >= 16 {
            func field(_ index: Int) -> UInt32 {
                rest.dropFirst(4 * index).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
            let length = Int(field(3))
            let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
            notices.append(
                InotifyNotice(
                    watch: Int32(bitPattern: field(0)), mask: field(1), name: String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(16 + length)
        }
        return notices
    }
}

struct WatchError: Error, Hashable, CustomStringConvertible {
    var path: String
    var code: Int32

    var description: String {
        "library: \(path): cannot be watched: \(SystemError(code))"
    }
}

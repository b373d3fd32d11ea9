import CLinux
import Glibc

/// A set of files that the system watches, itself a file that is readable when one of them is ready: `epoll(7)`.
struct Epoll: ~Copyable {
    let descriptor: Descriptor
    private var interests: [UInt64: Event] = [:]

    /// What a file can be ready for.
    struct Event: OptionSet {
        var rawValue: UInt32
        static let readable = Event(rawValue: EPOLLIN.rawValue)
        static let writable = Event(rawValue: EPOLLOUT.rawValue)
        /// Both ends have finished; reported whether asked for or not.
        static let gone = Event(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    }

    /// An empty set.
    init() throws(Failure) {
        descriptor = Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC)))
        guard descriptor.number >= 0 else { throw Failure(code: errno) }
    }

    /// The code that the system refused with.
    struct Failure: Error {
        var code: Int32
    }

    /// Sets what is reported of a file under `key`; nil: nothing, not even that it is gone.
    mutating func watch(_ file: borrowing Descriptor, key: UInt64, for events: Event?) throws(Failure) {
        guard interests[key] != events else { return }
        let operation = events == nil ? EPOLL_CTL_DEL : interests[key] == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        var event = unsafe epoll_event(events: events?.rawValue ?? 0, data: epoll_data_t(u64: key))
        guard unsafe epoll_ctl(descriptor.number, operation, file.number, &event) == 0 else {
            throw Failure(code: errno)
        }
        interests[key] = events
    }

    /// Drops a file that is about to be closed, which removes it from the set.
    mutating func drop(key: UInt64) {
        interests[key] = nil
    }

    /// What is ready now, at most `most` files.
    func ready(most: Int) -> [(key: UInt64, events: Event)] {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: most)
        let count = unsafe epoll_wait(descriptor.number, &events, Int32(most), 0)
        return unsafe events.prefix(max(0, Int(count))).map { event in
            unsafe (key: event.data.u64, events: Event(rawValue: event.events))
        }
    }
}

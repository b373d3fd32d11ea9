import CLinux
import Glibc

/// A set of files that the kernel watches (`epoll(7)`). Its own descriptor is readable when one of them is ready.
package struct Epoll: ~Copyable {
    package let descriptor: Descriptor
    private var interests: [UInt64: Event] = [:]

    package struct Event: OptionSet {
        package var rawValue: UInt32
        package static let readable = Event(rawValue: EPOLLIN.rawValue)
        package static let writable = Event(rawValue: EPOLLOUT.rawValue)
        /// Both ends have finished. The kernel always reports it.
        package static let gone = Event(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }
    }

    package init() throws(Failure) {
        descriptor = Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC)))
        guard descriptor.number >= 0 else { throw Failure(code: errno) }
    }

    /// A system call's error code.
    package struct Failure: Error {
        package var code: Int32
    }

    /// Sets the events that are reported for a file under `key`. With nil nothing is reported, not even a hang-up.
    package mutating func watch(_ file: borrowing Descriptor, key: UInt64, for events: Event?) throws(Failure) {
        guard interests[key] != events else { return }
        let operation = events == nil ? EPOLL_CTL_DEL : interests[key] == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        var event = unsafe epoll_event(events: events?.rawValue ?? 0, data: epoll_data_t(u64: key))
        guard unsafe epoll_ctl(descriptor.number, operation, file.number, &event) == 0 else {
            throw Failure(code: errno)
        }
        interests[key] = events
    }

    /// Forgets a file that is about to be closed. Closing removes it from the kernel's set.
    package mutating func drop(key: UInt64) {
        interests[key] = nil
    }

    /// The files that are ready now, at most `most`.
    package func ready(most: Int) -> [(key: UInt64, events: Event)] {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: most)
        let count = unsafe epoll_wait(descriptor.number, &events, Int32(most), 0)
        return unsafe events.prefix(max(0, Int(count))).map { event in
            unsafe (key: event.data.u64, events: Event(rawValue: event.events))
        }
    }
}

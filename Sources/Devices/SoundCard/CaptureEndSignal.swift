import CALSA
import Glibc
import Ring
import Takes

/// Whether the capture that was started last has ended by itself, for any thread to read. The capture thread holds this and not
/// the card, which may be closed and opened again while a thread that hangs has still not returned.
final class CaptureEndSignal: Sendable {
    /// Readable (for `poll`) once the capture has ended by itself, until `lower`.
    let fileDescriptor: Int32
    private let current = Locked<(loop: CaptureLoop, name: String)?>(nil)

    init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// Why the capture ended by itself, in one sentence; nil: it runs, or none was started.
    var end: CaptureEnd? {
        current.withLock { $0.flatMap { CaptureEnd($0.loop.ending, of: $0.name) } }
    }

    /// From now on this is about the capture of `loop`; nil: about none.
    func follow(_ loop: CaptureLoop?, name: String = "") {
        current.withLock { $0 = loop.map { ($0, name) } }
        lower()
    }

    /// Makes the descriptor readable, if this is still about the capture of `loop`.
    func raise(for loop: CaptureLoop) {
        current.withLock { current in
            if current?.loop === loop { eventfd_write(fileDescriptor, 1) }
        }
    }

    /// Makes the descriptor unreadable. `end` stays as it is.
    func lower() {
        var count: eventfd_t = 0
        unsafe eventfd_read(fileDescriptor, &count)
    }
}

extension CaptureEnd {
    /// The end of a loop in one sentence; nil: it did not end by itself.
    init?(_ ending: (why: CaptureLoop.Ending, status: Int32), of name: String) {
        func error(_ operation: String?) -> String {
            SoundCardError(name, operation, status: ending.status).description
        }
        switch ending.why {
        case .running: return nil
        case .cardLost: self = .cardLost(error(nil))
        case .read: self = .failed(error("read"))
        case .restart: self = .failed(error("start it again after an overrun"))
        case .overrunAgain: self = .failed("capture: \(name): overran again and again, with no frame between")
        case .silent:
            self = .failed("capture: \(name): delivered nothing for 1.5 s (unplug it and plug it in again)")
        }
    }
}

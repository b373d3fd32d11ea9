import CALSA
import Glibc
import Ring
import Takes

/// Reports to any thread whether the capture that was started last has ended by itself. The capture thread holds this
/// signal and not the card, because the card may be closed and opened again while a hanging thread has not yet
/// returned.
final class CaptureEndSignal: Sendable {
    /// Readable (for `poll`) from the time when the capture ends by itself until `lower`.
    let fileDescriptor: Int32
    private let current = Locked<(loop: CaptureLoop, name: String)?>(nil)

    init() {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// How the capture ended by itself, or nil if it runs or none was started.
    var end: CaptureEnd? {
        current.withLock { $0.flatMap { CaptureEnd($0.loop.ending, of: $0.name) } }
    }

    /// Reports the capture of `loop` from now on, or no capture if `loop` is nil.
    func follow(_ loop: CaptureLoop?, name: String = "") {
        current.withLock { $0 = loop.map { ($0, name) } }
        lower()
    }

    /// Makes the descriptor readable if the signal still follows `loop`.
    func raise(for loop: CaptureLoop) {
        current.withLock { current in
            if current?.loop === loop { eventfd_write(fileDescriptor, 1) }
        }
    }

    /// Makes the descriptor unreadable. `end` does not change.
    func lower() {
        var count: eventfd_t = 0
        unsafe eventfd_read(fileDescriptor, &count)
    }
}

extension CaptureEnd {
    /// The end of a loop in one sentence, or nil if the loop did not end by itself.
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

import CLinux
import Glibc
import Takes

/// A request from the keyboard or the system to a command that runs until it is ended.
public enum SignalKind: Sendable {
    /// Ctrl-C, or the system ends the command.
    case end
    case suspend
    /// The size of the terminal changed.
    case resize
}

/// Signals that are read from a descriptor, so that a loop can wait for them together with other descriptors.
public protocol Signals: AnyObject {
    /// Readable when a signal is pending.
    var fileDescriptor: Int32 { get }
    /// The next signal, or nil if none is pending.
    func next() -> SignalKind?
    /// Stops the process, as Ctrl-Z requests, until it is continued.
    func suspend()
}

/// The process's own signals (`signalfd(2)`). While this lives, they do not end the process by themselves.
public final class SystemSignals: Signals {
    public let fileDescriptor: Int32
    private var before = sigset_t()

    /// Takes over SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH.
    public init() throws(Failure) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH] { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        fileDescriptor = unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard fileDescriptor >= 0 else {
            throw Failure(exitStatus: 70, "watch: cannot wait for signals: \(SystemError(errno))")
        }
    }

    deinit {
        close(fileDescriptor)
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    public func next() -> SignalKind? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard unsafe read(fileDescriptor, &information, size) == size else { return nil }
        switch Int32(information.ssi_signo) {
        case SIGTSTP: return .suspend
        case SIGWINCH: return .resize
        default: return .end
        }
    }

    public func suspend() {
        raise(SIGSTOP)
    }
}

import CLinux
import Glibc

/// What a person at the keyboard, or the system, wants of a command that goes on until it is asked to end.
public enum SignalKind: Sendable {
    /// Ctrl-C, or the system ends it.
    case end
    /// Ctrl-Z.
    case suspend
    /// The terminal has another size.
    case resize
}

/// Signals that arrive like bytes in a file, so that a loop can wait for them with the rest.
public protocol Signals: AnyObject {
    /// Readable when a signal is there.
    var fileDescriptor: Int32 { get }
    /// The next signal; nil if none is there.
    func next() -> SignalKind?
    /// Sleeps as Ctrl-Z asks, until the process is woken.
    func suspend()
}

/// The process's own signals (`signalfd(2)`). They end nothing by themselves while this lives.
public final class SystemSignals: Signals {
    /// Readable when a signal is there.
    public let fileDescriptor: Int32
    private var before = sigset_t()

    /// Takes SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH.
    public init() throws(Failure) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH] { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        fileDescriptor = unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard fileDescriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw Failure(exitStatus: 70, "watch: cannot wait for signals: \(reason)")
        }
    }

    deinit {
        close(fileDescriptor)
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Reads one.
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

    /// Stops the process; returns when it is continued.
    public func suspend() {
        raise(SIGSTOP)
    }
}

internal import CLinux
import Glibc

/// The signals that end the recorder, as a file descriptor.
struct Signals: ~Copyable {
    /// Readable once a signal arrived.
    let fileDescriptor: Int32

    /// Blocks the signals for this thread and the threads that it starts, so that only `take` receives them.
    init(_ signals: [Int32]) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        unsafe fileDescriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        // A peer that closes its connection must not end the recorder.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        close(fileDescriptor)
    }

    /// The number of the pending signal, or nil if there is none.
    func take() -> Int32? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return unsafe read(fileDescriptor, &information, size) == size ? Int32(information.ssi_signo) : nil
    }
}

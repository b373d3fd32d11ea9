import Glibc
import Takes

/// A thread of the operating system with a name, which `ps -L` shows.
public final class Thread: @unchecked Sendable {
    private var thread = pthread_t()
    private var end = End.released

    /// How the system's resources of the thread are freed: by `join`, or by the thread itself at its end.
    private enum End { case joined, released }

    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread. All signals are blocked in it, because the main thread receives them.
    /// - Parameter name: at most 15 characters.
    /// - Throws: `ThreadError` if the system grants no more threads.
    public init(name: String, _ run: @escaping @Sendable () -> Void) throws(ThreadError) {
        // Safe: the body is retained here and released by the new thread.
        let body = unsafe Unmanaged.passRetained(Body(name: name, run: run))
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                let body = unsafe Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
                nameThisThread(body.name)
                body.run()
                return nil
            }, body.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard status == 0 else {
            unsafe body.release()
            // No thread exists that would have to be freed.
            end = .joined
            throw ThreadError(name: name, code: status)
        }
    }

    /// Waits until the thread has ended. Call it once.
    public func join() {
        end = .joined
        pthread_join(thread, nil)
    }

    deinit {
        // The thread hangs in a driver and was left to end by itself.
        if end == .released { pthread_detach(thread) }
    }
}

public struct ThreadError: Error, CustomStringConvertible, Hashable {
    public var name: String
    /// The code of `pthread_create(3)`.
    public var code: Int32

    public var description: String {
        "thread \(name): cannot start: \(SystemError(code))"
    }
}

/// `pthread_setname_np` needs `_GNU_SOURCE`. The kernel also accepts the name through this file.
private func nameThisThread(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    var name = name
    _ = name.withUTF8 { unsafe write(file, $0.baseAddress, $0.count) }
    close(file)
}

import Glibc

/// A thread of the operating system with a name, which `ps -L` shows.
public final class Thread: @unchecked Sendable {
    private var thread = pthread_t()
    private var end = End.released

    /// Who frees what the system keeps of the thread: `join`, or the thread itself when it ends.
    private enum End { case joined, released }

    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread. All signals are blocked in it: they are the main thread's.
    /// - Parameter name: at most 15 characters.
    /// - Throws: `ThreadError` if the system grants no more threads.
    public init(name: String, _ run: @escaping @Sendable () -> Void) throws(ThreadError) {
        // Safe: the body is retained here and released by the thread that takes it over.
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
            // There is no thread to free.
            end = .joined
            throw ThreadError(name: name, code: status)
        }
    }

    /// Waits until the thread has ended. To be called once.
    public func join() {
        end = .joined
        pthread_join(thread, nil)
    }

    deinit {
        // It hangs in a driver, and was left to end by itself.
        if end == .released { pthread_detach(thread) }
    }
}

/// A thread could not be started.
public struct ThreadError: Error, CustomStringConvertible, Hashable {
    /// The thread's name.
    public var name: String
    /// The code of `pthread_create(3)`.
    public var code: Int32

    /// One sentence.
    public var description: String {
        let text = unsafe String(cString: strerror(code))
        return "thread \(name): cannot start: \(text)"
    }
}

/// `pthread_setname_np` is hidden behind `_GNU_SOURCE`; the kernel takes the name as a file as well.
private func nameThisThread(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    var name = name
    _ = name.withUTF8 { unsafe write(file, $0.baseAddress, $0.count) }
    close(file)
}

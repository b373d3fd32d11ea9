import Glibc

/// A value that several threads use, one at a time.
///
/// The lock is the system's (`pthread_mutex_init(3)`), which ThreadSanitizer knows: it does not see the waiting in
/// `Synchronization.Mutex`, and reports races where there are none. A thread that waits passes its priority to the one that
/// holds the lock.
public final class Locked<Value>: @unchecked Sendable {
    // Safe: the mutex keeps its address from `init` to `deinit`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// A value that no thread uses yet.
    public init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_setprotocol(&attributes, CInt(PTHREAD_PRIO_INHERIT))
        unsafe mutex.initialize(to: pthread_mutex_t())
        let status = unsafe pthread_mutex_init(mutex, &attributes)
        precondition(status == 0, "pthread_mutex_init: no memory left")
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value once no other thread uses it. `body` must not use the lock again.
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

import Glibc

/// A value that several threads use, one at a time.
///
/// The lock is a `pthread_mutex_init(3)` mutex, because ThreadSanitizer supports it. ThreadSanitizer does not see the
/// waiting in `Synchronization.Mutex` and reports false races. The mutex uses priority inheritance: a waiting thread
/// passes its priority to the thread that holds the lock.
public final class Locked<Value>: @unchecked Sendable {
    // Safe: the mutex keeps its address from `init` to `deinit`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Takes over a value that no other thread uses.
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

    /// Calls `body` with the value while no other thread uses it. `body` must not use the same lock.
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

import Takes

/// Runs an actor on its own thread. The actor may wait for a storage that hangs, without occupying a shared thread.
public final class ThreadExecutor: SerialExecutor {
    private let jobs = Mailbox<UnownedJob>()
    private let isEnding = Locked(false)
    private let thread = Locked<Thread?>(nil)

    /// Starts the thread. It ends with the process.
    /// - Parameter name: as `ps -L` shows it, at most 15 characters.
    public init(name: String) throws {
        let started = try Thread(name: name) { [jobs, unowned self] in
            while true {
                jobs.wait(nanoseconds: nil)
                for job in jobs.take() { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }
        thread.withLock { $0 = started }
    }

    /// Queues a job.
    public func enqueue(_ job: consuming ExecutorJob) {
        jobs.post(UnownedJob(job))
    }
}

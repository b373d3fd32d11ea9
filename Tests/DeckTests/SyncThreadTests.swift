import Glibc
import Synchronization
import Testing

@testable import Deck

@Suite struct SyncThreadTests {
    /// Whether there seems to be something to take.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    @Test func `the end of a sync is waited for, though there seems to be a result already`() throws {
        let thread = try SyncThread()
        let descriptor = thread.done.fileDescriptor
        // As after a result that was taken before it was announced.
        var one: UInt64 = 1
        try #require(write(descriptor, &one, 8) == 8)
        let flag = SharedFlag()
        thread.start(
            SyncJob {
                // It lasts until somebody has looked for a result in vain.
                while Self.isReadable(descriptor) { sched_yield() }
                flag.raise()
                throw Failure()
            })
        thread.finish()
        #expect(flag.isRaised)
        #expect(!thread.isBusy)
        let results = thread.results()
        #expect(results.count == 1 && results[0].error is Failure)
        #expect(thread.results().isEmpty)
        thread.finish()
    }

    private struct Failure: Error {}
}

/// Something that happens once, on another thread.
private final class SharedFlag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

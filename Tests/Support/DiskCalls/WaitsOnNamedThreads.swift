import Synchronization
package import Testing

/// Checks that the tested code of a suite does not wait for a disk on one of Swift's shared threads or on an event
/// loop. The tests' own code may.
package struct WaitsOnNamedThreads: SuiteTrait, TestTrait, TestScoping {
    /// The number of checked faults, and the places of the reported ones.
    private static let seen = Mutex((count: 0, places: Set<String>()))

    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        DiskFault.watch()
        defer {
            for fault in Self.news() { Issue.record("\(fault)") }
            DiskFault.stopWatching()
        }
        try await function()
    }

    /// The new faults since the last call, one for each place. A test that runs in parallel may have caused them.
    private static func news() -> [DiskFault] {
        seen.withLock { seen in
            let faults = DiskFault.found(from: seen.count)
            seen.count += faults.count
            return faults.filter { $0.isOfLibrary && seen.places.insert($0.place).inserted }
        }
    }
}

extension Trait where Self == WaitsOnNamedThreads {
    /// Only threads with their own names may wait for a disk.
    package static var waitsOnNamedThreads: Self { WaitsOnNamedThreads() }
}

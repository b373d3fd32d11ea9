import Foundation

/// Runs something only the first time.
package final class Once: @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false
    private var failure: (any Error)?

    package init() {}

    package var wasRun: Bool { lock.withLock { isDone } }
    package var error: (any Error)? { lock.withLock { failure } }

    package func run(_ body: () throws -> Void) {
        lock.withLock {
            guard !isDone else { return }
            isDone = true
            do { try body() } catch { failure = error }
        }
    }
}

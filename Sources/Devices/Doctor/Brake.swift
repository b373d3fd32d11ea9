import Synchronization

/// Stops work on another thread early, because a take needs the card and the storage.
package final class Brake: Sendable {
    private let isSet = Atomic<Bool>(false)

    /// The message for a part that was not examined because the brake was pulled.
    package static let reason = "a take began meanwhile: run this again"

    package init() {}

    /// Makes the work end at its next step.
    package func pull() { isSet.store(true, ordering: .relaxed) }

    package var isPulled: Bool { isSet.load(ordering: .relaxed) }
}

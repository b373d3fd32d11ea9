import Synchronization

/// Ends work on another thread early: a take needs the card and the storage.
package final class Brake: Sendable {
    private let isSet = Atomic<Bool>(false)

    /// Why something was not examined, if a brake was pulled.
    package static let reason = "a take began meanwhile: run this again"

    /// A brake that is not pulled.
    package init() {}

    /// The work ends at its next step.
    package func pull() { isSet.store(true, ordering: .relaxed) }

    /// Whether the work is to end.
    package var isPulled: Bool { isSet.load(ordering: .relaxed) }
}

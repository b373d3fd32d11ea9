public import Files
public import Takes

/// Corrects the start times and clock maps of this boot's finished takes after the clock was set. Each step handles one
/// take, the newest first. A repeated or interrupted run does not change correct values.
///
/// It does not cover a take that is finished after this value was made.
public struct TakeDating {
    private let directory: TakesDirectory
    private let truth: TrueStart
    private let kit: String
    private var left: [TakeName]

    /// The result for one take.
    public enum Step {
        /// Its sidecar is already right.
        case unchanged(TakeName)
        /// Its sidecar has the true start now, as it is on the disk.
        case dated(TakeName, Sidecar)
        /// Its sidecar cannot be read or written. The error is one sentence that names it.
        case skipped(TakeName, any Error)
    }

    /// Covers the takes that exist now.
    ///
    /// - Parameters:
    ///   - truth: the current calendar.
    ///   - kit: this kit's name. Its takes are numbered in order of recording, so the first take of another boot ends
    ///     the search. Takes that were copied here from other kits do not end it.
    public init(_ directory: TakesDirectory, truth: TrueStart, kit: String) throws(FileError) {
        self.directory = directory
        self.truth = truth
        self.kit = kit
        left = try directory.takes()
    }

    /// Examines the next take, and revises its sidecar if necessary. The rules of `TakesDirectory.revise` apply.
    /// - Returns: nil if all takes of this boot were examined.
    public mutating func step() -> Step? {
        guard let take = left.popLast() else { return nil }
        do {
            let before = try directory.sidecar(of: take)
            guard truth.covers(before) else {
                if take.kit == kit { left = [] }
                return .unchanged(take)
            }
            var dated = before
            truth.date(&dated)
            guard dated != before else { return .unchanged(take) }
            let after = try directory.revise(take) { truth.date(&$0) }
            return .dated(take, after)
        } catch {
            return .skipped(take, error)
        }
    }
}

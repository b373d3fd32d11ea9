public import Takes

/// Writes into the finished takes of this boot when they really began, and puts their clock maps on that calendar, once the clock was set: one take a step, the newest
/// first. Done again, or cut short and begun again, it changes nothing that is right.
///
/// A take that is finished after this was made is not among them.
public struct TakeDating {
    private let directory: TakesDirectory
    private let truth: TrueStart
    private let kit: String
    private var left: [TakeName]

    /// What became of one take.
    public enum Step {
        /// Its sidecar is right.
        case unchanged(TakeName)
        /// Its sidecar has the true start now, as it is on the disk.
        case dated(TakeName, Sidecar)
        /// Its sidecar cannot be read or written; the error is one sentence that names it.
        case skipped(TakeName, any Error)
    }

    /// Dating of the takes that there are.
    ///
    /// - Parameters:
    ///   - truth: the calendar as it stands.
    ///   - kit: this kit's name: its takes are numbered in the order in which they were made, so that the first of
    ///     another boot ends the search. Takes that were copied here from other kits do not.
    public init(_ directory: TakesDirectory, truth: TrueStart, kit: String) throws(FileError) {
        self.directory = directory
        self.truth = truth
        self.kit = kit
        left = try directory.takes()
    }

    /// Examines the next take, and revises its sidecar if that is to change. By the rules of `TakesDirectory.revise`.
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

/// Why a store did not do what was asked.
public struct StoreError: Error, Hashable, CustomStringConvertible {
    /// What kind of problem it is, which decides what happens next.
    public var problem: Problem
    /// One sentence: what was attempted, on what, what happened, and where it helps, what to do. Never a secret.
    public var sentence: String

    /// Kinds of problems.
    public enum Problem: Hashable, Sendable {
        /// The store cannot be reached: no network, no stick. All takes wait, and it is attempted again.
        case away
        /// The store is busy, or fails for the moment. All takes wait, at least so long.
        case busy(Duration?)
        /// The store refuses all: a key, a right, a certificate, a bucket. A person has to act.
        case refused
        /// The store is full. A person has to act.
        case full
        /// There is another object of that name. This take is held for a person; nothing is overwritten.
        case conflict
        /// The store takes no file of this length. This take is held, and attempted again after a long time.
        case rejected
        /// What arrived is not what was sent. This take is attempted again.
        case damaged
        /// The take's own file cannot be read, or is not what it was. This take is attempted again.
        case unreadable
        /// There is no such object.
        case missing
        /// The store does not let this kit look at what it has of an object, or replace it. Takes can be sent, and are not verified. This take
        /// is attempted again.
        case hidden
        /// The stick that is in was not adopted. All takes wait, until it is, or another is in.
        case unadopted
    }

    /// A problem, and a sentence about it.
    public init(_ problem: Problem, _ sentence: String) {
        self.problem = problem
        self.sentence = sentence
    }

    /// The sentence.
    public var description: String { sentence }

    /// Whether it is of one take alone, so that others can be sent.
    public var isOfTake: Bool {
        switch problem {
        case .conflict, .rejected, .damaged, .unreadable, .missing, .hidden: true
        case .away, .busy, .refused, .full, .unadopted: false
        }
    }
}

extension StoreError {
    /// What a full store lacks, in MiB, or in KiB where both were the same in those: `2 MiB are to be sent, 1 MiB are free`.
    static func lack(_ wanted: Int64, _ verb: String, free: Int64) -> String {
        if wanted >> 20 > free >> 20 { return "\(wanted >> 20) MiB are to be \(verb), \(free >> 20) MiB are free" }
        return "\((wanted + 1023) >> 10) KiB are to be \(verb), \(free >> 10) KiB are free"
    }
}

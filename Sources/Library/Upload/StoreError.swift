public struct StoreError: Error, Hashable, CustomStringConvertible {
    /// The kind of problem, which decides the next step.
    public var problem: Problem
    /// One sentence: the operation, its object, the result, and if useful the remedy. It has no secrets.
    public var sentence: String

    public enum Problem: Hashable, Sendable {
        /// The store cannot be reached: no network, or no stick. All takes wait, and the outbox retries.
        case away
        /// The store is busy, or fails temporarily. All takes wait, at least for this time.
        case busy(Duration?)
        /// The store refuses everything because of a key, a right, a certificate or a bucket. A person must act.
        case refused
        /// The store is full. A person must act.
        case full
        /// Another object has the name. This take is held for a person, and nothing is overwritten.
        case conflict
        /// The store does not accept a file of this length. This take is held, and retried after a long time.
        case rejected
        /// The content that arrived differs from the sent content. This take is retried.
        case damaged
        /// The take's own file cannot be read, or has changed. This take is retried.
        case unreadable
        /// The object does not exist.
        case missing
        /// The store does not let this kit read or replace an object. Takes can be sent but not verified. This take is
        /// retried.
        case hidden
        /// The current stick is not adopted. All takes wait until it is adopted, or until another stick is plugged in.
        case unadopted
    }

    public init(_ problem: Problem, _ sentence: String) {
        self.problem = problem
        self.sentence = sentence
    }

    public var description: String { sentence }

    /// Whether the problem concerns this take alone, so that others can be sent.
    public var isOfTake: Bool {
        switch problem {
        case .conflict, .rejected, .damaged, .unreadable, .missing, .hidden: true
        case .away, .busy, .refused, .full, .unadopted: false
        }
    }
}

extension StoreError {
    /// The missing space in MiB, or in KiB if both numbers are the same in MiB: `2 MiB must be sent, 1 MiB are free`.
    static func lack(_ wanted: Int64, _ verb: String, free: Int64) -> String {
        if wanted >> 20 > free >> 20 { return "\(wanted >> 20) MiB must be \(verb), \(free >> 20) MiB are free" }
        return "\((wanted + 1023) >> 10) KiB must be \(verb), \(free >> 10) KiB are free"
    }
}

public import Takes

/// The library's reply to `outbox`.
public struct OutboxReport: Codable, Hashable, Sendable {
    /// Whether a person paused the outbox.
    public var paused: Bool
    public var stores: [Store]
    /// For each store, the takes that are being sent, then those on hold, then those that wait, up to the requested
    /// number.
    public var takes: [Take]

    public init(paused: Bool, stores: [Store], takes: [Take]) {
        self.paused = paused
        self.stores = stores
        self.takes = takes
    }

    public struct Store: Codable, Hashable, Sendable {
        /// The store's name, as in receipts.
        public var store: String
        /// Whether the store accepts takes.
        public var state: State
        /// Why the store does not accept takes, or null if it does.
        @ExplicitNull public var why: String?
        /// The time of the next attempt, ISO 8601, or null if it is immediate or depends on a change.
        @ExplicitNull public var until: String?
        /// Waiting takes on storage that is present.
        public var waiting: Int
        /// In the files of the waiting takes.
        public var waitingBytes: Int64
        /// Takes to send that are on storage that is not plugged in.
        public var elsewhere: Int
        public var held: Int
        /// Takes that the store has completely. All are verified, except those counted in `unverified`.
        public var done: Int
        /// How many of the takes in `done` could not be compared with the stored copy; they never count as safe. Nil
        /// means none, or that the library is older and does not report it.
        public var unverified: Int?
        /// Why those takes could not be compared.
        public var whyUnverified: String?

        /// Whether the store accepts takes.
        public enum State: String, Codable, CaseIterable, Sendable {
            case ready
            /// The store is away or busy, and is tried again.
            case waiting
            /// A person must act.
            case refused
            /// Outside the upload hours of the settings.
            case closed
            case mayBePulled = "may-be-pulled"
            /// The plugged-in stick is not adopted yet, and a person may adopt it.
            case stickOffered = "stick-offered"
        }

        public init(
            store: String, state: State, why: String?, until: String?, waiting: Int, waitingBytes: Int64,
            elsewhere: Int,
            held: Int, done: Int, unverified: Int? = nil, whyUnverified: String? = nil
        ) {
            self.store = store
            self.state = state
            self.why = why
            self.until = until
            self.waiting = waiting
            self.waitingBytes = waitingBytes
            self.elsewhere = elsewhere
            self.held = held
            self.done = done
            self.unverified = unverified
            self.whyUnverified = whyUnverified
        }

        enum CodingKeys: String, CodingKey {
            case store, state, why, until, waiting, elsewhere, held, done, unverified
            case waitingBytes = "waiting_bytes"
            case whyUnverified = "unverified_why"
        }
    }

    /// The state of one take at one store.
    public struct Take: Codable, Hashable, Sendable {
        public var take: String
        public var store: String
        public var state: State
        /// The size of all its files.
        public var bytes: Int64
        /// How many of the bytes the store has, or null if the take is not being sent.
        @ExplicitNull public var sentBytes: Int64?
        @ExplicitNull public var why: String?
        /// The time of the next attempt, ISO 8601, or null if the take is not held or waits for a person.
        @ExplicitNull public var until: String?

        public enum State: String, Codable, CaseIterable, Sendable {
            case sending, verifying, held, waiting
        }

        public init(
            take: String, store: String, state: State, bytes: Int64, sentBytes: Int64?, why: String?, until: String?
        ) {
            self.take = take
            self.store = store
            self.state = state
            self.bytes = bytes
            self.sentBytes = sentBytes
            self.why = why
            self.until = until
        }

        enum CodingKeys: String, CodingKey {
            case take, store, state, bytes, why, until
            case sentBytes = "sent_bytes"
        }
    }
}

/// A person's request to the outbox.
public enum OutboxWish: String, CaseIterable, Sendable {
    /// Tries everything that waits or is held now.
    case retry = "outbox-retry"
    /// Stops all sending.
    case pause = "outbox-pause"
    case resume = "outbox-resume"
}

/// A person's decision about one take in the outbox.
public enum OutboxDecision: String, CaseIterable, Sendable {
    /// Sends the take, even if it was sent before.
    case add = "outbox-add"
    /// Does not send the take.
    case remove = "outbox-remove"
    /// Keeps the take in the outbox, and does not send it until it is added.
    case hold = "outbox-hold"
}

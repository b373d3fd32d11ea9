public import Takes

/// How the outbox stands, as the library answers `outbox`.
public struct OutboxReport: Codable, Hashable, Sendable {
    /// Whether a person paused it.
    public var paused: Bool
    /// The stores that the settings name.
    public var stores: [Store]
    /// Takes that are being sent, are held, or wait, in this order for each store, as many as were asked for.
    public var takes: [Take]

    /// A report.
    public init(paused: Bool, stores: [Store], takes: [Take]) {
        self.paused = paused
        self.stores = stores
        self.takes = takes
    }

    /// How a store stands.
    public struct Store: Codable, Hashable, Sendable {
        /// Its name, as receipts have it.
        public var store: String
        /// Whether it takes takes.
        public var state: State
        /// Why it does not; null: it does.
        @ExplicitNull public var why: String?
        /// When it is attempted again, ISO 8601; null: at once, or when something changes.
        @ExplicitNull public var until: String?
        /// Takes that wait, on storages that are in.
        public var waiting: Int
        /// Bytes of their files.
        public var waitingBytes: Int64
        /// Takes that are to be sent, on storages that are out.
        public var elsewhere: Int
        /// Takes that are held.
        public var held: Int
        /// Takes that are there, whole, and verified but for those of `unverified`.
        public var done: Int
        /// Of those that are there, how many could not be compared with what arrived: they never count as safe; nil: none, or an earlier
        /// library does not say.
        public var unverified: Int?
        /// Why they could not be.
        public var whyUnverified: String?

        /// Whether a store takes takes.
        public enum State: String, Codable, CaseIterable, Sendable {
            case ready
            /// It is away or busy, and is attempted again.
            case waiting
            /// A person has to act.
            case refused
            /// Outside the hours of the settings.
            case closed
            /// The stick may be pulled.
            case mayBePulled = "may-be-pulled"
            /// The stick that is in was not adopted, and a person may adopt it.
            case stickOffered = "stick-offered"
        }

        /// How a store stands.
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

    /// How a take stands with a store.
    public struct Take: Codable, Hashable, Sendable {
        /// Its stem.
        public var take: String
        /// The store.
        public var store: String
        /// Where it stands.
        public var state: State
        /// Of all of its files.
        public var bytes: Int64
        /// What of them is there; null: it is not being sent.
        @ExplicitNull public var sentBytes: Int64?
        /// Why it is held.
        @ExplicitNull public var why: String?
        /// When it is attempted again, ISO 8601; null: not before a person says so, or it is not held.
        @ExplicitNull public var until: String?

        /// Where a take stands.
        public enum State: String, Codable, CaseIterable, Sendable {
            case sending, verifying, held, waiting
        }

        /// How a take stands.
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

/// What a person may want of the outbox.
public enum OutboxWish: String, CaseIterable, Sendable {
    /// Everything that waits or is held is attempted now.
    case retry = "outbox-retry"
    /// Nothing is sent any more.
    case pause = "outbox-pause"
    /// It is sent again.
    case resume = "outbox-resume"
}

/// What a person may want of a take in the outbox.
public enum OutboxDecision: String, CaseIterable, Sendable {
    /// It is sent, also once more.
    case add = "outbox-add"
    /// It is not sent.
    case remove = "outbox-remove"
    /// It stays in the outbox, and is not sent until it is added.
    case hold = "outbox-hold"
}

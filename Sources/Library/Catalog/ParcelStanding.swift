import GRDB
import Takes

/// The state of one parcel with one store. Pure: `Catalog` passes events to it, and stores it in a row of `upload`.
public struct ParcelStanding: Hashable, Sendable {
    private enum State: Hashable {
        case waiting
        case held(Hold)
        /// The store has it. `unverified` says why it could not be verified, or is nil if it was.
        case done(unverified: String?)
        /// A person decided not to send it.
        case never
    }

    private enum Hold: Hashable {
        case byHand
        /// The content is damaged. The sentence begins with `damaged: `.
        case damaged(String)
        /// An attempt failed. The next one is at `until`, or when a person asks for it if that is nil.
        case failed(why: String, until: WallTime?)

        /// Parses a hold. An attempt that finds damage fails with the sentence about the damage.
        init(_ why: String, until: WallTime?) {
            if why == UploadStanding.heldByHand {
                self = .byHand
            } else if why.hasPrefix(damagePrefix), until == nil {
                self = .damaged(why)
            } else {
                self = .failed(why: why, until: until)
            }
        }
    }

    /// The facts about a parcel and the store's copy of it.
    struct Facts {
        /// The revision to send.
        var revision: Int
        /// Whether the store has that revision.
        var presence = Presence.missing
        /// The decision of a person, or nil to send it when possible.
        var decision: TakeNotes.UploadChoice?
        /// Why the content is damaged, or nil if it is intact.
        var damage: String?
        /// Whether the files will be replaced soon. Such a parcel has no row unless the store has it.
        var isPending = false

        enum Presence {
            case missing
            /// The store has all of it. `unverified` says why it could not be verified, or is nil if it was.
            case complete(unverified: String?)
        }
    }

    /// When a failed parcel is tried again.
    public enum Retry: Hashable, Sendable {
        /// After an exponential back-off, shortened by up to a half. `chance` is 0 to 1.
        case afterBackOff(chance: Double)
        case after(Duration)
        /// When a person asks for it.
        case byPersonOnly
    }

    private var state: State
    /// The revision to which the state applies.
    private var revision: Int
    /// The number of failures since it was sent or since a person asked for another attempt.
    private var attempts: Int

    /// The longest time for which a parcel is held. A later time comes from a clock that was set back since.
    static let longestHold = Duration.seconds(12 * 3600)
    private static let longestBackOff = Duration.seconds(3600)
    private static let shortestBackOff = Duration.seconds(5)

    /// The state that follows from the facts, as in a rebuilt catalog. Nil means that it has no row.
    /// - Parameter old: the previous state. A failure of the same revision still holds the parcel, because nothing has
    ///   changed that could make it succeed.
    init?(_ facts: Facts, after old: ParcelStanding? = nil) {
        (revision, attempts) = (facts.revision, 0)
        if case .complete(let why) = facts.presence {
            state = .done(unverified: why)
        } else if facts.isPending {
            return nil
        } else {
            switch (facts.decision, facts.damage) {
            case (.never?, _): state = .never
            case (.hold?, _): state = .held(.byHand)
            case (nil, let damage?):
                state = .held(.damaged(Self.damagePrefix + damage + ": see 'fieldfare takes --damaged'"))
            case (nil, nil): state = .waiting
            }
        }
        guard case .waiting = state, let old, old.revision == revision else { return }
        switch old.state {
        case .waiting, .held(.failed): self = old
        case .held(.byHand), .held(.damaged), .done, .never: break
        }
    }

    // MARK: Events

    /// An attempt failed for a reason that concerns only this parcel. Ignored if a decision or a later revision came
    /// during the attempt.
    /// - Parameter tried: the revision of the attempt.
    mutating func failed(_ why: String, _ retry: Retry, of tried: Int, at now: WallTime) {
        guard case .waiting = state, revision == tried else { return }
        attempts += 1
        let until: WallTime? =
            switch retry {
            case .afterBackOff(let chance): now + Self.backOff(attempts, chance: chance)
            case .after(let pause): now + pause
            case .byPersonOnly: nil
            }
        state = .held(Hold(why, until: until))
    }

    /// The time of the next attempt may have come.
    mutating func due(at now: WallTime) {
        guard case .held(.failed(_, let until?)) = state, until <= now || until > now + Self.longestHold else { return }
        state = .waiting
    }

    /// A person asks for an attempt with everything that is not held by hand.
    mutating func retried() {
        switch state {
        case .held(.failed), .held(.damaged), .done(unverified: .some): (state, attempts) = (.waiting, 0)
        case .waiting, .held(.byHand), .done(unverified: nil), .never: break
        }
    }

    /// The time for which a parcel is held after this many failures: 5 s, doubled with each failure, at most one hour,
    /// shortened at random by up to a half.
    static func backOff(_ failures: Int, chance: Double) -> Duration {
        min(longestBackOff, shortestBackOff * (1 << min(failures - 1, 12))) * (0.5 + min(1, max(0, chance)) / 2)
    }
}

// The texts in a row of `upload` must not change, because earlier versions read and compare them.
extension ParcelStanding {
    static let columns = "upload.state, upload.why, upload.untilUs, upload.revision, upload.attempts"
    private static let damagePrefix = "damaged: "

    /// Nil if the state in the row is unknown.
    init?(_ row: Row) {
        let why: String? = row["why"]
        switch row["state"] as String {
        case "waiting": state = .waiting
        case "held":
            state = .held(Hold(why ?? "", until: (row["untilUs"] as Int64?).map { WallTime(microseconds: $0) }))
        case "done": state = .done(unverified: why)
        case "never": state = .never
        default: return nil
        }
        (revision, attempts) = (row["revision"], row["attempts"])
    }

    /// The values of `columns`.
    var values: StatementArguments {
        let (text, why, until): (String, String?, WallTime?) =
            switch state {
            case .waiting: ("waiting", nil, nil)
            case .held(.byHand): ("held", UploadStanding.heldByHand, nil)
            case .held(.damaged(let why)): ("held", why, nil)
            case .held(.failed(let why, let until)): ("held", why, until)
            case .done(let why): ("done", why, nil)
            case .never: ("never", nil, nil)
            }
        return [text, why, until?.microseconds, revision, attempts]
    }
}

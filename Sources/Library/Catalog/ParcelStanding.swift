import GRDB
import Takes

/// Where one parcel stands with one store. Pure: `Catalog` passes events to it, and keeps it in a row of `upload`.
public struct ParcelStanding: Hashable, Sendable {
    private enum State: Hashable {
        case waiting
        case held(Hold)
        /// It is there. Why it could not be verified; nil: it was.
        case done(unverified: String?)
        /// A person decided that it is not sent.
        case never
    }

    private enum Hold: Hashable {
        case byHand
        /// Its content is damaged: a sentence that begins with `damaged: `.
        case damaged(String)
        /// An attempt failed. The next one is at `until`; nil: once a person says so.
        case failed(why: String, until: WallTime?)

        /// A hold by its texts. An attempt that finds damage fails with the sentence about it.
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

    /// What is known of a parcel, and of what the store has of it.
    struct Facts {
        /// The revision that is to be sent.
        var revision: Int
        /// What the store has of that revision.
        var presence = Presence.missing
        /// What a person decided; nil: it is sent as soon as it can be.
        var decision: TakeNotes.UploadChoice?
        /// Why its content is damaged; nil: it is not.
        var damage: String?
        /// Whether its files are replaced soon: then it has no row unless the store has it.
        var isPending = false

        enum Presence {
            case missing
            /// All of it is there. Why it could not be verified; nil: it was.
            case complete(unverified: String?)
        }
    }

    /// When a parcel is attempted again that failed.
    public enum Retry: Hashable, Sendable {
        /// After a time that grows with each failure, less up to a half by chance, 0 to 1.
        case afterBackOff(chance: Double)
        /// After this time.
        case after(Duration)
        /// Once a person says so.
        case byPersonOnly
    }

    private var state: State
    /// The revision that this is about.
    private var revision: Int
    /// How often it failed by itself since it was sent, or a person said that it is attempted again.
    private var attempts: Int

    /// The longest that a parcel is held for a time. A time that is further ahead is one of a clock that was set back.
    static let longestHold = Duration.seconds(12 * 3600)
    private static let longestBackOff = Duration.seconds(3600)
    private static let shortestBackOff = Duration.seconds(5)

    /// Where a parcel stands by what is known, as in a catalog that is built again. Nil: it has no row.
    /// - Parameter old: where it stood. A failure of the same revision holds it still: nothing has changed that would make it succeed.
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

    /// An attempt failed for a reason that is of this parcel alone. A decision, or a later revision, that came during the attempt counts.
    /// - Parameter tried: the revision that was attempted.
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

    /// The time has come that it may be held until.
    mutating func due(at now: WallTime) {
        guard case .held(.failed(_, let until?)) = state, until <= now || until > now + Self.longestHold else { return }
        state = .waiting
    }

    /// A person wants everything to be attempted that is not held by hand.
    mutating func retried() {
        switch state {
        case .held(.failed), .held(.damaged), .done(unverified: .some): (state, attempts) = (.waiting, 0)
        case .waiting, .held(.byHand), .done(unverified: nil), .never: break
        }
    }

    /// How long a parcel is held after this many failures: 5 s, then twice as long each time, an hour at most, less up to a half by chance.
    static func backOff(_ failures: Int, chance: Double) -> Duration {
        min(longestBackOff, shortestBackOff * (1 << min(failures - 1, 12))) * (0.5 + min(1, max(0, chance)) / 2)
    }
}

// A row of `upload`: earlier versions read it, and compare these texts.
extension ParcelStanding {
    /// The columns that `init(_:)` reads.
    static let columns = "upload.state, upload.why, upload.untilUs, upload.revision, upload.attempts"
    private static let damagePrefix = "damaged: "

    /// Reads a row. Nil: its state is unknown.
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

    /// What the columns are.
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

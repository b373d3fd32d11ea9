public import Takes

/// What the deck can be asked to do, by a button or over the control socket.
public enum Command: Hashable, Sendable {
    case record, stop, pause
    /// Starts a take with the frame that was sampled at a time, if it is held still, else with the oldest that is.
    case recordFrom(PastTime)
    /// Plays a take; nil: the selected one.
    case play(TakeReference?)
    /// Moves the playing position; negative: back.
    case skip(seconds: Double)
    /// Sets a marker in the take that is recorded.
    case mark(MarkRequest)
    case select(TakeReference)
    /// Changes the capture filter until the recorder restarts; nil keeps what is in force.
    case filter(lowPass: Cutoff?, slopeDBPerOctave: Int?, highPass: Cutoff?)
    /// Sets the gain and the automatic gain control of the capture card until the recorder restarts; nil keeps what was asked for.
    case gain(GainSetting?, agc: Bool?)
    /// Sets the playing volume, 0 to 1, until the recorder restarts.
    case volume(Double)
    /// Sets the pitch that takes are played at, until the recorder restarts; 0: as recorded.
    case pitch(cents: Int)
    /// Sets the speed that takes are played at, until the recorder restarts; `expands`: the pitch follows.
    case speed(factor: Double, expands: Bool)
    /// Has the stick unmounted, so that it may be pulled.
    case eject
    /// Moves a take into the bin, or deletes it for good, as the terms say. By its stem only: what 'last' is may have changed since it was asked.
    /// `version`: only if it still is just this one; nil: whatever it is.
    case discard(stem: String, DiscardTerms = DiscardTerms())
    /// Waits until no order to delete a take is being carried out, also of another peer.
    /// `day`: the folder that it is in; nil: the newest take of the stem.
    case settle(stem: String, day: String?)
    /// Takes a take out of the bin. By its stem only.
    /// `day`: the folder that it was in; nil: the newest of the stem.
    case restore(stem: String, day: String?)
    /// Deletes for good what is in the bin: one take, by its stem; nil: all.
    case empty(stem: String?)
}

extension Command {
    /// Drops a marker into the take that is recorded, now.
    public static func mark(note: String?) -> Command {
        .mark(MarkRequest(content: Sidecar.Marker.Content(note: note)))
    }
}

/// A time at which sound was sampled.
public enum PastTime: Hashable, Sendable {
    /// So long before now.
    case ago(Duration)
    /// On `CLOCK_MONOTONIC_RAW`.
    case raw(nanoseconds: Int64)

    /// The longest time ago.
    public static let longestAgo = Duration.seconds(86_400)

    /// What is wrong with it and what is allowed, beginning with the key, or nil if sound may have been sampled then.
    public var problem: String? {
        switch self {
        case .ago(let time):
            (.zero...Self.longestAgo).contains(time)
                ? nil : "ago_ms: found \(time.nanoseconds / 1_000_000), allowed is a number from 0 to 86400000"
        case .raw(let nanoseconds):
            (0...1 << 61).contains(nanoseconds)
                ? nil : "raw_ns: found \(nanoseconds), allowed is a time of CLOCK_MONOTONIC_RAW in nanoseconds"
        }
    }
}

/// How a person names a take.
public enum TakeReference: Hashable, Sendable {
    case stem(String)
    case number(Int)
    /// The newest one.
    case last

    /// Reads `last`, a number, or a stem.
    public init(_ text: String) {
        if text == "last" {
            self = .last
        } else if let number = Int(text) {
            self = .number(number)
        } else {
            self = .stem(text)
        }
    }

    /// Whether this names a take; `last` names none.
    public func names(_ take: TakeName) -> Bool {
        switch self {
        case .stem(let stem): take.stem == stem
        case .number(let number): take.number == number
        case .last: false
        }
    }
}

extension TakeReference: CustomStringConvertible {
    /// As a person writes it.
    public var description: String {
        switch self {
        case .stem(let stem): stem
        case .number(let number): String(number)
        case .last: "last"
        }
    }
}

/// Why a command was not carried out.
public struct Refusal: Error, Hashable, Sendable {
    /// What kind of reason it is.
    public var code: Code
    /// One sentence.
    public var message: String

    /// The kinds of reasons, as the control socket names them.
    public enum Code: String, Codable, Sendable, CaseIterable {
        case usage
        case badData = "bad-data"
        case notFound = "not-found"
        case busy, denied, io, `internal`

        /// The exit status of a command that is refused for this reason, after `sysexits.h`.
        public var exitStatus: Int32 {
            switch self {
            case .usage: 64
            case .badData: 65
            case .notFound: 66
            case .internal: 70
            case .io: 74
            case .busy: 75
            case .denied: 77
            }
        }
    }

    /// A refusal of a kind, in one sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

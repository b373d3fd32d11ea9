public import Takes

/// A command to the deck, from a button or over the control socket.
public enum Command: Hashable, Sendable {
    case record, stop, pause
    /// Starts a take with the frame that was sampled at a time, or with the oldest available frame.
    case recordFrom(PastTime)
    /// Plays a take, or the selected take if nil.
    case play(TakeReference?)
    /// Moves the playing position; negative values move it back.
    case skip(seconds: Double)
    /// Sets a marker in the take that is being recorded.
    case mark(MarkRequest)
    case select(TakeReference)
    /// Changes the capture filter until the recorder restarts. Nil keeps the current value.
    case filter(lowPass: Cutoff?, slopeDBPerOctave: Int?, highPass: Cutoff?)
    /// Sets the gain and the automatic gain control of the capture card until the recorder restarts. Nil keeps the last
    /// requested value.
    case gain(GainSetting?, agc: Bool?)
    /// Sets the playing volume, 0 to 1, until the recorder restarts.
    case volume(Double)
    /// Sets the pitch for playing takes, until the recorder restarts; 0 plays them as recorded.
    case pitch(cents: Int)
    /// Sets the speed for playing takes, until the recorder restarts. With `expands` the pitch follows the speed.
    case speed(factor: Double, expands: Bool)
    /// Unmounts the stick, so that it may be pulled out.
    case eject
    /// Moves a take to the bin, or deletes it permanently, depending on the terms. It needs a stem, because the meaning
    /// of 'last' may have changed since the request. With `version`, it deletes the take only in exactly this version.
    case discard(stem: String, DiscardTerms = DiscardTerms())
    /// Waits until no order to delete a take is in progress, including orders of other peers. `day` is the folder of
    /// the take, or nil for the newest take with the stem.
    case settle(stem: String, day: String?)
    /// Restores a take from the bin. It needs a stem. `day` is the folder that the take was in, or nil for the newest
    /// take with the stem.
    case restore(stem: String, day: String?)
    /// Permanently deletes one take in the bin, by its stem, or all of them if nil.
    case empty(stem: String?)
}

extension Command {
    /// Sets a marker at the current frame of the take that is being recorded.
    public static func mark(note: String?) -> Command {
        .mark(MarkRequest(content: Sidecar.Marker.Content(note: note)))
    }
}

/// A time at which sound was sampled.
public enum PastTime: Hashable, Sendable {
    /// This long before now.
    case ago(Duration)
    /// On `CLOCK_MONOTONIC_RAW`.
    case raw(nanoseconds: Int64)

    public static let longestAgo = Duration.seconds(86_400)

    /// The problem and the allowed values, beginning with the key, or nil if sound may have been sampled then.
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

/// A person's name for a take.
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

    /// Whether this names the take. `last` never does.
    public func names(_ take: TakeName) -> Bool {
        switch self {
        case .stem(let stem): take.stem == stem
        case .number(let number): take.number == number
        case .last: false
        }
    }
}

extension TakeReference: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stem(let stem): stem
        case .number(let number): String(number)
        case .last: "last"
        }
    }
}

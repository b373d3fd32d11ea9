public import Takes
public import Transport

/// A request to the recorder.
public enum RecorderMessage: PeerMessage {
    case status
    /// Streams events until the peer disconnects. They include levels unless `levels` is false, and the waveform of the
    /// card if `peaks` is true.
    case watch(levels: Bool = true, peaks: Bool)
    /// Controls the deck, or changes its settings.
    case command(Command)
    case inventory(Inventory)
    /// Shows what the library does with takes while this connection lives. `damage` says why takes are damaged and is
    /// shown as a storage fault; nil means that no take is damaged.
    case indicate(UploadState, damage: String? = nil)
    /// Lights one lamp for a moment to identify it.
    case light(lamp: String)
    /// Sets the kit's clock to the time that a person gives.
    case setClock(WallTime)
    /// Reports that a phone sent a pairing code. The recorder knows whether phones may pair, and ends the pairing time.
    case pairingCode(isRight: Bool)
    /// Records a phone event in the history.
    case phone(PhoneEvent)
}

/// A list that the recorder can make.
public enum Inventory: String, CaseIterable, Sendable {
    /// The sound cards with the formats that each really offers.
    case cards
    case lines
    /// The findings of the doctor, good and bad.
    case doctor
    case bin
}

extension RecorderMessage {
    public static let service = Service.recorder

    /// The names of all requests, the values of the key `command`.
    public static let names =
        [
            "status", "watch", "record", "stop", "play", "pause", "skip", "mark", "select", "filter", "gain", "volume",
            "pitch", "speed",
        ]
        + ["eject", "discard", "settle", "restore", "empty"] + Inventory.allCases.map(\.rawValue) + [
            "indicate", "light", "clock-set", "pairing-code", "phone",
        ]

    public init(_ members: [String: JSONValue]) throws(Refusal) {
        let keys = RequestKeys(members)
        switch members["command"]?.text {
        case "status": self = .status
        case "watch": self = .watch(levels: try keys.flag("levels") ?? true, peaks: try keys.flag("peaks") ?? false)
        case "record": self = .command(try keys.record())
        case "stop": self = .command(.stop)
        case "pause": self = .command(.pause)
        case "play": self = .command(.play(try keys.take()))
        case "skip": self = .command(.skip(seconds: try keys.seconds()))
        case "mark": self = .command(.mark(try keys.mark()))
        case "select": self = .command(.select(try keys.requiredTake()))
        case "eject": self = .command(.eject)
        case "settle": self = .command(.settle(stem: try keys.stem(), day: try keys.day()))
        case "restore": self = .command(.restore(stem: try keys.stem(), day: try keys.day()))
        case "empty": self = .command(.empty(stem: try keys.optionalStem()))
        case "discard": self = .command(.discard(stem: try keys.stem(), try keys.terms()))
        case "filter":
            self = .command(
                .filter(
                    lowPass: try keys.cutoff("low_pass_hz", allowsAutomatic: true),
                    slopeDBPerOctave: try keys.slope(),
                    highPass: try keys.cutoff("high_pass_hz", allowsAutomatic: false)))
        case "gain": self = .command(try keys.gain())
        case "volume": self = .command(.volume(try keys.volume()))
        case "pitch": self = .command(.pitch(cents: try keys.cents()))
        case "speed": self = .command(.speed(factor: try keys.factor(), expands: try keys.expands()))
        case "cards": self = .inventory(.cards)
        case "lines": self = .inventory(.lines)
        case "doctor": self = .inventory(.doctor)
        case "bin": self = .inventory(.bin)
        case "indicate": self = .indicate(try keys.uploadState(), damage: try keys.damage())
        case "light": self = .light(lamp: try keys.lamp())
        case "clock-set": self = .setClock(try keys.time())
        case "pairing-code": self = .pairingCode(isRight: try keys.required("right", "true or false", \.bool))
        case "phone": self = .phone(try keys.phoneEvent())
        default: throw Self.unknown(members["command"])
        }
    }

    public var members: [String: JSONValue] {
        switch self {
        case .status: ["command": .string("status")]
        case .watch(let levels, let peaks):
            [
                "command": .string("watch"), "levels": levels ? nil : .bool(false), "peaks": peaks ? .bool(true) : nil,
            ].compactMapValues(\.self)
        case .inventory(let inventory): ["command": .string(inventory.rawValue)]
        case .indicate(let state, let damage):
            state.members.merging(damage.map { ["damaged": .string($0)] } ?? [:]) { $1 }
        case .light(let lamp): ["command": .string("light"), "lamp": .string(lamp)]
        case .setClock(let time): ["command": .string("clock-set"), "time": .string(time.iso8601)]
        case .pairingCode(let isRight): ["command": .string("pairing-code"), "right": .bool(isRight)]
        case .phone(let event): event.members
        case .command(let command): command.members
        }
    }
}

extension Command {
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .record: return ["command": .string("record")]
        case .recordFrom(let time): return time.members.merging(["command": .string("record")]) { $1 }
        case .stop: return ["command": .string("stop")]
        case .pause: return ["command": .string("pause")]
        case .play(nil): return ["command": .string("play")]
        case .play(let take?): return ["command": .string("play"), "take": take.json]
        case .skip(let seconds): return ["command": .string("skip"), "seconds": .double(seconds)]
        case .mark(let mark): return mark.members
        case .select(let take): return ["command": .string("select"), "take": take.json]
        case .eject: return ["command": .string("eject")]
        case .discard(let stem, let terms):
            return ["command": .string("discard"), "take": .string(stem)].merging(terms.members) { $1 }
        case .settle(let stem, let day):
            var members: [String: JSONValue] = ["command": .string("settle"), "take": .string(stem)]
            members["day"] = day.map { .string($0) }
            return members
        case .restore(let stem, let day):
            var members: [String: JSONValue] = ["command": .string("restore"), "take": .string(stem)]
            members["day"] = day.map { .string($0) }
            return members
        case .empty(let stem):
            var members: [String: JSONValue] = ["command": .string("empty")]
            members["take"] = stem.map { .string($0) }
            return members
        case .volume(let volume): return ["command": .string("volume"), "volume": .double(volume)]
        case .pitch(let cents): return ["command": .string("pitch"), "cents": .integer(cents)]
        case .speed(let factor, let expands):
            return ["command": .string("speed"), "factor": .double(factor), "expand": .bool(expands)]
        case .gain(let gain, let agc):
            var members: [String: JSONValue] = ["command": .string("gain")]
            members["gain_db"] = gain?.json
            members["agc"] = agc.map { .bool($0) }
            return members
        case .filter(let lowPass, let slope, let highPass):
            var members: [String: JSONValue] = ["command": .string("filter")]
            members["low_pass_hz"] = lowPass?.json
            members["slope_db_per_octave"] = slope.map { .integer($0) }
            members["high_pass_hz"] = highPass?.json
            return members
        }
    }
}

extension PastTime {
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .ago(let time): ["ago_ms": .double(time.inSeconds * 1000)]
        case .raw(let nanoseconds): ["raw_ns": .integer(Int(nanoseconds))]
        }
    }
}

extension MarkRequest {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["command": .string("mark")]
        switch place {
        case .now: break
        case .frame(let frame): members["at_frame"] = .integer(Int(frame.count))
        case .past(let time): members.merge(time.members) { $1 }
        }
        members["take"] = take?.json
        members["note"] = content.note.map { .string($0) }
        members["end_frame"] = content.endFrame.map { .integer(Int($0.count)) }
        members["label"] = content.label.map { .string($0) }
        members["by"] = content.by.map { .string($0) }
        members["score"] = content.score.map { .double($0) }
        members["low_hz"] = content.lowHz.map { .double($0) }
        members["high_hz"] = content.highHz.map { .double($0) }
        return members
    }
}

extension DiscardTerms {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members["day"] = day.map { .string($0) }
        members["directory"] = directory.map { .string($0) }
        members["not_after_monotonic_ns"] = notAfter.map { .integer(Int($0.nanoseconds)) }
        if isFinal { members["now"] = .bool(true) }
        if let version {
            members["boot_id"] = .string(version.start.bootID)
            members["started_monotonic_ns"] = .integer(Int(version.start.startedMonotonicNs))
            members["revision"] = .integer(version.revision)
        }
        return members
    }
}

extension PhoneEvent {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["command": .string("phone"), "what": .string(what.rawValue)]
        members["phone"] = phone.map { .string($0) }
        members["by"] = by.map { .string($0) }
        members["keys"] = keys.map { .array($0.map { .string($0) }) }
        return members
    }
}

extension UploadState {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["command": .string("indicate"), "what": .string(name.rawValue)]
        if case .refused(let message) = self { members["message"] = .string(message) }
        return members
    }
}

extension GainSetting {
    fileprivate var json: JSONValue {
        switch self {
        case .keep: .string("keep")
        case .decibels(let decibels): .double(decibels)
        }
    }
}

extension Cutoff {
    fileprivate var json: JSONValue {
        switch self {
        case .automatic: .string("auto")
        case .off: .string("off")
        case .hertz(let hertz): .double(hertz)
        }
    }
}

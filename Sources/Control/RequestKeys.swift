import Takes
import Transport

extension Request.Message {
    /// Reads what an object asks for.
    init(_ members: [String: JSONValue]) throws(Refusal) {
        guard let name = members["command"] else {
            throw Refusal(.usage, "control: command is missing, allowed are \(Self.names.joined(separator: ", "))")
        }
        let keys = RequestKeys(members: members, command: name.text ?? "control")
        switch name.text {
        case "status": self = .status
        case "watch": self = .watch(peaks: try keys.peaks())
        case "record": self = .command(.record)
        case "stop": self = .command(.stop)
        case "pause": self = .command(.pause)
        case "play": self = .command(.play(try keys.take()))
        case "skip": self = .command(.skip(seconds: try keys.seconds()))
        case "mark": self = .command(.mark(note: try keys.note()))
        case "select": self = .command(.select(try keys.requiredTake()))
        case "eject": self = .command(.eject)
        case "discard": self = .command(.discard(stem: try keys.stem()))
        case "filter":
            self = .command(
                .filter(
                    lowPass: try keys.cutoff("low_pass_hz", allowsAutomatic: true),
                    slopeDBPerOctave: try keys.slope(),
                    highPass: try keys.cutoff("high_pass_hz", allowsAutomatic: false)))
        case "volume": self = .command(.volume(try keys.volume()))
        case "pitch": self = .command(.pitch(cents: try keys.cents()))
        case "speed": self = .command(.speed(factor: try keys.factor(), expands: try keys.expands()))
        case "cards": self = .inventory(.cards)
        case "lines": self = .inventory(.lines)
        case "doctor": self = .inventory(.doctor)
        case "indicate": self = .indicate(try keys.uploadState())
        case "light": self = .light(lamp: try keys.lamp())
        case "clock-set": self = .setClock(try keys.time())
        default:
            let allowed = Self.names.joined(separator: ", ")
            throw Refusal(.usage, "control: command: found \(name.excerpt), allowed are \(allowed)")
        }
    }

    /// The keys that ask for this.
    var members: [String: JSONValue] {
        switch self {
        case .status: ["command": .string("status")]
        case .watch(let peaks):
            peaks ? ["command": .string("watch"), "peaks": .bool(true)] : ["command": .string("watch")]
        case .inventory(let inventory): ["command": .string(inventory.rawValue)]
        case .indicate(let state): state.members
        case .light(let lamp): ["command": .string("light"), "lamp": .string(lamp)]
        case .setClock(let time): ["command": .string("clock-set"), "time": .string(time.iso8601)]
        case .command(let command): command.members
        }
    }
}

extension Command {
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .record: return ["command": .string("record")]
        case .stop: return ["command": .string("stop")]
        case .pause: return ["command": .string("pause")]
        case .play(nil): return ["command": .string("play")]
        case .play(let take?): return ["command": .string("play"), "take": take.json]
        case .skip(let seconds): return ["command": .string("skip"), "seconds": .double(seconds)]
        case .mark(nil): return ["command": .string("mark")]
        case .mark(let note?): return ["command": .string("mark"), "note": .string(note)]
        case .select(let take): return ["command": .string("select"), "take": take.json]
        case .eject: return ["command": .string("eject")]
        case .discard(let stem): return ["command": .string("discard"), "take": .string(stem)]
        case .volume(let volume): return ["command": .string("volume"), "volume": .double(volume)]
        case .pitch(let cents): return ["command": .string("pitch"), "cents": .integer(cents)]
        case .speed(let factor, let expands):
            return ["command": .string("speed"), "factor": .double(factor), "expand": .bool(expands)]
        case .filter(let lowPass, let slope, let highPass):
            var members: [String: JSONValue] = ["command": .string("filter")]
            members["low_pass_hz"] = lowPass?.json
            members["slope_db_per_octave"] = slope.map { .integer($0) }
            members["high_pass_hz"] = highPass?.json
            return members
        }
    }
}

extension UploadState {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["command": .string("indicate"), "what": .string(name.rawValue)]
        if case .refused(let message) = self { members["message"] = .string(message) }
        return members
    }
}

extension TakeReference {
    fileprivate var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .stem(let stem): .string(stem)
        case .last: .string("last")
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

/// The keys of a request, each read with what it allows.
private struct RequestKeys {
    let members: [String: JSONValue]
    let command: String

    /// A key that may be missing or null.
    private func optional<Value>(
        _ key: String, _ allowed: String, _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value? {
        guard let found = members[key], found != .null else { return nil }
        return try check(key, found, allowed, read)
    }

    private func required<Value>(
        _ key: String, _ allowed: String, _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value {
        guard let found = members[key] else {
            throw Refusal(.usage, "\(command): \(key) is missing, allowed is \(allowed)")
        }
        return try check(key, found, allowed, read)
    }

    private func check<Value>(
        _ key: String, _ found: JSONValue, _ allowed: String, _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value {
        guard let value = read(found) else {
            throw Refusal(.usage, "\(command): \(key): found \(found.excerpt), allowed is \(allowed)")
        }
        return value
    }

    private static let takes = "a take's stem, its number, or \"last\""

    private static func take(_ value: JSONValue) -> TakeReference? {
        if case .number = value { return value.integer.flatMap { $0 > 0 ? .number($0) : nil } }
        // A refusal repeats what was asked for: more than any stem has is not a take's.
        return value.text.flatMap { (1...100).contains($0.utf8.count) ? TakeReference($0) : nil }
    }

    func take() throws(Refusal) -> TakeReference? {
        try optional("take", Self.takes, Self.take)
    }

    func requiredTake() throws(Refusal) -> TakeReference {
        try required("take", Self.takes, Self.take)
    }

    func stem() throws(Refusal) -> String {
        try required("take", "a take's stem") { value in
            value.text.flatMap { TakeName(stem: $0, day: "") == nil ? nil : $0 }
        }
    }

    func seconds() throws(Refusal) -> Double {
        try required("seconds", "a number, negative to go back", \.double)
    }

    func note() throws(Refusal) -> String? {
        // Each change of a take writes all of its notes again.
        try optional("note", "a text of at most 1000 bytes") { value in
            value.text.flatMap { $0.utf8.count <= 1000 ? $0 : nil }
        }
    }

    func volume() throws(Refusal) -> Double {
        try required("volume", "a number from 0 to 1") { value in
            value.double.flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }

    func cents() throws(Refusal) -> Int {
        let range = Tuning.pitchRange
        return try required("cents", "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func factor() throws(Refusal) -> Double {
        try required("factor", "a number from 0.05 to 2") { value in
            value.double.flatMap { Tuning.speedRange.contains($0) ? $0 : nil }
        }
    }

    func peaks() throws(Refusal) -> Bool {
        try optional("peaks", "true or false", \.bool) ?? false
    }

    func expands() throws(Refusal) -> Bool {
        try optional("expand", "true or false", \.bool) ?? false
    }

    func slope() throws(Refusal) -> Int? {
        let allowed = FilterRequest.slopes.map { String($0) }.joined(separator: ", ")
        return try optional("slope_db_per_octave", "one of \(allowed)") { value in
            value.integer.flatMap { FilterRequest.slopes.contains($0) ? $0 : nil }
        }
    }

    /// A missing key keeps what is in force; null is off, as the status says it.
    func cutoff(_ key: String, allowsAutomatic: Bool) throws(Refusal) -> Cutoff? {
        guard let found = members[key] else { return nil }
        let allowed = "a frequency in Hz, " + (allowsAutomatic ? "\"auto\" or \"off\"" : "or \"off\"")
        return try check(key, found, allowed) { value in
            switch value {
            case .null, .string("off"): .off
            case .string("auto"): allowsAutomatic ? .automatic : nil
            default: value.double.flatMap { $0 > 0 ? .hertz($0) : nil }
            }
        }
    }

    func lamp() throws(Refusal) -> String {
        try required("lamp", "a lamp's name") { value in value.text.flatMap { $0.utf8.count <= 100 ? $0 : nil } }
    }

    func time() throws(Refusal) -> WallTime {
        try required("time", "a time such as \"2026-11-21T06:18:11Z\"") { value in
            value.text.flatMap { try? WallTime(reading: $0) }
        }
    }

    func uploadState() throws(Refusal) -> UploadState {
        let allowed = UploadState.Name.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let name = try required("what", "one of \(allowed)") { value in
            value.text.flatMap(UploadState.Name.init(rawValue:))
        }
        switch name {
        case .sending: return .sending
        case .idle: return .idle
        case .held: return .held
        case .safeToRemove: return .safeToRemove
        case .refused:
            // Each status carries the message of a fault.
            let message = try required("message", "a text of 1 to 1000 bytes") { value in
                value.text.flatMap { (1...1000).contains($0.utf8.count) ? $0 : nil }
            }
            return .refused(message: message)
        }
    }
}

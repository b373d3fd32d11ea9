import Takes
import Transport

extension RequestKeys {
    func stem() throws(Refusal) -> String {
        try required("take", "a take's stem") { value in
            value.text.flatMap { TakeName(stem: $0, day: "") == nil ? nil : $0 }
        }
    }

    func optionalStem() throws(Refusal) -> String? {
        try optional("take", "a take's stem") { value in
            value.text.flatMap { TakeName(stem: $0, day: "") == nil ? nil : $0 }
        }
    }

    /// The conditions for deleting a take.
    func terms() throws(Refusal) -> DiscardTerms {
        let notAfter = try optional("not_after_monotonic_ns", "a whole number", \.integer)
        return DiscardTerms(
            try version(), day: try day(),
            in: try optional("directory", "a path of at most 4096 bytes") { value in
                value.text.flatMap { $0.utf8.count <= 4096 ? $0 : nil }
            },
            notAfter: notAfter.map { Instant(nanoseconds: Int64($0)) },
            isFinal: try optional("now", "true or false", \.bool) ?? false)
    }

    /// The folder of a take's day.
    func day() throws(Refusal) -> String? { try optional("day", Self.dayForm, Self.day) }

    private static let dayForm = "a day such as \"2026-11-21\""
    private static func day(_ value: JSONValue) -> String? { value.text.flatMap { TakeName.isDay($0) ? $0 : nil } }

    /// The version that the take must still have, or nil without that condition.
    private func version() throws(Refusal) -> TakeVersion? {
        guard ["boot_id", "started_monotonic_ns", "revision"].contains(where: { members[$0] != nil }) else {
            return nil
        }
        return TakeVersion(
            day: try required("day", Self.dayForm, Self.day),
            start: RecordingStart(
                bootID: try required("boot_id", "a text of at most 100 bytes") { value in
                    value.text.flatMap { $0.utf8.count <= 100 ? $0 : nil }
                },
                startedMonotonicNs: Int64(try required("started_monotonic_ns", "a whole number", \.integer))),
            revision: try required("revision", "a whole number", \.integer))
    }

    func seconds() throws(Refusal) -> Double {
        try required("seconds", "a number, negative to go back", \.double)
    }

    func note() throws(Refusal) -> String? {
        // Each change of a take rewrites all of its notes.
        try optional("note", "a text of at most 1000 bytes without NUL") { value in
            value.text.flatMap { $0.utf8.count <= 1000 ? $0.typed : nil }
        }
    }

    /// A marker with its position.
    func mark() throws(Refusal) -> MarkRequest {
        var request = MarkRequest(of: try take(), content: Sidecar.Marker.Content(note: try note()))
        let (atFrame, time) = (try frame("at_frame"), try pastTime())
        guard atFrame == nil || time == nil else { throw severalPlaces("at_frame, ago_ms and raw_ns") }
        if let atFrame { request.place = .frame(atFrame) }
        if let time { request.place = .past(time) }
        request.content.endFrame = try frame("end_frame")
        request.content.label = try optional("label", "a text of 1 to 200 bytes", \.text)
        request.content.by = try optional("by", "a text of 1 to 200 bytes", \.text)
        request.content.score = try optional("score", "a number from 0 to 1", \.double)
        request.content.lowHz = try optional("low_hz", "a frequency from 0 to 10000000 Hz", \.double)
        request.content.highHz = try optional("high_hz", "a frequency from 0 to 10000000 Hz", \.double)
        if let problem = request.problem { throw Refusal(.usage, "mark: \(problem)") }
        return request
    }

    private func frame(_ key: String) throws(Refusal) -> TakeFrame? {
        try optional(key, "a frame from 0 to \(TakeFrame.last.count)", \.integer).map { TakeFrame(Int64($0)) }
    }

    /// Starts a take now or at an earlier time.
    func record() throws(Refusal) -> Command {
        guard let time = try pastTime() else { return .record }
        if let problem = time.problem { throw Refusal(.usage, "record: \(problem)") }
        return .recordFrom(time)
    }

    /// The time at which the sound was sampled, or nil if both keys are missing.
    private func pastTime() throws(Refusal) -> PastTime? {
        let ago = try optional("ago_ms", "a number of milliseconds from 0 to 86400000") { value in
            value.double.flatMap {
                (0...86_400_000).contains($0) ? Duration.nanoseconds(Int64(($0 * 1e6).rounded())) : nil
            }
        }
        let raw = try optional("raw_ns", "a time of CLOCK_MONOTONIC_RAW in nanoseconds", \.integer)
        guard ago == nil || raw == nil else { throw severalPlaces("ago_ms and raw_ns") }
        return ago.map { .ago($0) } ?? raw.map { .raw(nanoseconds: Int64($0)) }
    }

    private func severalPlaces(_ keys: String) -> Refusal {
        Refusal(.usage, "\(members["command"]?.text ?? ""): \(keys) say the same in several ways: give one of them")
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

    func flag(_ key: String) throws(Refusal) -> Bool? {
        try optional(key, "true or false", \.bool)
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

    /// A missing key keeps the current value. Null is off, as in the status.
    func cutoff(_ key: String, allowsAutomatic: Bool) throws(Refusal) -> Cutoff? {
        guard let found = members[key] else { return nil }
        let allowed = "a frequency in Hz, " + (allowsAutomatic ? "\"auto\" or \"off\"" : "or \"off\"")
        let reason = Refusal.Reason("cutoff-not-a-frequency", ["found": .text(found.excerpt)])
        return try check(key, found, allowed, reason: reason) { value in
            switch value {
            case .null, .string("off"): .off
            case .string("auto"): allowsAutomatic ? .automatic : nil
            default: value.double.flatMap { $0 > 0 ? .hertz($0) : nil }
            }
        }
    }

    /// A gain, automatic gain control, or both.
    func gain() throws(Refusal) -> Command {
        let gain = try optional("gain_db", "a number from -150 to 150, or \"keep\"") { value -> GainSetting? in
            if value == .string("keep") { return .keep }
            return value.double.flatMap { GainSetting.range.contains($0) ? .decibels($0) : nil }
        }
        let agc = try optional("agc", "true or false", \.bool)
        guard gain != nil || agc != nil else {
            throw Refusal(.usage, "gain: gain_db and agc are missing: one is needed")
        }
        return .gain(gain, agc: agc)
    }

    func phoneEvent() throws(Refusal) -> PhoneEvent {
        let kinds = PhoneEvent.What.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return PhoneEvent(
            try required("what", "one of \(kinds)") { $0.text.flatMap(PhoneEvent.What.init(rawValue:)) },
            phone: try phoneName("phone"), by: try phoneName("by"),
            keys: try optional("keys", "a list of names of settings, each of at most 100 bytes") { value -> [String]? in
                guard case .array(let list) = value else { return nil }
                let names = list.compactMap(\.text).filter { $0.utf8.count <= 100 }
                return names.count == list.count ? names : nil
            })
    }

    private func phoneName(_ key: String) throws(Refusal) -> String? {
        try optional(key, "a name of at most \(PhoneEvent.longestName) bytes without NUL") { value in
            value.text.flatMap { $0.utf8.count <= PhoneEvent.longestName ? $0.typed : nil }
        }
    }

    func lamp() throws(Refusal) -> String {
        try required("lamp", "a lamp's name") { value in value.text.flatMap { $0.utf8.count <= 100 ? $0 : nil } }
    }

    func time() throws(Refusal) -> WallTime {
        try required("time", Self.time) { value in
            value.text.flatMap { try? WallTime(reading: $0) }
        }
    }

    /// The report of damaged takes. A library that knows of none omits the key.
    func damage() throws(Refusal) -> String? {
        try optional("damaged", "a text of 1 to 1000 bytes") { value in
            value.text.flatMap { (1...1000).contains($0.utf8.count) ? $0 : nil }
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
        case .stickOffered: return .stickOffered
        case .refused:
            // Every status contains the message of a fault.
            let message = try required("message", "a text of 1 to 1000 bytes") { value in
                value.text.flatMap { (1...1000).contains($0.utf8.count) ? $0 : nil }
            }
            return .refused(message: message)
        }
    }
}

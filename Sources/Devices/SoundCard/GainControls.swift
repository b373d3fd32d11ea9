import Ring
import Takes

/// The mixer elements of a card that control its capture gain and its automatic gain control.
struct GainControls {
    private let name: String
    private let gain: (any MixerElement)?
    private let agc: (any MixerElement)?
    private let load: Loading

    /// Loads the active elements of the mixer.
    typealias Loading = () throws(SoundCardError) -> [any MixerElement]

    /// - Parameter name: ALSA's control name of the card, such as `hw:CARD=Mic`.
    init(of name: String, _ load: @escaping Loading) throws(SoundCardError) {
        self.name = name
        self.load = load
        let elements = try load()
        let controls = elements.map(\.control)
        gain = CaptureControl.gain(of: controls).map { elements[$0] }
        agc = CaptureControl.agc(of: controls).map { elements[$0] }
    }

    init(opening name: String) throws(SoundCardError) {
        try self.init(of: name) { () throws(SoundCardError) in try CardMixer(opening: name).elements() }
    }

    /// The gain now in force, and one sentence for each failure.
    struct Applied: Hashable {
        var gain = CardGain()
        var warnings: [String] = []
    }

    /// Sets the values that are not nil as far as possible, and reads both back.
    func apply(gainDB: Double?, agc isWanted: Bool?) -> Applied {
        var warnings: [String] = []
        func attempt(_ body: () throws(SoundCardError) -> Void) {
            do throws(SoundCardError) { try body() } catch { warnings.append(error.description) }
        }
        switch (gain, gainDB) {
        case (let gain?, let gainDB?): attempt { () throws(SoundCardError) in try set(gainDB, on: gain) }
        case (let gain?, nil): if gain.control.isCaptureOn == false { warnings.append(switchedOff(gain)) }
        case (nil, let gainDB?): warnings.append(missingGain(gainDB))
        case (nil, nil): break
        }
        switch (agc, isWanted) {
        case (let agc?, let isWanted?): attempt { () throws(SoundCardError) in try set(isWanted, on: agc) }
        case (nil, true?): warnings.append(missingAGC)
        case (_, nil), (nil, false?): break
        }
        var granted = CardGain()
        attempt { () throws(SoundCardError) in granted = try readBack(gainDB: gainDB, agc: isWanted) }
        if let gainDB, let difference = difference(from: gainDB, granted) { warnings.append(difference) }
        return Applied(gain: granted, warnings: warnings)
    }

    /// Sets the values that are not nil, and reads both back. If the card cannot set all of them, none is set.
    func set(gainDB: Double?, agc isWanted: Bool?) throws(GainError) -> CardGain {
        if let gainDB {
            guard let gain else { throw GainError(.noControl, missingGain(gainDB)) }
            if let range = GainScale(gain)?.range, !range.contains(gainDB) {
                throw GainError(
                    .outOfRange,
                    "capture: \(name): cannot set a gain of \(decibelText(gainDB)) dB: \(gain.control.name) has "
                        + "\(text(range)) dB: ask for a gain in this range")
            }
        }
        if isWanted == true, agc == nil { throw GainError(.noControl, missingAGC) }
        let granted: CardGain
        do throws(SoundCardError) {
            if let gain, let gainDB { try set(gainDB, on: gain) }
            if let agc, let isWanted { try set(isWanted, on: agc) }
            granted = try readBack(gainDB: gainDB, agc: isWanted)
        } catch {
            throw GainError(.failed, error.description, gain: try? readBack(gainDB: gainDB, agc: isWanted))
        }
        if let gainDB, let difference = difference(from: gainDB, granted) {
            throw GainError(.failed, difference, gain: granted)
        }
        if let agc, let isWanted, granted.agc != isWanted {
            let (wanted, kept) = isWanted ? ("on", "off") : ("off", "on")
            throw GainError(
                .failed, "capture: \(name): cannot switch \(agc.control.name) \(wanted): the card keeps it \(kept)",
                gain: granted)
        }
        return granted
    }

    /// The values now in force: those that were loaded, or after a change those of newly loaded elements.
    private func readBack(gainDB: Double?, agc isWanted: Bool?) throws(SoundCardError) -> CardGain {
        let isChanged = gain != nil && gainDB != nil || agc != nil && isWanted != nil
        return try (isChanged ? GainControls(of: name, load) : self).read()
    }

    private func read() throws(SoundCardError) -> CardGain {
        var found = CardGain()
        if let gain, let scale = GainScale(gain) {
            var hundredths = 0
            try check(name, "read the gain of \(gain.control.name)") { gain.readGain(&hundredths) }
            found.gainDB = Double(hundredths) / 100
            found.rangeDB = scale.range
        }
        if let agc {
            var isOn = false
            try check(name, "read \(agc.control.name)") { agc.readSwitch(&isOn) }
            found.agc = isOn
        }
        return found
    }

    private func set(_ gainDB: Double, on element: any MixerElement) throws(SoundCardError) {
        let control = element.control
        let operation = "set a gain of \(decibelText(gainDB)) dB on \(control.name)"
        guard let scale = GainScale(element) else {
            throw SoundCardError(name, operation, reason: "it has no scale in dB: set it with alsamixer")
        }
        try check(name, operation) { element.setGain(step: scale.step(nearest: gainDB)) }
        if control.isCaptureOn == false {
            try check(name, "switch \(control.name) on") { element.switchCaptureOn() }
        }
    }

    private func set(_ isOn: Bool, on element: any MixerElement) throws(SoundCardError) {
        try check(name, "switch \(element.control.name) \(isOn ? "on" : "off")") { element.setSwitch(isOn) }
    }
}

// MARK: - Sentences

extension GainControls {
    private func missingGain(_ gainDB: Double) -> String {
        "capture: \(name): cannot set a gain of \(decibelText(gainDB)) dB: the card has no capture gain: set the level at the "
            + "microphone or its preamplifier"
    }

    private var missingAGC: String {
        "capture: \(name): cannot switch automatic gain control on: the card lacks it"
    }

    private func switchedOff(_ element: any MixerElement) -> String {
        "capture: \(name): \(element.control.name) is switched off on the card: it may record silence "
            + "(set gain_db, or switch it on with alsamixer)"
    }

    /// The sentence for a gain that differs from the requested one, or nil if they agree within one step of the control
    /// or 1 dB.
    private func difference(from gainDB: Double, _ granted: CardGain) -> String? {
        guard let gain, let found = granted.gainDB, let range = granted.rangeDB,
            abs(gainDB - found) > Swift.max(1, range.step ?? 0)
        else { return nil }
        return "capture: \(name): asked \(gain.control.name) for \(decibelText(gainDB)) dB, got "
            + "\(decibelText(found)) dB (it has \(text(range)) dB)"
    }

    private func text(_ range: GainRange) -> String { "\(decibelText(range.min)) to \(decibelText(range.max))" }
}

import CALSA

/// A card's mixer, for the gain and the automatic gain control of what is recorded. Closed when it goes out of scope.
@safe struct CardMixer: ~Copyable {
    /// What is set and what is so.
    struct Levels: Hashable {
        /// The capture gain; nil: the card has no such control.
        var gainDB: Double?
        /// Whether automatic gain control is on; nil: the card has none.
        var agc: Bool?
        /// What could not be had, a sentence each.
        var warnings: [String] = []
    }

    private let handle: OpaquePointer
    private let name: String

    /// Opens the mixer of the card with ALSA's control name `name`, such as `hw:CARD=Mic`.
    init(opening name: String) throws(SoundCardError) {
        unsafe handle = try unsafe Self.load(name)
        self.name = name
    }

    private static func load(_ name: String) throws(SoundCardError) -> OpaquePointer {
        var opened: OpaquePointer?
        try check(name, "open its mixer") { unsafe snd_mixer_open(&opened, 0) }
        let mixer = unsafe opened!
        do throws(SoundCardError) {
            try check(name, "open its mixer") { unsafe snd_mixer_attach(mixer, name) }
            try check(name, "read its mixer") { unsafe snd_mixer_selem_register(mixer, nil, nil) }
            try check(name, "read its mixer") { unsafe snd_mixer_load(mixer) }
        } catch {
            unsafe snd_mixer_close(mixer)
            throw error
        }
        return unsafe mixer
    }

    deinit {
        unsafe snd_mixer_close(handle)
    }

    /// Sets what is not nil, and reads both back.
    func apply(gainDB: Double?, agc: Bool?) -> Levels {
        let elements = unsafe elements()
        let controls = unsafe elements.map { unsafe control($0) }
        var levels = Levels()
        if let index = CaptureControl.gain(of: controls) {
            unsafe apply(gainDB, to: elements[index], controls[index], &levels)
        } else if let gainDB {
            levels.warnings.append(
                "capture: \(name): cannot set a gain of \(text(gainDB)) dB: the card has no capture gain")
        }
        if let index = CaptureControl.agc(of: controls) {
            unsafe apply(agc: agc, to: elements[index], controls[index], &levels)
        } else if agc == true {
            levels.warnings.append(
                "capture: \(name): cannot switch automatic gain control on: the card has none")
        }
        return levels
    }

    // MARK: Elements

    private func elements() -> [OpaquePointer] {
        var elements: [OpaquePointer] = unsafe []
        var next = unsafe snd_mixer_first_elem(handle)
        while let element = unsafe next {
            if unsafe snd_mixer_selem_is_active(element) != 0 { unsafe elements.append(element) }
            unsafe next = unsafe snd_mixer_elem_next(element)
        }
        return unsafe elements
    }

    private func control(_ element: OpaquePointer) -> CaptureControl {
        let hasCaptureSwitch = unsafe snd_mixer_selem_has_capture_switch(element) != 0
        let hasPlaybackSwitch = unsafe snd_mixer_selem_has_playback_switch(element) != 0
        var isOn: Int32 = 0
        if hasCaptureSwitch, let channel = unsafe channel(of: element) {
            unsafe snd_mixer_selem_get_capture_switch(element, channel, &isOn)
        }
        return unsafe CaptureControl(
            name: String(cString: snd_mixer_selem_get_name(element)),
            hasVolume: snd_mixer_selem_has_capture_volume(element) != 0,
            sharesVolume: snd_mixer_selem_has_common_volume(element) != 0,
            hasSwitch: hasCaptureSwitch || hasPlaybackSwitch, isCaptureOn: hasCaptureSwitch ? isOn != 0 : nil)
    }

    /// The first capture channel of an element.
    private func channel(of element: OpaquePointer) -> snd_mixer_selem_channel_id_t? {
        for number in 0...SND_MIXER_SCHN_LAST.rawValue {
            let channel = snd_mixer_selem_channel_id_t(rawValue: number)
            if unsafe snd_mixer_selem_has_capture_channel(element, channel) != 0 { return channel }
        }
        return nil
    }

    // MARK: Gain

    private func apply(_ gainDB: Double?, to element: OpaquePointer, _ control: CaptureControl, _ levels: inout Levels)
    {
        if let gainDB {
            do throws(SoundCardError) {
                let hundredths = Int((gainDB * 100).rounded())
                try check(name, "set a gain of \(text(gainDB)) dB on \(control.name)") {
                    unsafe snd_mixer_selem_set_capture_dB_all(element, hundredths, 0)
                }
                if control.isCaptureOn == false {
                    try check(name, "switch \(control.name) on") {
                        unsafe snd_mixer_selem_set_capture_switch_all(element, 1)
                    }
                }
            } catch {
                levels.warnings.append(error.description)
            }
        } else if control.isCaptureOn == false {
            levels.warnings.append(
                "capture: \(name): \(control.name) is switched off on the card: it may record silence "
                    + "(set gain_db, or switch it on with alsamixer)")
        }
        var hundredths = 0
        guard let channel = unsafe channel(of: element),
            unsafe snd_mixer_selem_get_capture_dB(element, channel, &hundredths) == 0
        else { return }
        levels.gainDB = Double(hundredths) / 100
        var least = 0
        var most = 0
        // A step of the control is no surprise.
        if let gainDB, abs(gainDB - Double(hundredths) / 100) > 1,
            unsafe snd_mixer_selem_get_capture_dB_range(element, &least, &most) == 0
        {
            levels.warnings.append(
                "capture: \(name): asked \(control.name) for \(text(gainDB)) dB, got \(text(Double(hundredths) / 100)) dB "
                    + "(it has \(text(Double(least) / 100)) to \(text(Double(most) / 100)) dB)")
        }
    }

    // MARK: Automatic gain control

    private func apply(agc: Bool?, to element: OpaquePointer, _ control: CaptureControl, _ levels: inout Levels) {
        // USB's "Auto Gain Control" is a playback switch to ALSA, because its name lacks the word capture.
        let captures = unsafe snd_mixer_selem_has_capture_switch(element) != 0
        if let agc {
            do throws(SoundCardError) {
                try check(name, "switch \(control.name) \(agc ? "on" : "off")") {
                    captures
                        ? unsafe snd_mixer_selem_set_capture_switch_all(element, agc ? 1 : 0)
                        : unsafe snd_mixer_selem_set_playback_switch_all(element, agc ? 1 : 0)
                }
            } catch {
                levels.warnings.append(error.description)
            }
        }
        var isOn: Int32 = 0
        let status =
            captures
            ? unsafe snd_mixer_selem_get_capture_switch(element, SND_MIXER_SCHN_FRONT_LEFT, &isOn)
            : unsafe snd_mixer_selem_get_playback_switch(element, SND_MIXER_SCHN_FRONT_LEFT, &isOn)
        if status == 0 { levels.agc = isOn != 0 }
    }
}

/// A number of decibels without needless zeros.
private func text(_ decibels: Double) -> String {
    decibels == decibels.rounded() ? "\(Int(decibels))" : "\(decibels)"
}

import CALSA

/// One element of a card's mixer. Its values are read once, when the mixer is loaded; the effect of a change is visible
/// only in an element that is loaded later. Each call returns ALSA's status, which is negative on failure.
protocol MixerElement {
    var control: CaptureControl { get }
    /// Reads the capture volume, in hundredths of a dB.
    func readGain(_ hundredths: inout Int) -> Int32
    /// The lowest and the highest step of the capture volume.
    func readSteps(_ least: inout Int, _ most: inout Int) -> Int32
    /// Converts a step of the capture volume to hundredths of a dB, without asking the device.
    func readGain(ofStep step: Int, _ hundredths: inout Int) -> Int32
    func setGain(step: Int) -> Int32
    /// Switches the capture on for all channels.
    func switchCaptureOn() -> Int32
    func readSwitch(_ isOn: inout Bool) -> Int32
    func setSwitch(_ isOn: Bool) -> Int32
}

@safe struct ALSAMixerElement: MixerElement {
    private let handle: OpaquePointer
    /// Keeps the mixer open, which owns the handle.
    private let mixer: CardMixer
    let control: CaptureControl

    init(_ handle: OpaquePointer, of mixer: CardMixer) {
        unsafe self.handle = handle
        self.mixer = mixer
        let hasCaptureSwitch = unsafe snd_mixer_selem_has_capture_switch(handle) != 0
        let hasPlaybackSwitch = unsafe snd_mixer_selem_has_playback_switch(handle) != 0
        var isOn: Int32 = 0
        if hasCaptureSwitch, let channel = unsafe Self.channel(of: handle) {
            unsafe snd_mixer_selem_get_capture_switch(handle, channel, &isOn)
        }
        control = unsafe CaptureControl(
            name: String(cString: snd_mixer_selem_get_name(handle)),
            hasVolume: snd_mixer_selem_has_capture_volume(handle) != 0,
            sharesVolume: snd_mixer_selem_has_common_volume(handle) != 0,
            hasSwitch: hasCaptureSwitch || hasPlaybackSwitch, isCaptureOn: hasCaptureSwitch ? isOn != 0 : nil)
    }

    private static func channel(of handle: OpaquePointer) -> snd_mixer_selem_channel_id_t? {
        for number in 0...SND_MIXER_SCHN_LAST.rawValue {
            let channel = snd_mixer_selem_channel_id_t(rawValue: number)
            if unsafe snd_mixer_selem_has_capture_channel(handle, channel) != 0 { return channel }
        }
        return nil
    }

    func readGain(_ hundredths: inout Int) -> Int32 {
        let channel = unsafe Self.channel(of: handle) ?? SND_MIXER_SCHN_FRONT_LEFT
        return unsafe snd_mixer_selem_get_capture_dB(handle, channel, &hundredths)
    }

    func readSteps(_ least: inout Int, _ most: inout Int) -> Int32 {
        unsafe snd_mixer_selem_get_capture_volume_range(handle, &least, &most)
    }

    func readGain(ofStep step: Int, _ hundredths: inout Int) -> Int32 {
        unsafe snd_mixer_selem_ask_capture_vol_dB(handle, step, &hundredths)
    }

    func setGain(step: Int) -> Int32 {
        unsafe snd_mixer_selem_set_capture_volume_all(handle, step)
    }

    func switchCaptureOn() -> Int32 {
        unsafe snd_mixer_selem_set_capture_switch_all(handle, 1)
    }

    /// Whether the switch belongs to the capture direction. ALSA treats USB's "Auto Gain Control" as a playback switch,
    /// because its name lacks the word capture.
    private var switchesCapture: Bool { unsafe snd_mixer_selem_has_capture_switch(handle) != 0 }

    func readSwitch(_ isOn: inout Bool) -> Int32 {
        var value: Int32 = 0
        let status =
            switchesCapture
            ? unsafe snd_mixer_selem_get_capture_switch(handle, SND_MIXER_SCHN_FRONT_LEFT, &value)
            : unsafe snd_mixer_selem_get_playback_switch(handle, SND_MIXER_SCHN_FRONT_LEFT, &value)
        isOn = value != 0
        return status
    }

    func setSwitch(_ isOn: Bool) -> Int32 {
        switchesCapture
            ? unsafe snd_mixer_selem_set_capture_switch_all(handle, isOn ? 1 : 0)
            : unsafe snd_mixer_selem_set_playback_switch_all(handle, isOn ? 1 : 0)
    }
}

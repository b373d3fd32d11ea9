import CALSA

/// One element of a card's mixer, which is read once: what a card made of a value that was set, an element that is loaded after
/// that has. Each call returns ALSA's status: negative if it failed.
protocol MixerElement {
    /// What it is.
    var control: CaptureControl { get }
    /// Reads the capture volume, in hundredths of a dB.
    func readGain(_ hundredths: inout Int) -> Int32
    /// The least and the greatest step of the capture volume.
    func readSteps(_ least: inout Int, _ most: inout Int) -> Int32
    /// What a step of the capture volume is, in hundredths of a dB. Asks no device.
    func readGain(ofStep step: Int, _ hundredths: inout Int) -> Int32
    /// Sets the capture volume of all channels.
    func setGain(step: Int) -> Int32
    /// Switches all channels of the capture on.
    func switchCaptureOn() -> Int32
    /// Reads the switch of an automatic gain control.
    func readSwitch(_ isOn: inout Bool) -> Int32
    /// Sets the switch of an automatic gain control.
    func setSwitch(_ isOn: Bool) -> Int32
}

/// An element of an open mixer.
@safe struct ALSAMixerElement: MixerElement {
    private let handle: OpaquePointer
    /// The handle is the mixer's.
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

    /// The first capture channel of an element.
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

    /// Whether the switch belongs to the capture. USB's "Auto Gain Control" is a playback switch to ALSA, because its name lacks
    /// the word capture.
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

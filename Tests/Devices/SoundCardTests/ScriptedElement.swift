import Glibc

@testable import SoundCard

/// A card with a mixer whose calls follow a test's script.
final class ScriptedMixer {
    /// The steps of the capture volume in hundredths of a dB, or nil if it has no scale.
    var scale: [Int]? = stride(from: -2000, through: 2000, by: 100).map(\.self)
    /// The number of the first step.
    var least = 0
    var step = 20
    var isAGCOn = true
    var isCaptureOn: Bool?
    var hasGain = true
    var hasAGC = true
    /// The results of the next calls. Later calls succeed.
    var results: [String: [Int32]] = [:]
    /// Whether the mixer accepts new values but keeps the old ones.
    var isStuck = false
    /// The values that were set.
    private(set) var trace: [String] = []
    private(set) var loads = 0

    func controls() throws(SoundCardError) -> GainControls {
        try GainControls(of: "hw:CARD=Mic") { () throws(SoundCardError) in
            self.loads += 1
            try check("hw:CARD=Mic", "open its mixer") { self.result(of: "load") }
            return (self.hasGain ? [ScriptedElement(mixer: self, isAGC: false)] : [])
                + (self.hasAGC ? [ScriptedElement(mixer: self, isAGC: true)] : [])
        }
    }

    fileprivate func result(of call: String) -> Int32 {
        guard let result = results[call]?.first else { return 0 }
        results[call]?.removeFirst()
        return result
    }

    fileprivate func set(_ what: String, _ call: String, _ body: () -> Void) -> Int32 {
        trace.append(what)
        let status = result(of: call)
        if status >= 0, !isStuck { body() }
        return status
    }
}

/// An element with the values of the time when it was loaded, like ALSA's elements.
private struct ScriptedElement: MixerElement {
    let mixer: ScriptedMixer
    let control: CaptureControl
    private let step: Int
    private let isOn: Bool

    init(mixer: ScriptedMixer, isAGC: Bool) {
        self.mixer = mixer
        control =
            isAGC
            ? CaptureControl(name: "Auto Gain Control", hasSwitch: true)
            : CaptureControl(name: "Mic", hasVolume: true, isCaptureOn: mixer.isCaptureOn)
        step = mixer.step
        isOn = mixer.isAGCOn
    }

    func readGain(_ hundredths: inout Int) -> Int32 {
        if let scale = mixer.scale { hundredths = scale[step - mixer.least] }
        return mixer.result(of: "read gain")
    }

    func readSteps(_ least: inout Int, _ most: inout Int) -> Int32 {
        (least, most) = (mixer.least, mixer.least + (mixer.scale?.count ?? 1) - 1)
        return 0
    }

    func readGain(ofStep step: Int, _ hundredths: inout Int) -> Int32 {
        guard let scale = mixer.scale else { return -EINVAL }
        hundredths = scale[step - mixer.least]
        return 0
    }

    func setGain(step: Int) -> Int32 { mixer.set("gain \(step)", "set gain") { mixer.step = step } }
    func switchCaptureOn() -> Int32 { mixer.set("capture on", "switch on") { mixer.isCaptureOn = true } }
    func readSwitch(_ isOn: inout Bool) -> Int32 {
        isOn = self.isOn
        return mixer.result(of: "read switch")
    }
    func setSwitch(_ isOn: Bool) -> Int32 { mixer.set("agc \(isOn)", "set switch") { mixer.isAGCOn = isOn } }
}

import Testing

@testable import SoundCard

struct CaptureControlTests {
    @Test func `the gain is the one that is on, is for capture alone, and has the likeliest name`() {
        let boost = CaptureControl(name: "Front Mic Boost", hasVolume: true, sharesVolume: true)
        let line = CaptureControl(name: "Line", hasVolume: true, isCaptureOn: true)
        let capture = CaptureControl(name: "Capture", hasVolume: true, isCaptureOn: true)
        let mic = CaptureControl(name: "Mic", hasVolume: true, isCaptureOn: false)
        let speaker = CaptureControl(name: "Speaker")
        #expect(CaptureControl.gain(of: [speaker, boost, line, capture, mic]) == 3)
        #expect(CaptureControl.gain(of: [speaker, boost, line, mic]) == 2)
        #expect(CaptureControl.gain(of: [speaker, boost, mic]) == 1)
        #expect(CaptureControl.gain(of: [speaker, mic]) == 1)
        #expect(CaptureControl.gain(of: [capture, capture]) == 0)
        #expect(CaptureControl.gain(of: [speaker]) == nil)
    }

    @Test func `automatic gain control goes by its name and has a switch`() {
        let mic = CaptureControl(name: "Mic", hasVolume: true, hasSwitch: true)
        for name in ["Auto Gain Control", "Mic Auto Gain Control", "AGC", "Mic AGC"] {
            #expect(CaptureControl.agc(of: [mic, CaptureControl(name: name, hasSwitch: true)]) == 1)
        }
        #expect(CaptureControl.agc(of: [mic, CaptureControl(name: "AGC")]) == nil)
        #expect(CaptureControl.agc(of: [mic, CaptureControl(name: "Agcelerator", hasSwitch: true)]) == nil)
        #expect(CaptureControl.gain(of: [CaptureControl(name: "AGC", hasVolume: true, hasSwitch: true)]) == nil)
    }
}

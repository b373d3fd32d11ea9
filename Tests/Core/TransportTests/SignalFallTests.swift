import Testing
import Transport

@Suite struct SignalFallTests {
    @Test func `a fall says by how much, when, on which channels, and what helps`() {
        let fall = SignalFall(decibels: 51, when: "at 06:18", channels: [1, 3])
        #expect(
            fall.complaint
                == "the signal fell by 51 dB at 06:18 on channel 1, 3: check the microphone's plug and cable")
        #expect(SignalFall.isComplaint("signal: card:Mic: \(fall.complaint)"))
        #expect(!SignalFall.isComplaint("signal: card:Mic: clipped on channel 2: turn the gain down"))
    }
}

import Testing

@testable import Playback

@Suite struct FaderTests {
    @Test func `a ramp begins and ends where it should, without a step`() {
        var fader = Fader(volume: 0.8)
        #expect(fader.volume(at: 7) == 0.8)
        fader.ramp(to: 0, at: 100, length: 40)
        #expect(fader.volume(at: 99) == 0.8 && fader.volume(at: 100) == 0.8)
        #expect(fader.volume(at: 120) == 0.4)
        #expect(fader.volume(at: 140) == 0 && fader.volume(at: 1000) == 0)
        let steps = (99..<141).map { fader.volume(at: $0) - fader.volume(at: $0 + 1) }
        #expect(steps.allSatisfy { $0 >= 0 && $0 < 0.8 * 1.5 / 40 + 1e-9 })
    }

    @Test func `a ramp within a ramp goes on from where that is`() {
        var fader = Fader(volume: 1)
        fader.ramp(to: 0, at: 0, length: 100)
        let middle = fader.volume(at: 30)
        fader.ramp(to: 1, at: 30, length: 10)
        #expect(fader.volume(at: 30) == middle)
        #expect(fader.volume(at: 40) == 1)
    }

    @Test func `only a volume of exactly 1 leaves samples as they are`() {
        var fader = Fader(volume: 1)
        #expect(fader.isTransparent(from: 0))
        fader.ramp(to: 0.5, at: 10, length: 5)
        #expect(!fader.isTransparent(from: 0))
        fader.ramp(to: 1, at: 20, length: 5)
        #expect(!fader.isTransparent(from: 20))
        #expect(!fader.isTransparent(from: 24))
        #expect(fader.isTransparent(from: 25))
    }
}

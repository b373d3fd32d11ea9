import Testing

@testable import Spectra

@Suite struct DecibelsTests {
    private func value(_ power: Float) -> Int { Int(Decibels.values(of: SIMD4(power, 0, 1, power))[0]) }

    @Test func `each power has the value of its decibels, rounded`() {
        for step in 0..<26_000 {
            let power = Definition.power(ofDecibels: -205 + Double(step) / 100)
            let wanted = Definition.value(Double(Float(power)))
            #expect(abs(Double(value(Float(power))) - wanted) < 0.53, "\(Definition.decibels(power)) dB")
        }
    }

    @Test func `the four values belong to the four powers`() {
        #expect(Decibels.values(of: SIMD4(1, 0.25, 1e-10, 4)) == SIMD4(200, 194, 100, 206))
    }

    @Test func `silence has the value 0, and what is no number the value 255`() {
        #expect([0, .leastNonzeroMagnitude, 1e-21].map(value) == [0, 0, 0])
        #expect([Float.infinity, .nan, -.nan, .greatestFiniteMagnitude].map(value) == [255, 255, 255, 255])
    }
}

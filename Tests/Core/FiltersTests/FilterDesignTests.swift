import Filters
import Takes
import Testing

@Suite struct FilterDesignTests {
    private func failure(low: Double?, high: Double?, slope: Int = 24, rateHz: Int = 48000) -> String? {
        do {
            _ = try FilterDesign(lowPassHz: low, highPassHz: high, slopeDBPerOctave: slope, rateHz: rateHz)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a cutoff out of range names the range for the rate`() {
        #expect(
            failure(low: 30000, high: nil) == "filter: low-pass 30000 Hz: out of range at 48000 Hz: 20 to 21600 Hz")
        #expect(
            failure(low: nil, high: 19.5, rateHz: 11025)
                == "filter: high-pass 19.5 Hz: out of range at 11025 Hz: 20 to 4961.25 Hz")
        #expect(failure(low: .nan, high: nil) == "filter: low-pass nan Hz: out of range at 48000 Hz: 20 to 21600 Hz")
        #expect(failure(low: nil, high: .infinity) != nil)
    }

    @Test func `both ends of the range are allowed`() {
        for rate in [8000, 11025, 22050, 44100, 48000, 88200, 96000, 176_400, 192_000, 384_000] {
            #expect(failure(low: 20, high: nil, rateHz: rate) == nil)
            #expect(failure(low: 0.45 * Double(rate), high: nil, rateHz: rate) == nil)
            #expect(failure(low: 0.4501 * Double(rate), high: nil, rateHz: rate) != nil)
        }
    }

    @Test func `the high-pass lies below the low-pass`() {
        #expect(
            failure(low: 8000, high: 8000) == "filter: high-pass 8000 Hz: not below the low-pass at 8000 Hz")
        #expect(failure(low: 8000, high: 7999) == nil)
    }

    @Test func `only four slopes exist`() {
        #expect(failure(low: 8000, high: nil, slope: 13) == "filter: slope 13 dB per octave: not one of 12, 24, 36, 48")
        for slope in FilterRequest.slopes { #expect(failure(low: 8000, high: nil, slope: slope) == nil) }
    }

    @Test func `automatic is 0.45 of the rate, and no high-pass`() throws {
        let design = try FilterDesign(FilterRequest(lowPass: .automatic, highPass: .automatic), rateHz: 44100)
        #expect(design.lowPassHz == 19845)
        #expect(design.highPassHz == nil)
        #expect(design.slopeDBPerOctave == 24)
    }

    @Test func `a request in hertz is taken as it is`() throws {
        let request = FilterRequest(lowPass: .hertz(9000), slopeDBPerOctave: 48, highPass: .hertz(80))
        let design = try FilterDesign(request, rateHz: 96000)
        #expect(
            design == (try FilterDesign(lowPassHz: 9000, highPassHz: 80, slopeDBPerOctave: 48, rateHz: 96000)))
    }

    @Test func `off is off`() throws {
        let design = try FilterDesign(FilterRequest(lowPass: .off, highPass: .off), rateHz: 48000)
        #expect(design.isOff)
        #expect(design == FilterDesign.off(rateHz: 48000))
        #expect(design.gainDB(atHz: 10) == 0)
    }

    @Test func `a band's gain is the sum of its filters'`() throws {
        let design = try FilterDesign(lowPassHz: 8000, highPassHz: 100, slopeDBPerOctave: 48, rateHz: 48000)
        #expect(abs(design.gainDB(atHz: 100) + 3.0103) < 1e-4)
        #expect(abs(design.gainDB(atHz: 8000) + 3.0103) < 1e-4)
        #expect(abs(design.gainDB(atHz: 1000)) < 1e-4)
        #expect(abs(design.gainDB(atHz: 50) + 48.2) < 0.2)
    }
}

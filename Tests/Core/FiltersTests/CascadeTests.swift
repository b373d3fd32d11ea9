import Filters
import Testing

@Suite struct CascadeTests {
    private func design(_ reference: ReferenceCases.Case) throws -> FilterDesign {
        let low = reference.btype == "lowpass" ? reference.cutoffHz : nil
        let high = reference.btype == "highpass" ? reference.cutoffHz : nil
        return try FilterDesign(
            lowPassHz: low, highPassHz: high, slopeDBPerOctave: reference.order * 6, rateHz: reference.rateHz)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 32])
    func `every channel answers as SciPy's sosfilt does`(channels: Int) throws {
        let references = try ReferenceCases.load()
        #expect(references.cases.count == 112)
        for reference in references.cases {
            var cascade = Cascade(try design(reference), channels: channels)
            // Each channel has its own scale, so that the test detects swapped channels.
            var samples = references.input.flatMap { x in (0..<channels).map { x * Double($0 + 1) } }
            var span = samples.mutableSpan
            cascade.process(&span)
            var worst = 0.0
            for frame in reference.output.indices {
                for channel in 0..<channels {
                    let scale = Double(channel + 1)
                    let error = abs(samples[frame * channels + channel] / scale - reference.output[frame])
                    worst = max(worst, error)
                }
            }
            let (kind, order, rate) = (reference.btype, reference.order, reference.rateHz)
            #expect(worst < 1e-9, "\(kind) of order \(order), \(reference.cutoffHz) Hz at \(rate)")
        }
    }

    @Test func `a design's gain is SciPy's`() throws {
        for reference in try ReferenceCases.load().cases {
            let design = try design(reference)
            for pair in reference.gainDB {
                #expect(abs(design.gainDB(atHz: pair[0]) - pair[1]) < 1e-9 * max(1, abs(pair[1])), "\(reference)")
            }
        }
    }

    @Test func `blocks of any length give the same samples to the last bit`() throws {
        let design = try FilterDesign(lowPassHz: 3000, highPassHz: 100, slopeDBPerOctave: 48, rateHz: 48000)
        let channels = 3
        let input = Noise.samples(1000 * channels)
        var whole = input
        var span = whole.mutableSpan
        var atOnce = Cascade(design, channels: channels)
        atOnce.process(&span)
        var cascade = Cascade(design, channels: channels)
        var pieces: [Double] = []
        var first = 0
        for frameCount in [1, 2, 3, 0, 500, 7, 487] {
            var piece = Array(input[first * channels..<(first + frameCount) * channels])
            var span = piece.mutableSpan
            cascade.process(&span)
            pieces += piece
            first += frameCount
        }
        #expect(pieces == whole)
    }

    @Test func `the sections' own response is the closed form's`() throws {
        for kind in [FilterKind.lowPass, .highPass] {
            for order in [2, 4, 6, 8] {
                let filter = Butterworth(kind, order: order, cutoffHz: 1000, rateHz: 48000)
                #expect(abs(filter.gainDB(atHz: 1000) + 3.0103) < 1e-5)
                #expect(filter.sections.count == order / 2)
                // At 0 Hz, z = 1; at half the rate, z = −1.
                let atZero = filter.sections.reduce(1) { $0 * ($1.b0 + $1.b1 + $1.b2) / (1 + $1.a1 + $1.a2) }
                let atHalf = filter.sections.reduce(1) { $0 * ($1.b0 - $1.b1 + $1.b2) / (1 - $1.a1 + $1.a2) }
                #expect(abs(atZero - (kind == .lowPass ? 1 : 0)) < 1e-9)
                #expect(abs(atHalf - (kind == .lowPass ? 0 : 1)) < 1e-9)
            }
        }
    }
}

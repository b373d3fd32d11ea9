import Filters
import SeededRandom
import Takes
import Testing

/// The largest absolute value of a signal, of its slope, and of its curvature (second difference), per frame.
private struct Smoothness {
    var size: Double
    var slope: Double
    var curvature: Double

    init(_ signal: some Collection<Double>) {
        let values = Array(signal)
        let slopes: [Double] = zip(values, values.dropFirst()).map { $1 - $0 }
        let curvatures: [Double] = zip(slopes, slopes.dropFirst()).map { $1 - $0 }
        size = values.map(abs).max()!
        slope = slopes.map(abs).max()!
        curvature = curvatures.map(abs).max()!
    }
}

@Suite struct CrossFadeTests {
    static let rate = 48000
    private static let fadeFrames = 1440.0

    private static func request(low: Double? = nil, high: Double? = nil, slope: Int = 24) -> FilterRequest {
        FilterRequest(
            lowPass: low.map(Cutoff.hertz) ?? .off, slopeDBPerOctave: slope, highPass: high.map(Cutoff.hertz) ?? .off)
    }

    private func design(low: Double? = nil, high: Double? = nil, slope: Int = 24) throws -> FilterDesign {
        try FilterDesign(Self.request(low: low, high: high, slope: slope), rateHz: Self.rate)
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var from: FilterRequest
        var to: FilterRequest
        var before: FilterDesign { get throws { try FilterDesign(from, rateHz: rate) } }
        var after: FilterDesign { get throws { try FilterDesign(to, rateHz: rate) } }

        init(_ description: String, from: FilterRequest, to: FilterRequest) {
            testDescription = description
            self.from = from
            self.to = to
        }
    }

    static let changes = [
        Change("low-pass to low-pass", from: request(low: 2000), to: request(low: 9000)),
        Change("low-pass to a lower one", from: request(low: 9000), to: request(low: 300)),
        Change("off to on", from: request(), to: request(low: 1500)),
        Change("on to off", from: request(low: 1500), to: request()),
        Change("slope", from: request(low: 3000, slope: 12), to: request(low: 3000, slope: 48)),
        Change("high-pass", from: request(low: 9000, high: 20), to: request(low: 9000, high: 400)),
        Change("high-pass off", from: request(low: 9000, high: 400, slope: 48), to: request(low: 9000)),
    ]

    /// The largest allowed curvature in a fade between two signals. It is the larger of their curvatures, plus the
    /// contribution of a weight with slope 1.5/N and curvature 6/N², plus a little for float's own steps.
    private func bound(_ before: Smoothness, _ after: Smoothness) -> Double {
        max(before.curvature, after.curvature)
            + 2 * 1.5 / Self.fadeFrames * (before.slope + after.slope)
            + 6 / (Self.fadeFrames * Self.fadeFrames) * (before.size + after.size) + 1e-6
    }

    private func steady(_ design: FilterDesign, _ sine: [Double]) -> Smoothness {
        let path = SignalPath(format: Sound.format(.float), design: design)
        return Smoothness(path.process(sine.map { Float($0) }).suffix(4800).map(Double.init))
    }

    @Test(arguments: changes, [100.0, 440, 1000, 5000])
    func `a change of the filter makes no click`(change: Change, frequencyHz: Double) throws {
        let (before, after) = (try change.before, try change.after)
        let sine = Sound.sine(frequencyHz, amplitude: 0.5, frameCount: 24000)
        let allowed = bound(steady(before, sine), steady(after, sine))
        let input = sine.map { Float($0) }
        // At several phases of the sine.
        for frame in stride(from: 12000, to: 12480, by: 97).prefix(full(5, usually: 2)) {
            let path = SignalPath(format: Sound.format(.float), design: before)
            _ = path.process(Array(input[..<(frame - 100)]))
            var output = path.process(Array(input[(frame - 100)..<frame]))
            path.change(to: after)
            #expect(path.design == after)
            output += path.process(Array(input[frame..<(frame + 2500)]))
            #expect(!path.isChanging)
            #expect(Smoothness(output.map(Double.init)).curvature <= allowed)
        }
    }

    @Test func `changes during changes make no click, and the last one stays`() throws {
        let sine = Sound.sine(700, amplitude: 0.5, frameCount: 36000)
        let input = sine.map { Float($0) }
        let wanted = [
            try design(low: 2000), .off(rateHz: Self.rate), try design(low: 500, slope: 48),
            try design(low: 8000, high: 300), try design(low: 1000, slope: 12),
        ]
        let all = wanted.map { steady($0, sine) }
        let allowed = all.flatMap { before in all.map { bound(before, $0) } }.max()!
        for gap in [1, 100, 959, 961, 1500, 2399, 2400, 2401] {
            let path = SignalPath(format: Sound.format(.float), design: wanted[0])
            _ = path.process(Array(input[..<11900]))
            var output = path.process(Array(input[11900..<12000]))
            var frame = 12000
            for design in wanted.dropFirst() {
                output += path.process(Array(input[frame..<frame + gap]))
                frame += gap
                path.change(to: design)
            }
            output += path.process(Array(input[frame...]))
            #expect(Smoothness(output.map(Double.init)).curvature <= allowed)
            #expect(!path.isChanging)
            #expect(path.design == wanted.last!)
            let end = SignalPath(format: Sound.format(.float), design: wanted.last!).process(input)
            let difference = zip(output.suffix(4800), end.suffix(4800)).map { abs($0 - $1) }.max()!
            #expect(difference < 1e-6)
        }
    }

    @Test func `a filter swapped at once does click`() throws {
        // Proves that the bound is strict: the same changes without a fade exceed it.
        let sine = Sound.sine(1000, amplitude: 0.5, frameCount: 48000)
        let input = sine.map { Float($0) }
        for change in Self.changes.prefix(6) {
            let designs = [try change.before, try change.after]
            let outputs = designs.map { SignalPath(format: Sound.format(.float), design: $0).process(input) }
            let worst = stride(from: 24000, to: 24480, by: 37).map { frame in
                let cut = outputs[0][(frame - 10)..<frame] + outputs[1][frame..<(frame + 10)]
                return Smoothness(cut.map(Double.init)).curvature
            }.max()!
            #expect(worst > 2 * bound(steady(designs[0], sine), steady(designs[1], sine)), "\(change)")
        }
    }

    @Test func `until the fade begins the output is the old filter's alone, and after it the new one's`() throws {
        let input = Noise.samples(9600).map { Int16($0 * 30000) }
        let old = Sound.shorts(
            SignalPath(format: Sound.format(.s16), design: .off(rateHz: Self.rate)).process(Sound.bytes(input)))
        let path = SignalPath(format: Sound.format(.s16), design: try design(low: 3000))
        path.change(to: .off(rateHz: Self.rate))
        let output = Sound.shorts(path.process(Sound.bytes(input)))
        let unchanged = Sound.shorts(
            SignalPath(format: Sound.format(.s16), design: try design(low: 3000)).process(Sound.bytes(input)))
        #expect(output[..<960] == unchanged[..<960])
        #expect(output[960..<2400] != unchanged[960..<2400])
        #expect(output[2400...] == old[2400...])
    }

    @Test func `a change to the filter that is there changes nothing`() throws {
        let path = SignalPath(format: Sound.format(.s16), design: try design(low: 3000))
        path.change(to: try design(low: 3000))
        #expect(!path.isChanging)
        // The second change is replaced before it begins, by the filter of the first one.
        path.change(to: try design(low: 4000))
        path.change(to: try design(low: 5000))
        path.change(to: try design(low: 4000))
        #expect(path.design == (try design(low: 4000)))
        _ = path.silence(frameCount: 2400)
        #expect(!path.isChanging)
    }
}

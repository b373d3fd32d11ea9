/// The playback volume over time: steady, then one ramp, then steady again. It counts frames as they are queued.
struct Fader: Hashable, Sendable {
    private var before: Double
    private var after: Double
    private var start: Int64
    private var length: Int64

    init(volume: Double) {
        before = volume
        after = volume
        start = 0
        length = 0
    }

    /// Ramps from the volume at `frame` to `volume` within `length` frames.
    mutating func ramp(to volume: Double, at frame: Int64, length: Int64) {
        before = self.volume(at: frame)
        after = volume
        start = frame
        self.length = length
    }

    /// The factor for the sample values of a frame. The ramp is smooth: half a cosine's rise, as a cubic.
    func volume(at frame: Int64) -> Double {
        if frame < start { return before }
        guard frame < start + length else { return after }
        let place = Double(frame - start) / Double(length)
        return before + (after - before) * place * place * (3 - 2 * place)
    }

    func isTransparent(from frame: Int64) -> Bool {
        after == 1 && (frame >= start + length || before == 1)
    }
}

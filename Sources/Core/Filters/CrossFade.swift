/// Replaces one filter by another without a click.
///
/// Both filters run in parallel on the same sound. While the new one settles, its output is not used. Then the output
/// moves from the old one to the new one along a cubic with zero slope at both ends, so that neither the output nor its
/// slope jumps. With a fade of N frames the slope of the weight is at most 1.5/N and its curvature 6/N². New
/// coefficients with the old state would make the output jump, because that state belongs to the old coefficients.
struct CrossFade {
    /// The frames for which the new filter's output is not used.
    let warmingFrames: Int
    /// The frames of the fade.
    let fadingFrames: Int
    private(set) var done = 0

    /// 20 ms to settle, 30 ms to fade.
    @_noLocks @_noAllocation
    init(rateHz: Int) {
        warmingFrames = rateHz / 50
        fadingFrames = rateHz * 3 / 100
    }

    /// The frames until only the new filter runs.
    var left: Int {
        @_noLocks @_noAllocation get { warmingFrames + fadingFrames - done }
    }

    /// Mixes the new filter's samples into the old one's, for the next frames.
    @_noLocks @_noAllocation
    mutating func mix(
        _ new: UnsafePointer<Double>, into old: UnsafeMutablePointer<Double>, frameCount: Int, channels: Int
    ) {
        // The weight is 0 in the last frame before the fade, and 1 in the first one after it.
        let step = 1 / Double(fadingFrames + 1)
        var frame = 0
        while frame < frameCount {
            let faded = done + frame - warmingFrames + 1
            if faded > 0 {
                let time = Double(faded) * step
                let weight = time * time * (3 - 2 * time)
                var index = frame * channels
                // Safe: the caller's buffers hold `frameCount` frames of `channels`.
                while index < (frame + 1) * channels {
                    let before = unsafe old[index]
                    unsafe old[index] = before + weight * (new[index] - before)
                    index += 1
                }
            }
            frame += 1
        }
        done += frameCount
    }
}

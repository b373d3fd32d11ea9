/// How one filter replaces another without a click.
///
/// Both run side by side on the same sound. First the new one settles, and its output is not used. Then
/// the output moves over from the old one to the new one along a cubic that begins and ends level, so that neither
/// the output nor its slope jumps: with a fade of N frames the weight's slope is at most 1.5/N and its curvature 6/N².
/// New coefficients with the old state would make the output jump, since that state belongs to the old ones: a click.
struct CrossFade {
    /// Frames in which the new filter runs and its output is not used.
    let warmingFrames: Int
    /// Frames in which the output moves over.
    let fadingFrames: Int
    private(set) var done = 0

    /// 20 ms to warm up, 30 ms to fade.
    @_noLocks @_noAllocation
    init(rateHz: Int) {
        warmingFrames = rateHz / 50
        fadingFrames = rateHz * 3 / 100
    }

    /// Frames until the new filter is alone.
    var left: Int {
        @_noLocks @_noAllocation get { warmingFrames + fadingFrames - done }
    }

    /// Mixes the new filter's samples into the old one's, for frames that follow the last ones.
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

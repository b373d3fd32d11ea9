/// How one filter gives way to another without a click.
///
/// Both run side by side on the same sound. While the new one warms up, its start from rest rings out unheard; then
/// the output moves over from the old one to the new one along a cubic that begins and ends level, so that neither
/// the output nor its slope jumps: with a fade of N frames the weight's slope is at most 1.5/N and its curvature 6/N².
/// Swapping coefficients under a running state would leave a state that fits no signal; that jump is the click.
struct CrossFade {
    /// Frames in which the new filter runs unheard.
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

    /// Mixes the new filter's samples into the old one's, for frames that go on where the last ones ended.
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

import Glibc
import Takes
import Testing

@testable import Filters

@Suite struct DenormalsTests {
    @Test(arguments: [12, 24, 36, 48])
    func `silence after a loud burst leaves no denormal in the filter's state`(slope: Int) throws {
        // The poles are nearest to zero at a quarter of the rate, and farthest from it at the ends of the range.
        for (low, high) in [(12000.0, nil), (20, nil), (21600, nil), (11999.9, 20), (300, 20)] as [(Double, Double?)] {
            let design = try FilterDesign(
                lowPassHz: low, highPassHz: high, slopeDBPerOctave: slope, rateHz: 48000)
            let path = SignalPath(format: Sound.format(.float), design: design)
            _ = path.process(Noise.samples(4800).map { Float($0) })
            #expect(path.smallestState.isFinite)
            for block in 0..<190 {
                // One second in steps of 10 ms, then nine in steps of 100 ms.
                _ = path.silence(frameCount: block < 100 ? 480 : 4800)
                #expect(path.smallestState.isNormal || path.smallestState == .infinity)
            }
            // After ten seconds all states are zero, except where 20 Hz still decays.
            if low > 20, high == nil { #expect(path.smallestState == .infinity) }
        }
    }

    @Test func `a thread can be set to flush them, and no other is`() {
        // Runs on a separate thread, so that the tests' threads keep their floating-point mode.
        let outside = Denormals.areFlushed
        var found = (before: true, after: false, half: 1.0)
        var thread = pthread_t()
        withUnsafeMutablePointer(to: &found) { found in
            pthread_create(
                &thread, nil,
                { found in
                    let found = found!.assumingMemoryBound(to: (before: Bool, after: Bool, half: Double).self)
                    // A loaded library may have enabled flushing in the whole process.
                    fesetenv(UnsafePointer(bitPattern: -1))
                    found.pointee.before = Denormals.areFlushed
                    Denormals.flushToZero()
                    found.pointee.after = Denormals.areFlushed
                    found.pointee.half = Double.leastNormalMagnitude * Noise.samples(1)[0].magnitude
                    return nil
                }, found)
            pthread_join(thread, nil)
        }
        #expect(!found.before)
        #expect(found.after)
        #expect(found.half == 0)
        #expect(Denormals.areFlushed == outside)
    }
}

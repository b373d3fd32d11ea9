package import Filters
import Ring
package import Takes

/// The live sound of the capture card, filtered and rounded as in a take, as numbers with full scale 1.
///
/// It follows the ring without holding frames: a slow reader loses frames, and the recorder loses none. One thread at a
/// time may use it.
package final class LiveSound {
    /// The card's format.
    package let format: StreamFormat
    /// The most frames that one read returns.
    package let chunkFrames: Int

    /// The waveform pixels that the last read completed: least and greatest of each channel, in 1/128 of full scale.
    private(set) var peaks: [Int8] = []

    /// The result of the last read.
    private(set) var chunk = LiveChunk(first: .start, instant: nil, frames: 0, skipped: 0)

    private let reader: RingReader
    let path: SignalPath
    private let coding: SampleCoding
    private var delivered: [UInt8] = []
    private var stored: [UInt8]
    private var samples: [Double]

    /// The longest chunk, and the most frames of a chunk.
    private static let chunk = (duration: Duration.milliseconds(50), frames: Int64(4096))
    /// The filter runs over this much sound before the first frame, so that it does not start at rest.
    private static let warmUp = Duration.milliseconds(250)

    /// The sound from the next frame on.
    package init(_ source: LiveSource) {
        let ring = source.ring
        format = ring.format
        chunkFrames = Int(max(1, min(Self.chunk.frames, format.frames(in: Self.chunk.duration))))
        path = SignalPath(format: format, design: source.design)
        coding = SampleCoding(format.stored)
        stored = [UInt8](repeating: 0, count: chunkFrames * format.stored.bytesPerFrame)
        samples = [Double](repeating: 0, count: chunkFrames * format.channels)
        let first = ring.position
        reader = RingReader(ring, from: max(.start, first - format.frames(in: Self.warmUp)), isPrompt: true)
        warmUp(before: first)
        reader.skip(to: first)
    }

    private func warmUp(before first: RingPosition) {
        while reader.position < first, copy(atMost: first - reader.position) > 0 {
            unsafe delivered.withUnsafeBytes { unsafe path.warmUp(on: $0) }
        }
    }

    /// Changes the filter from the next frame on.
    package func change(to design: FilterDesign) {
        if design != path.design { path.change(to: design) }
    }

    /// Reads the next frames.
    /// - Parameter body: receives interleaved samples, and the number of valid frames.
    /// - Returns: false if no frames are available yet.
    package func read(_ body: (_ samples: [Double], _ frameCount: Int) throws -> Void) rethrows -> Bool {
        let frameCount = copy(atMost: Int64(chunkFrames))
        guard frameCount > 0 else { return false }
        let (sampleCount, scale) = (frameCount * format.channels, 1 / coding.fullScale)
        unsafe delivered.withUnsafeBytes { bytes in
            unsafe stored.withUnsafeMutableBytes { _ = unsafe path.process(bytes, into: $0) }
        }
        // Taken even if nobody uses them, because the path keeps all peaks that were not taken.
        peaks = path.takePeaks()
        // Safe: at most one chunk was stored, and both arrays have room for one.
        unsafe stored.withUnsafeBytes { bytes in
            unsafe samples.withUnsafeMutableBufferPointer { target in
                _ = unsafe coding.read(bytes.baseAddress!, into: target.baseAddress!, count: sampleCount)
            }
        }
        for index in 0..<sampleCount { samples[index] *= scale }
        try body(samples, frameCount)
        return true
    }

    /// Copies the next frames out of the ring. Skips frames that are overwritten before or during the copy.
    /// - Returns: the number of frames.
    private func copy(atMost count: Int64) -> Int {
        var skipped: Int64 = 0
        while true {
            let reading = unsafe reader.read(atMost: min(count, Int64(chunkFrames))) { bytes in
                delivered.removeAll(keepingCapacity: true)
                unsafe delivered.append(contentsOf: bytes)
            }
            switch reading {
            case .nothing: return 0
            case .frames(let frames, _):
                let first = reader.position - frames
                chunk = LiveChunk(
                    first: first, instant: reader.ring.instant(ofFrame: first), frames: Int(frames), skipped: skipped)
                return Int(frames)
            case .skipped(let frames): skipped += frames
            }
        }
    }
}

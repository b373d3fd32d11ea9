import Filters
import TakeFiles
import Takes

/// The samples of a stream on their way to a take's files: filtered and measured, and beside them as the card delivered them.
final class StreamSound {
    private let signal: SignalPath
    /// nil: only the filtered sound is kept.
    private let unfiltered: SignalPath?
    private var stored: [UInt8]
    private var storedUnfiltered: [UInt8]

    /// The most frames of one call of `append`.
    static let chunkFrames: Int64 = 16384

    init(_ format: StreamFormat, filter: FilterDesign, keepsUnfiltered: Bool) {
        signal = SignalPath(format: format, design: filter)
        unfiltered = keepsUnfiltered ? SignalPath(format: format, design: .off(rateHz: format.rateHz)) : nil
        stored = [UInt8](repeating: 0, count: Int(Self.chunkFrames) * format.stored.bytesPerFrame)
        storedUnfiltered = keepsUnfiltered ? stored : []
    }

    /// The filter in force, or coming into force.
    var filter: FilterDesign { signal.design }

    /// How loud each channel was so far, as stored.
    var levels: [ChannelLevels] { signal.levels }

    /// Filters differently from the next frame on.
    func change(to filter: FilterDesign) { signal.change(to: filter) }

    /// Runs the filter over frames that are not stored.
    func warmUp(on bytes: UnsafeRawBufferPointer) { unsafe signal.warmUp(on: bytes) }

    /// Measures from the next frame on, as for a new take.
    func beginMeasuring() { signal.beginMeasuring() }

    /// The peaks that are left at the take's end.
    func finishPeaks() -> [Int8] { signal.finishPeaks() }

    /// Filters frames as the card delivered them, and appends them.
    /// - Parameter bytes: at most `chunkFrames`.
    func append(_ bytes: UnsafeRawBufferPointer, to output: TakeOutput) throws {
        // Safe: both arrays have room for a chunk.
        let size = unsafe stored.withUnsafeMutableBytes { unsafe signal.process(bytes, into: $0) }
        let twin = unsafe storedUnfiltered.withUnsafeMutableBytes { unsafe unfiltered?.process(bytes, into: $0) }
        try store(size, twin, to: output)
    }

    /// Appends silence, which the filter runs over as well.
    func appendSilence(_ frames: Int64, to output: TakeOutput) throws {
        var left = frames
        while left > 0 {
            let count = min(Self.chunkFrames, left)
            // Safe: both arrays have room for a chunk.
            let size = unsafe stored.withUnsafeMutableBytes { unsafe signal.silence(frameCount: Int(count), into: $0) }
            let twin = unsafe storedUnfiltered.withUnsafeMutableBytes {
                unsafe unfiltered?.silence(frameCount: Int(count), into: $0)
            }
            try store(size, twin, to: output)
            left -= count
        }
    }

    private func store(_ size: Int, _ twin: Int?, to output: TakeOutput) throws {
        // Safe: both slices lie within what was just written.
        try unsafe stored.withUnsafeBytes { bytes in
            try unsafe storedUnfiltered.withUnsafeBytes { raw in
                try unsafe output.append(
                    UnsafeRawBufferPointer(rebasing: bytes[..<size]),
                    unfiltered: twin.map { unsafe UnsafeRawBufferPointer(rebasing: raw[..<$0]) })
            }
        }
        output.appendPeaks(signal.takePeaks())
        // The twin has no waveform of its own.
        _ = unfiltered?.takePeaks()
    }
}

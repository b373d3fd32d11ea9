import Filters
import TakeFiles
import Takes

/// Processes a stream's samples for a take's files: filters and measures them, and optionally keeps an unfiltered copy.
final class StreamSound {
    private let signal: SignalPath
    /// Nil if only the filtered sound is kept.
    private let unfiltered: SignalPath?
    private var scale: PeaksScale
    private var stored: [UInt8]
    private var storedUnfiltered: [UInt8]

    /// The largest number of frames per `append`: one second, or 1 MiB if that is less. The kernel needs far less time
    /// for one long write than for several short ones.
    let chunkFrames: Int64

    /// - Parameter takeRateHz: the rate in which the take's waveform is counted.
    init(_ format: StreamFormat, filter: FilterDesign, keepsUnfiltered: Bool, takeRateHz: Int) {
        scale = PeaksScale(channels: format.channels, from: format.rateHz, to: takeRateHz)
        signal = SignalPath(format: format, design: filter)
        unfiltered = keepsUnfiltered ? SignalPath(format: format, design: .off(rateHz: format.rateHz)) : nil
        let frames = min(format.rateHz, max(1, (1 << 20) / format.stored.bytesPerFrame))
        chunkFrames = Int64(frames)
        let byteCount = frames * format.stored.bytesPerFrame
        stored = Self.room(byteCount)
        storedUnfiltered = Self.room(keepsUnfiltered ? byteCount : 0)
    }

    /// Bytes that use memory only once they are written to.
    private static func room(_ byteCount: Int) -> [UInt8] {
        // Safe: every byte is written before it is read.
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { _, count in count = byteCount }
    }

    /// The filter in force, or the next one during a change.
    var filter: FilterDesign { signal.design }

    /// The levels of each channel so far, measured on the stored samples.
    var levels: [ChannelLevels] { signal.levels }

    /// Changes the filter from the next frame on.
    func change(to filter: FilterDesign) { signal.change(to: filter) }

    /// Runs the filter over frames that are not stored.
    func warmUp(on bytes: UnsafeRawBufferPointer) { unsafe signal.warmUp(on: bytes) }

    /// Resets the measurements for a new take, from the next frame on.
    func beginMeasuring(takeRateHz: Int) {
        signal.beginMeasuring()
        scale = PeaksScale(channels: signal.format.channels, from: signal.format.rateHz, to: takeRateHz)
    }

    /// The remaining peaks at the take's end.
    func finishPeaks() -> [Int8] { scale.add(signal.finishPeaks()) + scale.finish() }

    /// Filters the card's frames and appends them.
    /// - Parameter bytes: at most `chunkFrames` frames.
    func append(_ bytes: UnsafeRawBufferPointer, to output: TakeOutput) throws {
        // Safe: both arrays have room for a chunk.
        try unsafe stored.withUnsafeMutableBytes { room in
            try unsafe storedUnfiltered.withUnsafeMutableBytes { otherRoom in
                let sound = unsafe signal.process(bytes, using: room)
                try unsafe store(sound, unfiltered?.process(bytes, using: otherRoom), to: output)
            }
        }
    }

    /// Appends silence. The filter runs over it as well.
    func appendSilence(_ frames: Int64, to output: TakeOutput) throws {
        var left = frames
        while left > 0 {
            let count = min(chunkFrames, left)
            // Safe: both arrays have room for a chunk.
            try unsafe stored.withUnsafeMutableBytes { room in
                try unsafe storedUnfiltered.withUnsafeMutableBytes { otherRoom in
                    let size = unsafe signal.silence(frameCount: Int(count), into: room)
                    let twin = unsafe unfiltered?.silence(frameCount: Int(count), into: otherRoom)
                    try unsafe store(
                        UnsafeRawBufferPointer(rebasing: room[..<size]),
                        twin.map { unsafe UnsafeRawBufferPointer(rebasing: otherRoom[..<$0]) }, to: output)
                }
            }
            left -= count
        }
    }

    private func store(
        _ bytes: UnsafeRawBufferPointer, _ twin: UnsafeRawBufferPointer?, to output: TakeOutput
    ) throws {
        try unsafe output.append(bytes, unfiltered: twin)
        output.appendPeaks(scale.add(signal.takePeaks()))
        // The twin has no waveform of its own.
        _ = unfiltered?.takePeaks()
    }
}

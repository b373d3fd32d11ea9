internal import CSoundTouch

/// Changes the length of sound and keeps its pitch, with SoundTouch (WSOLA: sequences of the sound are joined where
/// they fit best, and cross-faded).
///
/// The first sequence is dropped, because SoundTouch takes it from the beginning of the input without a search.
@safe final class StretchStage: PlayStage {
    private let handle: OpaquePointer
    private let tempo: Double
    /// Input frames (without the lead) and output frames since the reset.
    private var taken: Int64
    private var made: Int64 = 0
    private var scratch: [Double]

    let channels: Int
    let leadFrames: Int
    let latencyFrames: Int

    private static let chunkFrames = 1024

    /// - Parameters:
    ///   - tempo: the speed factor.
    ///   - transposed: the speed factor of the resampling before. It shortens the periods of the sound.
    /// - Throws: `StretchError`.
    init(rateHz: Int, channels: Int, tempo: Double, transposed: Double) throws(StretchError) {
        guard channels <= Int(csoundtouch_most_channels) else { throw .channels(channels) }
        let lengths = StretchLengths(rateHz: rateHz, tempo: tempo, transposed: transposed)
        let handle = unsafe csoundtouch_make(
            UInt32(channels), tempo, Int32(lengths.sequence), Int32(lengths.seek), Int32(lengths.overlap))
        guard let handle = unsafe handle else { throw .memory }
        unsafe self.handle = handle
        self.channels = channels
        self.tempo = tempo
        leadFrames = lengths.lead
        latencyFrames = lengths.step
        taken = -Int64(leadFrames)
        scratch = [Double](repeating: 0, count: Self.chunkFrames * channels)
    }

    deinit {
        unsafe csoundtouch_free(handle)
    }

    func process(_ input: Frames, into output: inout Frames) throws {
        taken += Int64(input.count)
        try put(input.samples, frameCount: input.count)
        takeFinished(upTo: .max, into: &output)
    }

    func flush(into output: inout Frames) throws {
        let wanted = Int64(latencyFrames) + Int64((Double(max(0, taken)) / tempo).rounded())
        let silence = [Double](repeating: 0, count: Self.chunkFrames * channels)
        while made < wanted {
            try put(silence, frameCount: Self.chunkFrames)
            takeFinished(upTo: wanted, into: &output)
        }
    }

    func reset() {
        unsafe csoundtouch_clear(handle)
        taken = -Int64(leadFrames)
        made = 0
    }

    private func put(_ samples: [Double], frameCount: Int) throws(StretchError) {
        guard frameCount > 0 else { return }
        // Safe: the samples are read only during the call.
        let isPut = unsafe samples.withUnsafeBufferPointer {
            unsafe csoundtouch_put(handle, $0.baseAddress, frameCount)
        }
        guard isPut else { throw .memory }
    }

    private func takeFinished(upTo limit: Int64, into output: inout Frames) {
        while made < limit {
            let room = Int(min(Int64(Self.chunkFrames), limit - made))
            // Safe: the array has room for a chunk.
            let count = unsafe scratch.withUnsafeMutableBufferPointer {
                unsafe csoundtouch_take(handle, $0.baseAddress, room)
            }
            guard count > 0 else { return }
            output.append(scratch, frameCount: count)
            made += Int64(count)
        }
    }
}

enum StretchError: Error, Hashable, CustomStringConvertible {
    /// SoundTouch supports at most 16 channels.
    case channels(Int)
    case memory

    var description: String {
        switch self {
        case .channels(let count):
            "pitch and speed: \(count) channels, but SoundTouch has at most 16: set pitch 0 and speed 1, or expand"
        case .memory: "pitch and speed: SoundTouch had no memory"
        }
    }
}

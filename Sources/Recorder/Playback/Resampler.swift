internal import CSoxr

/// Converts the sample rate with libsoxr at its very high quality (28 bits, linear phase, in double precision).
///
/// Its output is aligned with its input: the first frames of both belong together.
@safe struct Resampler: ~Copyable {
    private let handle: soxr_t
    private let channels: Int

    /// A resampler of interleaved frames.
    /// - Throws: `ResamplerError`, with the library's message.
    init(fromHz: Double, toHz: Double, channels: Int) throws(ResamplerError) {
        var problem: soxr_error_t?
        var kinds = unsafe soxr_io_spec(SOXR_FLOAT64_I, SOXR_FLOAT64_I)
        var quality = unsafe soxr_quality_spec(UInt(SOXR_VHQ), 0)
        // Safe: the specifications are read only during the call.
        let handle = unsafe soxr_create(
            fromHz, toHz, UInt32(clamping: channels), &problem, &kinds, &quality, nil)
        guard let handle = unsafe handle, unsafe problem == nil else {
            throw ResamplerError(
                fromHz: fromHz, toHz: toHz, problem: unsafe problem.map { unsafe String(cString: $0) } ?? "no memory")
        }
        unsafe self.handle = handle
        self.channels = channels
    }

    deinit {
        unsafe soxr_delete(handle)
    }

    /// Resamples up to `frameCount` frames of `source`, from frame `first` on, into `result`. It stops when `result` is
    /// full.
    /// - Parameter source: nil after the last input, to get the remaining output.
    /// - Returns: the number of frames used, and of frames made.
    mutating func process(
        _ source: [Double]?, first: Int, frameCount: Int, into result: inout [Double]
    ) throws(ResamplerError) -> (used: Int, made: Int) {
        var used = 0
        var made = 0
        let handle = unsafe handle
        let channels = channels
        let room = result.count / channels
        // Safe: both arrays outlive the call and have room for the given numbers of frames.
        let problem = unsafe result.withUnsafeMutableBufferPointer { output in
            if let source {
                unsafe source.withUnsafeBufferPointer { input in
                    unsafe soxr_process(
                        handle, input.baseAddress.map { unsafe $0 + first * channels }, frameCount, &used,
                        output.baseAddress, room, &made)
                }
            } else {
                unsafe soxr_process(handle, nil, 0, nil, output.baseAddress, room, &made)
            }
        }
        if let problem = unsafe problem {
            throw ResamplerError(fromHz: nil, toHz: nil, problem: unsafe String(cString: problem))
        }
        return (used, made)
    }
}

struct ResamplerError: Error, Hashable, CustomStringConvertible {
    var fromHz: Double?
    var toHz: Double?
    var problem: String

    var description: String {
        guard let fromHz, let toHz else { return "resample: \(problem)" }
        return "resample from \(Self.text(fromHz)) to \(Self.text(toHz)) Hz: \(problem)"
    }

    private static func text(_ hertz: Double) -> String {
        Int(exactly: hertz).map { String($0) } ?? String(hertz)
    }
}

/// The waveform of a take that goes on: pixels wait in RAM until there are enough of them for a write.
struct PeaksDraft {
    /// Storage is slow at small writes.
    static let leastWrite = 4096

    private let rateHz: Int
    private let channels: Int
    private var bytesPerPixel: Int { 2 * channels }
    private var waiting: [UInt8] = []
    /// Pixels that were taken to be written.
    private(set) var length = 0
    /// Whether the file was begun.
    var isBegun = false
    /// Why there will be no waveform.
    var failure: FileError?

    init(rateHz: Int, channels: Int) {
        self.rateHz = rateHz
        self.channels = channels
    }

    /// The head of the file as things stand.
    var header: [UInt8] { PeaksFile.header(rateHz: rateHz, channels: channels, length: length) }

    /// Whether enough waits for a write.
    var isDue: Bool { waiting.count >= Self.leastWrite }

    mutating func append(_ pairs: [Int8]) {
        guard failure == nil else { return }
        waiting += pairs.lazy.map { UInt8(bitPattern: $0) }
    }

    /// The whole pixels that wait.
    mutating func take() -> [UInt8] {
        let count = waiting.count - waiting.count % bytesPerPixel
        let pixels = Array(waiting[..<count])
        waiting.removeFirst(count)
        length += count / bytesPerPixel
        return pixels
    }

    /// Nothing is kept of a waveform that cannot be written.
    mutating func giveUp(_ error: FileError) {
        failure = error
        waiting = []
    }
}

extension TakeSite {
    /// Carries out a phase of the waveform, and begins it before if that was not done; if either fails, there will be none.
    mutating func perform(_ phase: TakePhase, peaks: inout PeaksDraft) {
        guard peaks.failure == nil else { return }
        do throws(FileError) {
            if !peaks.isBegun {
                peaks.isBegun = true
                try perform(.beginPeaks, content: peaks.header)
            }
            try perform(phase, content: phase == .appendPeaks ? peaks.take() : peaks.header)
        } catch {
            giveUp(&peaks, error)
        }
    }

    /// There will be no waveform, and nothing is left of what there was.
    mutating func giveUp(_ peaks: inout PeaksDraft, _ error: FileError) {
        peaks.giveUp(error)
        try? perform(.dropPeaks)
    }
}

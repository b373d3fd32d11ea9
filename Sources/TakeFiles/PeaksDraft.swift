import Glibc

/// The waveform of a take that is being recorded: pixels wait in RAM until there are enough of them for a write.
struct PeaksDraft {
    /// Fewer bytes are not written at a time, except at the end: storage is slow at small writes.
    static let leastWrite = 4096

    private let rateHz: Int
    private let channels: Int
    private var bytesPerPixel: Int { 2 * channels }
    private var waiting: [UInt8] = []
    /// Pixels that were taken to be written.
    private(set) var length = 0
    /// Whether the file was begun.
    var isBegun = false
    /// Where in the finished waveform the next bytes to be copied are; nil: there is none, or all of it is copied.
    private(set) var copied: Int64?
    /// Why there will be no waveform.
    var failure: FileError?

    init(rateHz: Int, channels: Int) {
        self.rateHz = rateHz
        self.channels = channels
    }

    /// The header of the file, with the pixels so far.
    var header: [UInt8] { PeaksFile.header(rateHz: rateHz, channels: channels, length: length) }

    /// Whether enough pixels wait for a write.
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

    /// The take has ended: what makes no whole pixel is left out.
    mutating func end() {
        waiting = []
    }

    /// The take goes on: the waveform is begun again with a copy of the finished one.
    mutating func goOn() {
        isBegun = false
        copied = length > 0 ? 0 : nil
    }

    /// Where the next piece of the finished waveform is, and its size: few enough bytes for a write that does not take long.
    var nextCopy: (offset: Int64, count: Int)? {
        guard let copied else { return nil }
        // Pixels that were taken since are none of the copy's.
        return (Int64(PeaksFile.headerByteCount) + copied, min(1 << 20, length * bytesPerPixel - Int(copied)))
    }

    mutating func didCopy(_ count: Int) {
        guard let copied else { return }
        let end = copied + Int64(count)
        self.copied = end < Int64(length * bytesPerPixel) ? end : nil
    }

    /// Drops the waveform, since it cannot be written.
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
            if phase == .peaks {
                while peaks.nextCopy != nil { try copyPeaks(&peaks) }
                try perform(.appendPeaks, content: peaks.take())
                try perform(.peaks, content: peaks.header)
                peaks.end()
            } else if peaks.nextCopy != nil {
                try copyPeaks(&peaks)
            } else {
                try perform(phase, content: peaks.take())
            }
        } catch {
            giveUp(&peaks, error)
        }
    }

    /// Copies the next piece of the finished waveform.
    private mutating func copyPeaks(_ peaks: inout PeaksDraft) throws(FileError) {
        guard let (offset, count) = peaks.nextCopy else { return }
        let file = try files.open(path(.peaks))
        let bytes = try files.read(file, at: offset, count: count)
        guard bytes.count == count else { throw FileError("read", file.path, code: EIO) }
        try perform(.appendPeaks, content: bytes)
        peaks.didCopy(count)
    }

    /// There will be no waveform, and nothing is left of what there was.
    mutating func giveUp(_ peaks: inout PeaksDraft, _ error: FileError) {
        peaks.giveUp(error)
        try? perform(.dropPeaks)
    }
}

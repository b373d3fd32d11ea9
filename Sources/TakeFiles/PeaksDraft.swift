/// The waveform of a take that goes on: pixels wait in RAM until there are enough of them for a write.
struct PeaksDraft {
    /// Storage is slow at small writes.
    static let leastWrite = 4096

    private let bytesPerPixel: Int
    private var waiting: [UInt8] = []
    /// Pixels that were taken to be written.
    private(set) var length = 0
    /// Whether the file was begun.
    var isBegun = false
    /// Why there will be no waveform.
    var failure: FileError?

    init(channels: Int) {
        bytesPerPixel = 2 * channels
    }

    /// Whether enough waits for a write.
    var isDue: Bool { waiting.count >= Self.leastWrite }

    mutating func append(_ pairs: [Int8]) {
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

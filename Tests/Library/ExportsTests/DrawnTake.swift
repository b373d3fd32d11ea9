import Files
import FinishedTakes
import Spectra
import Takes
import TestBench

/// A take with given samples, and the files of columns of its parts.
final class DrawnTake {
    private let place = TestFolder()
    var folder: String { place.path }
    private(set) var sidecar: Sidecar
    private(set) var readers: [SpectraReader?] = []

    struct Part {
        var first: Int64
        var rateHz: Int
        /// Interleaved.
        var samples: [Int16]
        /// The channels of the file.
        var channels = 1
        var hasColumns = true
    }

    /// - Parameter channels: of the take. Its rate is that of the first part.
    init(_ parts: [Part], channels: Int = 1) throws {
        let started = WallTime(iso8601: "2026-11-21T06:18:11.250000Z")!
        let name = TakeName(kit: "heron07", number: 7, started: started)
        let format = StreamFormat(rateHz: parts[0].rateHz, channels: channels, sampleFormat: .s16)
        sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 5_000_000_000),
            bootID: "0b0c0d0e-0000-4000-8000-000000000001", clock: .ntp, card: "usb:0d8c:0014", format: format,
            preRollFrames: 0, gainDB: nil, agc: nil, version: "0.1", startedBy: .button)
        for (index, part) in parts.enumerated() {
            let format = StreamFormat(rateHz: part.rateHz, channels: part.channels, sampleFormat: .s16)
            let frames = Int64(part.samples.count / part.channels)
            let file = name.audioFile(part: index + 1)
            let bytes = part.samples.withUnsafeBytes { Array($0) }
            sidecar.parts.append(
                Sidecar.Part(file: file, firstFrame: TakeFrame(part.first), frames: frames, format: format))
            place.write(TakesOnDisk.wave(bytes, format), to: file)
            guard part.hasColumns else {
                readers.append(nil)
                continue
            }
            let path = "\(folder)/\(index).spectrum"
            let writer = try SpectraWriter(path, sound: format, frames: frames)
            try writer.append(bytes.span.bytes)
            try writer.finish(sha256: String(repeating: "0123456789abcdef", count: 4))
            readers.append(try SpectraReader(path))
        }
    }

    static func sine(_ hertz: Int, rateHz: Int, frames: Int, amplitude: Double = 0.5) -> [Int16] {
        // A second has whole turns.
        let second = (0..<rateHz).map { frame -> Int16 in
            let angle = 2 * Double.pi * Double(hertz * frame % rateHz) / Double(rateHz)
            return Int16((amplitude * 32_767 * Self.sine(angle)).rounded())
        }
        return (0..<frames).map { second[$0 % rateHz] }
    }

    /// The sine by its series, which needs no library.
    private static func sine(_ angle: Double) -> Double {
        let angle = angle > Double.pi ? angle - 2 * Double.pi : angle
        var (sum, term) = (angle, angle)
        for index in 1...12 {
            term *= -angle * angle / Double(2 * index * (2 * index + 1))
            sum += term
        }
        return sum
    }
}

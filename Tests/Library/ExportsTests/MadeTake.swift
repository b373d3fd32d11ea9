import SeededRandom
import TakeFiles
import Takes
import TestBench

/// A finished take of noise with known samples.
final class MadeTake {
    private let place = TestFolder()
    var folder: String { place.path }
    private(set) var sidecar: Sidecar
    let format: StreamFormat
    /// The bytes of the whole timeline, silent between parts.
    private(set) var bytes: [UInt8] = []

    /// - Parameter parts: the first frame and the number of frames of each part.
    init(
        _ sampleFormat: SampleFormat = .s16, channels: Int = 2, parts: [(first: Int64, frames: Int64)] = [(0, 10_000)],
        markers: [Int64] = [], regions: [(start: Int64, end: Int64)] = [], seed: UInt64 = 1
    ) throws {
        let started = WallTime(iso8601: "2026-11-21T06:18:11.250000Z")!
        let name = TakeName(kit: "heron07", number: 7, started: started)
        let format = StreamFormat(rateHz: 48_000, channels: channels, sampleFormat: sampleFormat)
        self.format = format
        sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 5_000_000_000),
            bootID: "0b0c0d0e-0000-4000-8000-000000000001", clock: .ntp, card: "usb:0d8c:0014", format: format,
            preRollFrames: 0, gainDB: nil, agc: nil, version: "0.1", startedBy: .button)
        var random = SeededRandom(seed: seed)
        var peaks: [Int8] = []
        var stored: [UInt8] = []
        for (index, part) in parts.enumerated() {
            let file = name.audioFile(part: index + 1)
            sidecar.parts.append(
                Sidecar.Part(file: file, firstFrame: TakeFrame(part.first), frames: part.frames, format: format))
            let sound = (0..<Int(part.frames) * channels).flatMap { _ in Self.sample(sampleFormat, &random) }
            let hole = Int(part.first) * format.bytesPerFrame - bytes.count
            bytes += [UInt8](repeating: 0, count: hole) + sound
            stored += sound
            let origin = BroadcastOrigin(
                sidecar: sidecar, started: started, firstFrame: part.first, format: format, isUnfiltered: false)
            let head = WAVHeader(format: format, origin: origin).bytes(dataBytes: Int64(sound.count))
            place.write(head + sound, to: file)
        }
        sidecar.frames = parts.reduce(0) { $0 + $1.frames }
        sidecar.markers = markers.map { Sidecar.Marker(atFrame: TakeFrame($0), note: "marker \($0)") }
        for region in regions {
            var marker = Sidecar.Marker(atFrame: TakeFrame(region.start), note: "region \(region.start)")
            marker.endFrame = TakeFrame(region.end)
            sidecar.markers.append(marker)
        }
        peaks = Self.naive(stored, format, framesPerPixel: 256, 0..<sidecar.frames)
        let file = PeaksFile(rateHz: 48_000, channels: channels, pairs: peaks)
        place.write(file.bytes, to: "\(sidecar.take).dat")
    }

    var end: Int64 { Int64(bytes.count / format.bytesPerFrame) }

    func bytes(_ range: Range<Int64>) -> [UInt8] {
        Array(bytes[Int(range.lowerBound) * format.bytesPerFrame..<Int(range.upperBound) * format.bytesPerFrame])
    }

    /// The minimum and maximum of each channel, pixel by pixel, computed sample by sample.
    func naive(framesPerPixel: Int64, _ range: Range<Int64>) -> [Int8] {
        Self.naive(bytes, format, framesPerPixel: framesPerPixel, range)
    }

    private static func naive(
        _ bytes: [UInt8], _ format: StreamFormat, framesPerPixel: Int64, _ range: Range<Int64>
    ) -> [Int8] {
        stride(from: range.lowerBound, to: range.upperBound, by: Int(framesPerPixel)).flatMap { start in
            (0..<format.channels).flatMap { channel -> [Int8] in
                let frames = start..<min(range.upperBound, start + framesPerPixel)
                let values = frames.map { frame -> Int in
                    let place = Int(frame) * format.bytesPerFrame + channel * format.sampleFormat.bytesPerSample
                    let width = format.sampleFormat.bytesPerSample
                    // The two most significant bytes of an integer sample.
                    return Int(
                        Int16(bitPattern: UInt16(bytes[place + width - 2]) | UInt16(bytes[place + width - 1]) << 8))
                }
                return [Int8(values.min()! / 256), Int8(values.max()! / 256)]
            }
        }
    }

    private static func sample(_ format: SampleFormat, _ random: inout SeededRandom) -> [UInt8] {
        if format == .float {
            let bits = Float.random(in: -1...1, using: &random).bitPattern
            return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        }
        let bits = UInt32.random(in: .min ... .max, using: &random)
        return (0..<format.bytesPerSample).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    }
}

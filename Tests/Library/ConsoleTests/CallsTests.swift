import DiskCalls
import Exports
import FinishedTakes
import Foundation
import OtherPrograms
import SeededRandom
import Spectra
import Takes
import TestBench
import Testing

/// The colours of the page reach from the noise to 24 dB above it, or further. This is a quarter of them.
private let leastExcess = 6

/// The sidecar of a take with this sound.
private func described(_ sound: CallSound, as number: Int) -> Sidecar {
    var sidecar = TakesOnDisk.sidecar(
        number, started: TakesOnDisk.morning + .seconds(1000 * number),
        seconds: Double(sound.frames) / Double(sound.format.rateHz), rateHz: sound.format.rateHz)
    sidecar.channels = 1
    sidecar.levels.removeLast()
    return sidecar
}

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct CallsTests {
    /// Rates, and lengths in seconds.
    private static let takes = [
        (48_000, 10), (48_000, 120), (384_000, 10), (48_000, 600), (384_000, 60), (48_000, 20), (48_000, 45),
        (48_000, 70), (48_000, 240), (48_000, 400),
    ].prefix(full(10, usually: 3))

    @Test(.enabled(if: SpectrumTests.hasRoom, "the disk is too full"))
    func `every call stands out in the picture that a page asks for first of a take`() throws {
        let kit = try RunningKit()
        for (number, (rateHz, seconds)) in Self.takes.enumerated() {
            let sound = CallSound(
                seconds: seconds, rateHz: rateHz, calls: full(20, usually: 4), seed: UInt64(1 + number))
            let stem = try kit.add(described(sound, as: 801 + number), sound.bytes)
            let query = "from=0&to=\(sound.frames)&columns=\(sound.firstColumns)&channel=0"
            var answer = try kit.phone.get("/api/takes/\(stem)/spectrum?\(query)")
            while answer.status == 202 {
                usleep(100_000)
                answer = try kit.phone.get("/api/takes/\(stem)/spectrum?\(query)")
            }
            let head = try #require(SpectrumHead(answer.bytes), "\(answer.status)")
            #expect(head.columns == sound.firstColumns && head.rateHz == rateHz && head.first == 0)
            let values = Array(answer.bytes.dropFirst(SpectrumHead.byteCount))
            for call in sound.calls {
                let excess = sound.excess(of: call, in: values, columns: head.columns, window: head.window)
                #expect(excess >= leastExcess, "\(rateHz) Hz, \(seconds) s: \(call)")
            }
        }
    }
}

@Suite(.waitsOnNamedThreads) struct DayLongCallsTests {
    private let folder = TestFolder()

    @Test func `every call stands out in the first picture of a take of a day`() throws {
        let sound = CallSound(
            seconds: 3600 * full(24, usually: 1), rateHz: 48_000, calls: full(200, usually: 8), seed: 24)
        let path = "\(folder.path)/a.spectrum"
        let writer = try SpectraWriter(path, sound: sound.format, frames: sound.frames)
        for piece in sound.pieces {
            let samples = sound.samples(of: piece)
            try writer.append(samples.span.bytes)
        }
        try writer.finish(sha256: String(repeating: "0", count: 64))
        let sidecar = described(sound, as: 1)
        let query = try PictureQuery(
            of: sidecar, range: 0..<sound.frames, columns: sound.firstColumns, channel: 0, window: nil)
        let picture = try query.picture(of: sidecar, by: [SpectraReader(path)])
        for call in sound.calls {
            let excess = sound.excess(
                of: call, in: picture.values, columns: picture.columns, window: picture.window)
            #expect(excess >= leastExcess, "\(call)")
        }
    }
}

import Foundation
import TakeFiles
import Takes

/// A valid take, as a seed for mutations.
enum MadeUpTake {
    static let started = WallTime(microseconds: 1_795_241_891_250_000)

    /// A WAV file as other programs write it, with 16 bits.
    static func wave(rateHz: UInt32, channels: UInt16, frames: Int) -> [UInt8] {
        let block = channels * 2
        let data = (0..<frames * Int(block)).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var bytes = Array("RIFF".utf8) + little(UInt32(36 + data.count)) + Array("WAVEfmt ".utf8) + little(UInt32(16))
        bytes += little(UInt16(1)) + little(channels) + little(rateHz) + little(rateHz * UInt32(block))
        bytes += little(block) + little(UInt16(16)) + Array("data".utf8) + little(UInt32(data.count)) + data
        return bytes
    }

    /// The recorder's sidecar for a take of two parts.
    static func sidecar(of take: TakeName) -> Sidecar {
        var sidecar = Sidecar(
            name: take, started: started, startedMonotonic: Instant(nanoseconds: 123_456_789_012),
            bootID: "5f8a2c1e-0b7d-4c57-9d55-3b1f0f6f2a11", clock: .ntp, card: "usb:0d8c:0014",
            format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16), preRollFrames: 100, gainDB: 12.5,
            agc: false,
            version: "0.1")
        sidecar.parts = [
            Sidecar.Part(file: take.audioFile(part: 1), firstFrame: .first, frames: 700, rateHz: 48000, format: .s16),
            Sidecar.Part(
                file: take.audioFile(part: 2), unfilteredFile: take.audioFile(part: 2, isUnfiltered: true),
                firstFrame: TakeFrame(700), frames: 700, rateHz: 48000, format: .s16),
        ]
        sidecar.frames = 1400
        sidecar.durationSeconds = 1400.0 / 48000
        sidecar.endedBy = .stop
        sidecar.filter = [
            Sidecar.FilterChange(atFrame: .first, lowPassHz: 21600, slopeDBPerOctave: 24, highPassHz: nil),
            Sidecar.FilterChange(atFrame: TakeFrame(800), lowPassHz: 8000, slopeDBPerOctave: 48, highPassHz: 120),
        ]
        sidecar.gaps = [Sidecar.Gap(atFrame: TakeFrame(10), frames: 5, cause: .xrun)]
        sidecar.clockMap = [
            Sidecar.ClockPoint(atFrame: TakeFrame(15), rawNs: 77, utc: started.iso8601, errorUs: 40)
        ]
        sidecar.suspectedLosses = [
            Sidecar.SuspectedLoss(
                afterFrame: TakeFrame(40), beforeFrame: TakeFrame(90), frames: 3, confidence: 0.5)
        ]
        sidecar.startedBy = .button
        sidecar.markers = [
            Sidecar.Marker(atFrame: TakeFrame(20), note: nil), Sidecar.Marker(atFrame: TakeFrame(30), note: "a heron"),
        ]
        var region = Sidecar.Marker(atFrame: TakeFrame(650), note: nil)
        (region.endFrame, region.lowHz, region.highHz) = (TakeFrame(900), 1500, 8000)
        sidecar.markers.append(region)
        sidecar.levels = [
            Sidecar.Levels(peakDBFS: -3.5, rmsDBFS: -20, clippedFrames: 0, filterClippedFrames: 0),
            Sidecar.Levels(peakDBFS: nil, rmsDBFS: nil, clippedFrames: 1, filterClippedFrames: 2),
        ]
        return sidecar
    }

    /// Records a short take with a region. Returns the bytes of its audio file.
    static func record(in directory: TakesDirectory) throws -> [UInt8] {
        let output = try begin(in: directory, keepsUnfiltered: false)
        try append(300, to: output)
        var region = Sidecar.Marker(atFrame: TakeFrame(100), note: "a heron")
        (region.endFrame, region.label) = (TakeFrame(200), "call")
        output.note(.marker(region))
        _ = try output.finish(endedBy: .stop, levels: [])
        let folder = URL(filePath: directory.sidecarPath(of: output.name)).deletingLastPathComponent()
        return Array(try Data(contentsOf: folder.appending(path: output.name.audioFile(part: 1))))
    }

    /// Leaves the remains of a recorder's take that was cut after `syncs` syncs. With more than three, the take is
    /// finished.
    static func cut(in directory: TakesDirectory, syncs: Int, keepsUnfiltered: Bool) throws {
        // Two parts of the smallest possible size.
        let output = try begin(in: directory, keepsUnfiltered: keepsUnfiltered, splitBytes: 4096 + 900)
        for sync in 0..<3 {
            try append(30 + 40 * sync, to: output, keepsUnfiltered: keepsUnfiltered)
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(output.frames - 1), note: "owl")))
            output.appendPeaks([1, 2, 3, 4])
            if sync < syncs { try output.synced(output.syncPoint().run()) }
        }
        guard syncs > 3 else { return }
        _ = try output.finish(endedBy: .stop, levels: [])
    }

    /// Leaves the remains of a take that was finished and then rejoined until it was cut, or the remains of its tail.
    static func cutAfterItsEnd(in directory: TakesDirectory, isRejoined: Bool) throws {
        let output = try begin(in: directory, keepsUnfiltered: true)
        try append(30, to: output, keepsUnfiltered: true)
        _ = try output.finish(endedBy: .stop, levels: [])
        try output.beginTail(format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s24Packed))
        try append(40, to: output, keepsUnfiltered: true)
        try output.synced(output.syncPoint().run())
        guard isRejoined else { return }
        try output.rejoin()
        try append(50, to: output, keepsUnfiltered: true)
        try output.synced(output.syncPoint().run())
    }

    private static func begin(
        in directory: TakesDirectory, keepsUnfiltered: Bool, splitBytes: Int64 = TakeOutput.largestSplitBytes
    ) throws -> TakeOutput {
        let name = try directory.nextTake(kit: "heron07", started: started)
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s24Packed)
        var first = sidecar(of: name)
        first.parts = []
        first.format = format.sampleFormat
        first.endedBy = nil
        first.markers = []
        return try TakeOutput(
            in: directory, name: name, sidecar: first, started: started, format: format,
            keepsUnfiltered: keepsUnfiltered,
            splitBytes: splitBytes)
    }

    private static func append(_ frames: Int, to output: TakeOutput, keepsUnfiltered: Bool = false) throws {
        let sound = (0..<frames * 6).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        try sound.withUnsafeBytes { try output.append($0, unfiltered: keepsUnfiltered ? $0 : nil) }
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}

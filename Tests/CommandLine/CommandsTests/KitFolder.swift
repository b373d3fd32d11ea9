import TakeFiles
import Takes
import TestBench

@testable import Commands

/// A kit whose services are not running, with real takes in a real folder.
final class KitFolder {
    let scratch = TestFolder()
    var path: String { scratch.path + "/takes" }
    static let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)
    static let started = WallTime(microseconds: 1_795_241_891_250_000)

    /// A finished take. `change` can add to its output and modify its sidecar.
    /// - Parameter sample: both bytes of each of its samples.
    @discardableResult
    func record(
        started: WallTime = started, seconds: Int = 2, sample: UInt8 = 3,
        _ change: (TakeOutput, inout Sidecar) -> Void = { _, _ in }
    ) throws -> TakeName {
        let directory = try TakesDirectory(path: path)
        let name = try directory.nextTake(kit: "heron07", started: started)
        let sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 0), bootID: "boot", clock: .ntp,
            card: "usb:0d8c:0014", format: Self.format, preRollFrames: 0, gainDB: 12, agc: false, version: "0",
            startedBy: .button)
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: started, format: Self.format, keepsUnfiltered: true)
        let bytes = [UInt8](repeating: sample, count: seconds * 48_000 * 4)
        try unsafe bytes.withUnsafeBytes { try unsafe output.append($0, unfiltered: $0) }
        output.note(
            .filter(Sidecar.FilterChange(atFrame: .first, lowPassHz: 21600, slopeDBPerOctave: 24, highPassHz: nil)))
        var finished = sidecar
        finished.endedBy = .stop
        var after = finished
        change(output, &after)
        _ = try output.finish(
            endedBy: .stop,
            levels: [
                Sidecar.Levels(peakDBFS: -3.5, rmsDBFS: -20, clippedFrames: 0, filterClippedFrames: 0),
                Sidecar.Levels(peakDBFS: nil, rmsDBFS: nil, clippedFrames: 0, filterClippedFrames: 0),
            ])
        if after != finished {
            _ = try directory.revise(name) { sidecar in
                sidecar.clock = after.clock
                sidecar.startedCorrected = after.startedCorrected
                sidecar.endedBy = after.endedBy
                sidecar.recovered = after.recovered
                sidecar.pendingFormat = after.pendingFormat
            }
        }
        return name
    }

    var access: LocalAccess {
        let path = path
        return LocalAccess(
            places: { _ in
                var places = barePlaces
                places.takes = path
                return places
            }, problems: { _ in [] }, list: { _, _ in [] })
    }
}

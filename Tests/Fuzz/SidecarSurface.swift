import Foundation
import TakeFiles
import Takes

/// The sidecar of a take whose sound is intact.
struct SidecarSurface: Surface {
    static let name = "sidecars"
    let mutator: Mutator
    private let directory: TakesDirectory
    private let folder: String
    private let take = TakeName(kit: "heron07", number: 42, started: MadeUpTake.started)

    init(scratch: String) throws {
        directory = try TakesDirectory(path: "\(scratch)/takes")
        folder = "\(scratch)/takes/\(take.day)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let wave = MadeUpTake.wave(rateHz: 48000, channels: 2, frames: 700)
        for part in 1...2 { try Data(wave).write(to: URL(filePath: "\(folder)/\(take.audioFile(part: part))")) }
        // A file that a part must not lead to.
        try Data(wave).write(to: URL(filePath: "\(scratch)/elsewhere.wav"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/heron07-0041_20261121_061811.wav", withDestinationPath: "\(scratch)/elsewhere.wav")
        let sidecar = MadeUpTake.sidecar(of: take)
        mutator = Mutator(
            seeds: [SidecarFile.bytes(sidecar)],
            words: [
                "../elsewhere.wav", "heron07-0041_20261121_061811.wav", "heron07-0042-p2_20261121_061811.wav",
                "./heron07-0042_20261121_061811.wav",
                "heron07-0042_20261121_061811.wav/", ".wav", "FLOAT_LE", "S24_LE", "power-cut",
                "9999-12-31T23:59:59.999999Z",
                "0000-00-00T00:00:00.000000Z", "-001-01-01T00:00:00.000000Z", "usb:0d8c:0014", "flac",
                #"{"file":"heron07-0042_20261121_061811.wav","first_frame":0,"frames":9223372036854775807,"rate_hz":1,"format":"S16_LE"}"#,
                #"{"at_frame":9223372036854775807,"frames":9223372036854775807,"cause":"xrun"},"#,
                #"{"at_frame":-9223372036854775808,"note":"x"},"#,
                #"{"at_frame":9,"note":"x","end_frame":1,"low_hz":9,"high_hz":-1e308},"#,
                #"{"at_frame":0,"note":"x","end_frame":9223372036854775807},"#,
                #"{"at_frame":1,"frames":2,"cause":"xrun","count":9223372036854775807,"until_frame":9},"#,
                #"{"at_frame":9,"frames":2,"cause":"xrun","count":2,"until_frame":1},"#,
                #"{"after_frame":9223372036854775807,"before_frame":0,"frames":1,"confidence":1e308},"#,
                #"{"at_frame":1,"raw_ns":9223372036854775807,"utc":null,"error_us":-1},"#,
            ])
    }

    mutating func take(_ input: [UInt8]) throws {
        let path = directory.sidecarPath(of: take)
        try Data(input).write(to: URL(filePath: path))
        let read: Sidecar
        do {
            read = try directory.sidecar(of: take)
        } catch {
            try hold(
                "\(error)".isOneLine && "\(error)".utf8.count <= 2000,
                "an error of \("\(error)".utf8.count) bytes: \(error)")
            try listen()
            return
        }
        try listen()
        // The recorder's own arithmetic on these values.
        for part in read.parts {
            _ = Sidecar.frames(part.firstFrame.count, at: part.rateHz, countedAt: read.rateHz)
            _ = part.firstFrame + part.frames
        }
        for marker in read.markers { _ = marker.clipped(to: 20..<1000) }
        _ = read.gapCount
        for gap in read.gaps { _ = gap.end }
        let revised = try directory.revise(take) { $0.startedCorrected = "2026-11-21T06:18:12.000000Z" }
        try hold(try directory.sidecar(of: take) == revised, "a revised sidecar reads otherwise")
        try hold(
            revised == read || revised.revision > read.revision || read.revision == .max,
            "revision \(revised.revision) follows \(read.revision)"
        )
        let written = SidecarFile.bytes(read)
        let again = try SidecarFile.sidecar(written, path: path)
        try hold(again == read, "a sidecar that is written reads otherwise")
    }

    /// Plays the take as far as that is possible without a card.
    private func listen() throws {
        let audio: TakeAudio
        do {
            audio = try TakeAudio(of: take, in: directory)
        } catch let error as Broken {
            throw error
        } catch {
            return try hold(
                "\(error)".isOneLine && "\(error)".utf8.count <= 5000,
                "an error of \("\(error)".utf8.count) bytes: \(error)")
        }
        try hold(audio.parts.count <= 10_000, "\(audio.parts.count) parts")
        for part in audio.parts.prefix(20) {
            let name = part.path.dropFirst(folder.count + 1)
            try hold(
                part.path.hasPrefix(folder + "/") && take.mayOwn(String(name)),
                "it plays \(part.path)")
        }
        var samples = [Double](repeating: 0, count: 256)
        var span = samples.mutableSpan
        _ = try audio.read(part: 0, at: 100, into: &span)
    }
}

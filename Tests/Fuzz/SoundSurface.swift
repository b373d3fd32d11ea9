import Foundation
import TakeFiles
import Takes

/// The audio file of a take that is played.
struct SoundSurface: Surface {
    static let name = "sound"
    let mutator: Mutator
    private let directory: TakesDirectory
    private let path: String
    private let take = TakeName(kit: "heron07", number: 42, started: MadeUpTake.started)

    init(scratch: String) throws {
        directory = try TakesDirectory(path: "\(scratch)/takes")
        let folder = "\(scratch)/takes/\(take.day)"
        path = "\(folder)/\(take.audioFile(part: 1))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A take of the recorder, with its bext and cue chunks, and a plain WAV file.
        let own = try MadeUpTake.record(in: directory)
        mutator = Mutator(
            seeds: [own, MadeUpTake.wave(rateHz: 44100, channels: 1, frames: 300)],
            words: [
                "RIFF", "RIFX", "RF64", "WAVE", "fmt ", "data", "fact", "bext", "cue ", "LIST", "adtl", "labl", "ltxt",
                "fLaC", "OggS", "FORM", "AIFF",
            ])
    }

    mutating func take(_ input: [UInt8]) throws {
        try Data(input).write(to: URL(filePath: path))
        do {
            let reader = try SoundFileReader(path: path)
            for cue in reader.cues() {
                try hold(cue.label.utf8.count <= 256, "a label of \(cue.label.utf8.count) bytes")
            }
            _ = reader.origin()
        } catch {
            try hold(
                "\(error)".isOneLine && "\(error)".utf8.count <= 2000,
                "an error of \("\(error)".utf8.count) bytes: \(error)")
        }
        do {
            let audio = try TakeAudio(of: take, in: directory)
            let part = audio.parts[0]
            try hold((1...1024).contains(part.format.channels), "\(part.format.channels) channels")
            try hold((1...10_000_000).contains(part.format.rateHz), "\(part.format.rateHz) Hz")
            try hold((0...(1 << 48)).contains(part.frames), "\(part.frames) frames")
            var samples = [Double](repeating: 0, count: 16 * part.format.channels)
            var span = samples.mutableSpan
            for frame in [0, part.frames / 2, max(0, part.frames - 3)] {
                _ = try audio.read(part: 0, at: frame, into: &span)
            }
        } catch let error as Broken {
            throw error
        } catch {
            try hold(
                "\(error)".isOneLine && "\(error)".utf8.count <= 2000,
                "an error of \("\(error)".utf8.count) bytes: \(error)")
        }
    }
}

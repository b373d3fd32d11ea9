import Foundation
import Ring
import ScriptedPlayback
import SeededRandom
import TakeFiles
import Takes
import TestBench
import Workers

@testable import Playback

/// A take of three channels on disk, and a player without a thread on a card that plays as the clock advances.
///
/// The first channel is the sound. The other two are too quiet to matter. The quotient of the third and the second is
/// the number of the take's frame, whatever playback did to the sound.
final class PlayRig {
    let clock = TestClock()
    let sink: ScriptedSink
    let player: Worker<PlayOrder, PlayOutcome>
    let frames: Int
    private let folder = TestFolder()
    private let directory: TakesDirectory
    private let take: TakeName

    /// The reports of the player.
    private(set) var facts: PlayFacts?
    private(set) var progress: PlayProgress?
    private(set) var done = 0
    private(set) var end: (position: Double, failure: PlayFailure?)?

    static let rateHz = 16000
    static let format = StreamFormat(rateHz: rateHz, channels: 3, sampleFormat: .s32)
    private static let marker = 1e-3

    /// - Parameter sound: the sample of a frame.
    init(seconds: Double, parts: Int = 1, _ sound: (Int) -> Double) throws {
        frames = Int(seconds * Double(Self.rateHz))
        sink = ScriptedSink(clock: clock)
        sink.bufferFrames = Self.rateHz / 2
        player = Player.worker(sink: sink, clock: clock)
        directory = try TakesDirectory(path: folder.path)
        take = TakeName(kit: "heron07", number: 1, started: clock.wallTime())
        let day = "\(folder.path)/\(take.day)"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        // Without a readable sidecar, the existing files are the parts.
        try Data("-".utf8).write(to: URL(fileURLWithPath: "\(day)/\(take.stem).json"))
        for part in 0..<parts {
            let range = frames * part / parts..<frames * (part + 1) / parts
            let samples = range.flatMap { frame in
                let place = Self.marker * Double(frame) / Double(frames)
                return [sound(frame), Self.marker, place].map { Int32(($0 * 2_147_483_647).rounded()) }
            }
            let name = take.audioFile(part: part + 1)
            try Self.wave(samples).write(to: URL(fileURLWithPath: "\(day)/\(name)"))
        }
    }

    private static func wave(_ samples: [Int32]) -> Data {
        let bytes = samples.count * 4
        func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 255) } }
        var head = Array("RIFF".utf8) + number(36 + bytes, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
        head += number(1, 2) + number(3, 2) + number(rateHz, 4) + number(rateHz * 12, 4) + number(12, 2) + number(32, 2)
        head += Array("data".utf8) + number(bytes, 4)
        return Data(head) + samples.withUnsafeBytes { Data($0) }
    }

    func begin(_ tuning: Tuning = Tuning()) {
        player.post(.begin(beginning(tuning)))
        turn()
    }

    /// The player's order to play the take.
    func beginning(_ tuning: Tuning = Tuning()) -> PlayBegin {
        PlayBegin(take: take, directory: directory, card: .automatic, companion: nil, volume: 1, tuning: tuning)
    }

    func order(_ order: PlayOrder) {
        player.post(order)
        turn()
    }

    func turn() {
        sink.play()
        _ = player.step()
        for outcome in player.outcomes() {
            switch outcome {
            case .began(let facts): self.facts = facts
            case .progress(let progress): self.progress = progress
            case .done: done += 1
            case .ended(_, let position, let failure): end = (position, failure)
            case .monitor: break
            }
        }
    }

    func run(_ duration: Duration, step: Duration = .milliseconds(5), then: () -> Void = {}) {
        var left = duration
        while left > .zero, end == nil {
            clock.advance(by: min(step, left))
            left -= min(step, left)
            turn()
            then()
        }
    }

    func playOut(then: () -> Void = {}) {
        while end == nil { run(.milliseconds(20), step: .milliseconds(20), then: then) }
    }

    // MARK: - Played sound

    private var samples: [Int32] {
        sink.played.withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
    }

    func channel(_ channel: Int) -> [Double] {
        let samples = samples
        return stride(from: channel, to: samples.count, by: 3).map { Double(samples[$0]) / 2_147_483_647 }
    }

    /// The sound, from the take's first played frame to its last.
    var sound: [Double] {
        let (sound, marks) = (channel(0), channel(1))
        guard let first = marks.firstIndex(where: { $0 != 0 }), let last = marks.lastIndex(where: { abs($0) > 1e-7 })
        else { return [] }
        return Array(sound[first...last])
    }

    /// The place in seconds of the last played frame, or nil if it is silent, faded, or cross-faded with silence.
    var place: Double? {
        let bytes = sink.played.suffix(12)
        guard bytes.count == 12 else { return nil }
        let frame = Array(bytes).withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
        guard Double(frame[1]) / 2_147_483_647 > 0.98 * Self.marker else { return nil }
        return Double(frame[2]) / Double(frame[1]) * Double(frames) / Double(Self.rateHz)
    }

    /// The position that the player reports.
    var position: Double? { progress?.seconds(at: clock.now()) }
}

enum Waves {
    /// A sine of half scale, at the rate of the rig.
    static func sine(_ hertz: Double) -> (Int) -> Double {
        { 0.5 * sin(2 * .pi * hertz * Double($0) / Double(PlayRig.rateHz)) }
    }

    /// A voice: harmonics of a tone whose pitch moves.
    static func voice(_ frame: Int) -> Double {
        let seconds = Double(frame) / Double(PlayRig.rateHz)
        let phase = 2 * .pi * 120 * seconds - 3 * cos(2 * .pi * 1.3 * seconds)
        return (1...8).reduce(0) { $0 + 0.15 * sin(Double($1) * phase) / Double($1) }
    }

    static func noise(_ frame: Int) -> Double {
        var random = SeededRandom(seed: 3, index: UInt64(frame))
        return Double(random.below(2001) - 1000) / 4000
    }

    /// The frequency of a tone, from its zero crossings.
    static func frequency(_ samples: some Collection<Double>) -> Double {
        var crossings: [Double] = []
        var last = 0.0
        for (index, sample) in samples.enumerated() {
            if last < 0, sample >= 0 { crossings.append(Double(index) - sample / (sample - last)) }
            last = sample
        }
        guard let first = crossings.first, let end = crossings.last, crossings.count > 1 else { return 0 }
        return Double(crossings.count - 1) / (end - first) * Double(PlayRig.rateHz)
    }
}

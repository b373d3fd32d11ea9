import Files
import Glibc
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// A take with every feature (markers, a filter change, a gap, splits, a twin, a card that was away) that is
/// interrupted at some moment, and the frames that were synced before.
struct CutTake {
    static let otherRate = StreamFormat(rateHz: 44_100, channels: 2, sampleFormat: .s16)
    static let kit = "heron07"
    /// The boot in which it was recorded.
    static let bootID = testSidecar(TakeName(kit: kit, number: 1, started: morning)).bootID

    static let filtered = sound(0..<2370, stereo16)
    static let unfiltered = sound(0..<2370, stereo16, seed: 7)

    /// The data that was synced at some moment.
    struct Owed {
        var frames: Int64 = 0
        var sidecar: Sidecar?
    }

    private(set) var name: TakeName?
    private(set) var owed = Owed()
    private(set) var isFinished = false

    /// Records the take until something fails, as if the process had ended there.
    /// - Parameter syncs: called with the synced data each time that there is more.
    static func record(in directory: TakesDirectory, syncs: (Owed) -> Void = { _ in }) -> CutTake {
        var take = CutTake()
        try? take.record(in: directory, syncs)
        return take
    }

    private mutating func record(in directory: TakesDirectory, _ syncs: (Owed) -> Void) throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        name = output.name
        func sync() throws {
            try output.sync()
            owed = Owed(frames: output.frames, sidecar: output.sidecar)
            syncs(owed)
        }
        output.note(filter: [
            Sidecar.FilterChange(atFrame: 0, lowPassHz: 21_600, slopeDBPerOctave: 24, highPassHz: nil)
        ])
        for (turn, count) in ([100, 700, 1200]).enumerated() {
            try append(count, to: output)
            output.appendPeaks([Int8](repeating: Int8(turn), count: 4096))
            output.note(markers: [Sidecar.Marker(atFrame: output.frames - 1, note: turn == 1 ? "owl" : nil)])
            if turn == 1 {
                output.note(filter: [
                    Sidecar.FilterChange(atFrame: 400, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: 80)
                ])
                output.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(500), gainDB: 7.5, agc: false)))
                output.note(gaps: [Sidecar.Gap(atFrame: 300, frames: 20, cause: .xrun)])
            }
            try sync()
        }
        try output.beginPart(format: Self.otherRate, firstFrame: 5000)
        try append(333, to: output)
        output.note(markers: [Sidecar.Marker(atFrame: 5100, note: nil)])
        try sync()
        try append(37, to: output)
        _ = try output.finish(endedBy: .stop, levels: [])
        isFinished = true
        owed.frames = output.frames
        syncs(owed)
    }

    private func append(_ count: Int, to output: TakeOutput) throws {
        let range = Int(output.frames) * 4..<(Int(output.frames) + count) * 4
        try Self.filtered[range].withUnsafeBytes { bytes in
            try Self.unfiltered[range].withUnsafeBytes { twin in try output.append(bytes, unfiltered: twin) }
        }
    }

    /// Checks the take after its recovery.
    ///
    /// - Parameter isExact: whether frames that were not synced must also match the recorded sound, as far as they
    ///   exist.
    func check(
        in directory: TakesDirectory, _ comment: Comment, isExact: Bool = true, owed: Owed? = nil
    ) throws {
        let owed = owed ?? self.owed
        guard let name, try directory.takes().contains(name) else {
            #expect(owed.frames == 0, comment)
            return
        }
        let sidecar = try directory.sidecar(of: name)
        // The take counts the frames of its last part at another rate.
        let own = sidecar.parts.reduce(0) { $0 + $1.frames }
        #expect(own >= owed.frames && own <= 2370, comment)
        #expect(
            sidecar.frames
                == sidecar.parts.reduce(0) { $0 + Sidecar.frames($1.frames, at: $1.rateHz, countedAt: 48_000) }, comment
        )
        let audio = try TakeAudio(of: name, in: directory)
        #expect(audio.parts.map(\.frames) == sidecar.parts.map(\.frames), comment)
        #expect(audio.parts.map(\.format.rateHz) == sidecar.parts.map(\.rateHz), comment)
        let folder = "\(directory.path)/\(name.day)"
        func sound(_ file: String, _ frames: Int64) throws -> ArraySlice<UInt8> {
            let bytes = try directory.files.contents("\(folder)/\(file)")
            return bytes.dropFirst(WAVHeader.byteCount).prefix(Int(frames) * 4)
        }
        let sure = Int(isExact ? own : owed.frames) * 4
        let filtered = try sidecar.parts.flatMap { try sound($0.file, $0.frames) }
        #expect(filtered.count == Int(own) * 4, comment)
        let isRight = filtered.prefix(sure) == Self.filtered.prefix(sure)
        #expect(isRight, comment)
        // The twin of sound that was not synced may be lost.
        let unfiltered = try sidecar.parts.flatMap { part in
            let twin = part.file.twin
            let isThere = try directory.files.entries(folder).contains(twin)
            return isThere ? try sound(twin, part.twinFrames) : []
        }
        #expect(unfiltered.count == filtered.count || unfiltered.count >= owed.frames * 4, comment)
        let isTwinRight = unfiltered.prefix(sure) == Self.unfiltered.prefix(min(sure, unfiltered.count))
        #expect(isTwinRight, comment)

        if let written = owed.sidecar {
            #expect(sidecar.markers.starts(with: written.markers), comment)
            #expect(sidecar.filter.starts(with: written.filter), comment)
            #expect(sidecar.gain.starts(with: written.gain), comment)
            #expect(sidecar.gaps.starts(with: written.gaps), comment)
        }
        // The parts that exist must begin with these frames. The times in the headers are rounded to a frame at either
        // rate.
        var before: Int64 = 0
        let isInPlace = zip(sidecar.parts, [0, 896, 1792, 5000] as [Int64]).allSatisfy { part, first in
            defer { before += part.frames }
            return before * 4 >= sure || abs(part.firstFrame.count - first) <= (first == 5000 ? 1 : 0)
        }
        #expect(isInPlace, comment)
        let cues = try sidecar.parts.flatMap { part in
            let reader = try SoundFileReader(path: "\(folder)/\(part.file)")
            return reader.cues().map { cue in
                part.firstFrame + Sidecar.frames(cue.frame, at: part.rateHz, countedAt: sidecar.rateHz)
            }
        }
        #expect(cues == sidecar.markers.map(\.atFrame), comment)
        // A twin that was not synced may exist without its filtered sound.
        let left = try directory.files.entries(folder).filter {
            ($0.contains(".part") || $0.contains(".tmp")) && (isExact || !$0.hasEnding("-raw.wav.part"))
        }
        #expect(left == [], comment)
    }
}

/// Recovers all interrupted takes.
func recoverAll(
    in directory: TakesDirectory, bootID: String = "another"
) throws -> [TakeRecovery.Outcome] {
    try directory.leftovers().map { name in
        let recovery = TakeRecovery(of: name, in: directory, bootID: bootID)
        while true {
            if let outcome = try recovery.step() { return outcome }
        }
    }
}

extension TestFolder {
    /// A folder that contains these files.
    convenience init(_ contents: [String: [UInt8]]) {
        self.init(in: .memory)
        for (name, bytes) in contents { write(bytes, to: name) }
    }
}

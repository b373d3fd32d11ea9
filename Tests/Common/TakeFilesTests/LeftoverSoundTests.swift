import Files
import Takes
import Testing

@testable import TakeFiles

struct LeftoverSoundTests {
    private let bench = RecoveryBench()

    private static func audio(_ part: Int, isUnfiltered: Bool = false) -> String {
        RecoveryBench.take.audioFile(part: part, isUnfiltered: isUnfiltered)
    }

    /// The bytes of an audio file that a take left.
    private func recorded() throws -> [UInt8] {
        let take = try bench.record { try $0.append(100) }
        #expect(take == RecoveryBench.take)
        return try bench.files.contents("\(bench.folder)/\(Self.audio(1)).part")
    }

    /// Reads these audio files without a draft.
    private func sound(_ files: [String: [UInt8]]) throws -> LeftoverSound {
        let site = try bench.site()
        for (name, bytes) in files { try bench.make(bytes, name) }
        let names = files.keys.compactMap { AudioFileName($0, of: RecoveryBench.take) }
        return try LeftoverSound(names, nil, at: site, received: [:])
    }

    private func files(_ sound: [LeftoverSound.File]) -> [String] {
        sound.map { $0.name.file + $0.name.stage.suffix }
    }

    @Test func `files are sorted by part and twin, and by their makers`() throws {
        let own = try recorded()
        let sound = try sound([
            Self.audio(2) + ".part": own, Self.audio(1) + ".part": own,
            Self.audio(1, isUnfiltered: true) + ".part": [], Self.audio(3) + ".part": RecoveryBench.junk,
        ])
        #expect(
            files(sound.own) == [
                Self.audio(1) + ".part", Self.audio(1, isUnfiltered: true) + ".part", Self.audio(2) + ".part",
            ])
        #expect(sound.own.map { $0.frames(of: stereo16) } == [100, 0, 100])
        #expect(sound.strange == [Self.audio(3) + ".part"])
        #expect(sound.all.count == 4 && !sound.isFinal && !sound.hasAllHeaders)
    }

    @Test func `files that all have their final names need nothing`() throws {
        let own = try recorded()
        let sound = try sound([Self.audio(1): own, Self.audio(2): own])
        #expect(sound.isFinal && sound.hasAllHeaders)
        #expect(try !self.sound([Self.audio(1): own, Self.audio(2) + ".part": own]).isFinal)
    }

    @Test func `another file with the name of listed sound is in the way`() throws {
        let file = Self.audio(1)
        let site = try bench.site()
        try bench.make(Array("RIFF....WAVEfmt ".utf8), file)
        let name = try #require(AudioFileName(file, of: site.name))
        var sidecar = testSidecar(site.name)
        sidecar.setParts([
            Sidecar.Part(file: file, unfilteredFile: nil, firstFrame: .first, frames: 100, format: stereo16)
        ])
        let listing = sidecar
        #expect(
            problem { () throws(LeftoverProblem) in try LeftoverSound([name], listing, at: site, received: [:]) }
                == LeftoverProblem.isInTheWay(site.path(file), of: site.name, "has the name of its sound").summary)
        #expect(try LeftoverSound([name], nil, at: site, received: [:]).strange == [file])
    }

    @Test func `an empty file beside the file with the sound is superfluous, a second one with sound a problem`()
        throws
    {
        let own = try recorded()
        let empty = try sound([Self.audio(1) + ".part": own, Self.audio(1): []])
        let (kept, superfluous) = try empty.files(listed: [], of: RecoveryBench.take)
        #expect(files(kept) == [Self.audio(1) + ".part"])
        #expect(superfluous.map(\.stage) == [.final])
        let both = try sound([Self.audio(1) + ".part": own, Self.audio(1): own])
        #expect(
            problem { () throws(LeftoverProblem) in try both.files(listed: [], of: RecoveryBench.take) }
                == LeftoverProblem.twoNames(of: RecoveryBench.take).summary)
    }

    @Test func `a tail is part of the take once the draft lists it`() throws {
        let own = try recorded()
        let sound = try sound([Self.audio(1) + ".part": own, Self.audio(2) + ".tail": own])
        let before = try sound.files(listed: [Self.audio(1)], of: RecoveryBench.take)
        #expect(files(before.kept) == [Self.audio(1) + ".part"])
        #expect(before.superfluous.map(\.file) == [Self.audio(2)])
        let after = try sound.files(listed: [Self.audio(1), Self.audio(2)], of: RecoveryBench.take)
        #expect(files(after.kept) == [Self.audio(1) + ".part", Self.audio(2) + ".tail"])
        #expect(after.superfluous.isEmpty)
    }
}

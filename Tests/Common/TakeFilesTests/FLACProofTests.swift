import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// WAV files next to FLAC files that the sidecar lists, after an interruption before their removal or from a backup.
struct FLACProofTests {
    private let bench: ConversionBench
    private let files = FileSystem()

    init() throws { bench = try ConversionBench() }

    /// A converted take, and its original WAV files.
    private func converted(frames: Int64 = 300) throws -> (TakeName, waves: [String: [UInt8]]) {
        let take = try bench.pendingTake(frames: frames)
        let waves = try everything(in: bench.directory.path).filter { $0.key.hasSuffix(".wav") }
        _ = try bench.convert(take)
        return (take, waves)
    }

    private func put(_ bytes: [UInt8], _ name: String) throws {
        try files.write(bytes, to: files.create(bench.path(name), isNew: false), at: 0)
    }

    private func put(_ waves: [String: [UInt8]]) throws {
        for (name, bytes) in waves { try put(bytes, String(name.dropFirst(11))) }
    }

    /// Changes a byte, counted from the end.
    private func flip(_ name: String, fromEnd place: Int) throws {
        let bytes = try files.contents(bench.path(name))
        let index = bytes.count - place
        try files.write([~bytes[index]], to: files.open(bench.path(name)), at: Int64(index))
    }

    private func removeFingerprints(of take: TakeName) throws {
        _ = try bench.directory.revise(take) { sidecar in
            for part in sidecar.parts.indices {
                sidecar.parts[part].soundSHA256 = nil
                sidecar.parts[part].unfilteredSoundSHA256 = nil
                sidecar.parts[part].fingerprint = nil
            }
        }
    }

    enum Damage: CaseIterable { case gone, empty, head, half, byte }

    private func damage(_ name: String, _ damage: Damage) throws {
        let path = bench.path(name)
        switch damage {
        case .gone: try files.remove(path)
        case .empty: try files.truncate(files.open(path), to: 0)
        case .head: try files.truncate(files.open(path), to: 44)
        case .half: try files.truncate(files.open(path), to: Int64(files.contents(path).count - 200))
        case .byte: try flip(name, fromEnd: 40)
        }
    }

    @Test(arguments: Damage.allCases, ["", "-raw", "-p2", "-p2-raw"])
    func `a WAV beside a FLAC that is damaged is not removed: the FLAC is made of it again`(
        damage: Damage, base: String
    ) throws {
        let (take, waves) = try converted()
        try put(waves)
        try self.damage(take.stem.file("\(base).flac"), damage)
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
        while try bench.directory.sidecar(of: take).pendingFormat == nil { try #require(try conversion.step() == nil) }
        let listed = try bench.directory.sidecar(of: take).sounds.map(\.file)
        #expect(listed.filter { $0.hasSuffix(".wav") } == [take.stem.file("\(base).wav")])
        #expect(try bench.run(conversion) == .converted(try bench.directory.sidecar(of: take)))
        try bench.expectConverted(take)
    }

    @Test(arguments: Damage.allCases)
    func `each file is listed under the name that it has`(damage: Damage) throws {
        let (take, waves) = try converted()
        try put(waves.filter { $0.key.hasSuffix("\(take.stem).wav") })
        try self.damage("\(take.stem).flac", damage)
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
        while try bench.directory.sidecar(of: take).pendingFormat == nil { try #require(try conversion.step() == nil) }
        let part = try bench.directory.sidecar(of: take).parts[0]
        #expect(part.file == "\(take.stem).wav" && part.unfilteredFile == take.stem.file("-raw.flac"))
        _ = try bench.run(conversion)
        try bench.expectConverted(take)
    }

    @Test(arguments: Damage.allCases)
    func `where neither file holds the recorded sound, both stay, and that is said`(damage: Damage) throws {
        let (take, waves) = try converted()
        try put(waves)
        try self.damage(take.stem.file("-p2.flac"), damage)
        let wave = try files.open(bench.path(take.stem.file("-p2.wav")))
        try files.write([1, 2, 3], to: wave, at: 4200)
        let before = try everything(in: bench.directory.path).filter { $0.key.contains(take.stem.file("-p2.")) }
        let outcome = try bench.convert(take)
        #expect(
            outcome
                == .kept(
                    try bench.directory.sidecar(of: take),
                    "convert \(take.stem) to FLAC: it is not proven that \(bench.path(take.stem.file("-p2.flac"))) or the WAV "
                        + "beside it holds the recorded sound: both stay: move the file that is damaged to another place"
                ))
        #expect(try everything(in: bench.directory.path).filter { $0.key.contains(take.stem.file("-p2.")) } == before)
        // The other files are whole.
        #expect(try bench.names().filter { $0.hasSuffix(".wav") } == [take.stem.file("-p2.wav")])
    }

    @Test func `without a fingerprint the FLAC is compared with the WAV`() throws {
        let (take, waves) = try converted()
        try removeFingerprints(of: take)
        try put(waves)
        _ = try bench.convert(take)
        try bench.expectConverted(take)

        try put(waves)
        try files.write([1, 2, 3], to: files.open(bench.path("\(take.stem).wav")), at: 4200)
        try damage(take.stem.file("-p2.flac"), .byte)
        try damage(take.stem.file("-p2-raw.flac"), .gone)
        _ = try bench.convert(take)
        #expect(try bench.names().filter { $0.hasSuffix(".wav") } == ["-p2.wav", ".wav"].map { take.stem.file($0) })
        #expect(try bench.names().filter { $0.hasSuffix(".flac") }.count == 4)
        #expect(
            try frames(of: bench.path(take.stem.file("-p2-raw.flac"))) == sound(200..<300, stereo16, seed: 7))
    }

    @Test func `the WAV of a twin alone is found as well`() throws {
        let (take, waves) = try converted()
        #expect(try !bench.directory.awaitsConversion(take))
        try put(waves.filter { $0.key.hasEnding("-p2-raw.wav") })
        #expect(try bench.directory.awaitsConversion(take))
        _ = try bench.convert(take)
        try bench.expectConverted(take)
        #expect(try !bench.directory.awaitsConversion(take))
    }

    @Test func `a long file is compared in many slices`() throws {
        let (take, waves) = try converted(frames: 600_000)
        try put(waves)
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
        var steps = 0
        while try conversion.step() == nil { steps += 1 }
        #expect(steps > 2 * 600_000 * 2 / 131_072)
        try bench.expectConverted(take)
    }

    @Test func `FLAC beside the WAV that the sidecar lists stays if the WAV is damaged`() throws {
        let (take, waves) = try converted()
        let flac = try files.contents(bench.path("\(take.stem).flac"))
        try put(waves)
        _ = try bench.directory.revise(take) { sidecar in
            sidecar.parts[0].file = "\(take.stem).wav"
            sidecar.pendingFormat = "flac"
        }
        try files.write([1, 2, 3], to: files.open(bench.path("\(take.stem).wav")), at: 4200)
        guard case .kept = try bench.convert(take) else {
            Issue.record("the damage was not found")
            return
        }
        #expect(try files.contents(bench.path("\(take.stem).flac")) == flac)
        #expect(try bench.names().contains("\(take.stem).wav"))
    }
}

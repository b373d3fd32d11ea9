import Files
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// The use of the sound's fingerprint during a conversion to FLAC.
struct FLACFingerprintTests {
    let bench: ConversionBench

    init() throws { bench = try ConversionBench() }

    private struct Unexpected: Error {
        var what: String

        init(_ what: String) { self.what = what }
    }

    /// Changes a byte of the sound of an audio file.
    private func damage(_ name: String, at place: Int64, byte: UInt8 = 0x2a) throws {
        let files = FileSystem()
        let file = try files.open(bench.path(name))
        let old = try files.read(file, at: 4096 + place, count: 1)
        try files.write([old[0] ^ byte], to: file, at: 4096 + place)
    }

    @Test(arguments: ["", "-raw", "-p2", "-p2-raw"], [Int64(0), 399])
    func `a WAV whose sound was damaged stays WAV, and nothing is deleted`(base: String, place: Int64) throws {
        let take = try bench.pendingTake()
        let parts = try bench.directory.sidecar(of: take).parts
        try damage(take.stem.file("\(base).wav"), at: place)
        let before = try everything(in: bench.directory.path).filter { $0.key.hasSuffix(".wav") }
        let outcome = try bench.convert(take)
        try bench.expectKept(
            take, outcome,
            "\(take.stem.file("\(base).wav")) does not hold the sound that its fingerprint was computed of, restore it from a copy"
        )
        let after = try everything(in: bench.directory.path)
        #expect(after.filter { $0.key.hasSuffix(".wav") } == before)
        #expect(after.keys.filter { $0.contains(".flac") } == [])
        #expect(try bench.directory.sidecar(of: take).parts == parts)
    }

    @Test func `a fingerprint that was computed later counts as well, and a take without one is converted`() throws {
        let take = try bench.pendingTake()
        _ = try bench.directory.revise(take) { $0.parts[0].fingerprint = .later }
        try damage("\(take.stem).wav", at: 100)
        guard case .kept = try bench.convert(take) else { throw Unexpected("the damage was not found") }
        _ = try bench.directory.revise(take) { sidecar in
            for part in sidecar.parts.indices {
                sidecar.parts[part].soundSHA256 = nil
                sidecar.parts[part].unfilteredSoundSHA256 = nil
                sidecar.parts[part].fingerprint = nil
            }
            sidecar.pendingFormat = "flac"
        }
        guard case .converted(let sidecar) = try bench.convert(take) else {
            throw Unexpected("it was not converted")
        }
        #expect(sidecar.parts.map(\.fingerprint) == [nil, nil])
    }

    @Test func `a header, cue points and metadata that were edited do not hinder the conversion`() throws {
        let take = try bench.pendingTake()
        let files = FileSystem()
        let path = bench.path("\(take.stem).wav")
        // The description in `bext`.
        let offset = try #require(files.contents(path).firstRange(of: Array("Take heron07".utf8))).lowerBound
        try files.write(Array("Wren".utf8), to: files.open(path), at: Int64(offset))
        _ = try bench.convert(take)
        try bench.expectConverted(take)
    }

    @Test func `a card that carries 24 bits in 32 keeps its fingerprint, which is of 32`() throws {
        let format = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s32)
        let output = try TakeOutput(bench.directory, format, pendingFormat: "flac")
        var bytes = sound(0..<500, format)
        for index in stride(from: 0, to: bytes.count, by: 4) { bytes[index] = 0 }
        try bytes.withUnsafeBytes { try output.append($0) }
        let parts = try output.finish(endedBy: .stop, levels: []).parts
        var digest = SoundDigest()
        digest.update(bytes)
        #expect(parts[0].soundSHA256 == digest.hexadecimal)
        guard case .converted(let sidecar) = try bench.convert(output.name) else {
            throw Unexpected("it was not converted")
        }
        #expect(sidecar.parts[0].file.hasSuffix(".flac"))
        #expect(sidecar.parts[0].soundSHA256 == parts[0].soundSHA256 && sidecar.parts[0].fingerprint == .capture)
    }
}

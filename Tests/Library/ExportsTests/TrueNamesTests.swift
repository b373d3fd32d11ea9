import Digests
import DiskCalls
import Exports
import Files
import Foundation
import OtherPrograms
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing

/// Copies of takes that began before the clock was set.
@Suite(.waitsOnNamedThreads) final class TrueNamesTests {
    private let folder = TestFolder()
    private var path: String { folder.path }
    private let directory: TakesDirectory
    private let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)
    /// The date of a clock that was never set.
    private let wrong = WallTime(iso8601: "2016-01-01T00:00:07.000000Z")!

    init() throws { directory = try TakesDirectory(path: folder.path) }

    /// A take with two parts and their unfiltered twins that began while the clock was not set. It is set afterwards.
    private func take(isFLAC: Bool) throws -> (name: TakeName, sidecar: Sidecar) {
        let name = try directory.nextTake(kit: "heron07", started: nil)
        var sidecar = Sidecar(
            name: name, started: wrong, startedMonotonic: Instant(nanoseconds: 7_000_000_000), bootID: "boot",
            clock: .unset, card: "usb:0d8c:0014", format: format, preRollFrames: 0, gainDB: nil, agc: nil,
            version: "0.2", startedBy: .button)
        sidecar.pendingFormat = isFLAC ? "flac" : nil
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: wrong, format: format, keepsUnfiltered: true)
        for (first, frames, seed) in [(0, 60_000, 1), (60_000, 30_000, 2)] {
            if first > 0 { try output.beginPart(format: format, firstFrame: TakeFrame(Int64(first))) }
            let sound = (0..<frames * 4).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 0x9e37_79b1 >> 13) }
            let twin = sound.map { $0 ^ 0x55 }
            try sound.withUnsafeBytes { sound in
                try twin.withUnsafeBytes { try output.append(sound, unfiltered: $0) }
            }
        }
        _ = try output.finish(endedBy: .stop, levels: [])
        if isFLAC {
            let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
            while try conversion.step() == nil {}
        }
        let set = try directory.revise(name) { $0.startedCorrected = "2026-11-21T06:18:11.250000Z" }
        return (name, set)
    }

    /// The bytes of a file's copy, edited in pieces of the given size.
    private func copy(_ file: String, of name: TakeName, _ names: TrueNames, piece: Int = 1000) throws -> [UInt8] {
        let files = FileSystem()
        let open = try files.open("\(path)/\(name.day)/\(file)")
        let edit = try #require(try names.edit(of: file, in: open))
        let bytes = try files.contents("\(path)/\(name.day)/\(file)")
        var copy: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            var stretch = Array(bytes[start..<min(start + piece, bytes.count)])
            edit.apply(to: &stretch, at: Int64(start))
            copy += stretch
        }
        #expect(copy.count == bytes.count)
        return copy
    }

    @Test(arguments: [false, true]) func `copies have the true name and date, and the same sound`(isFLAC: Bool) throws {
        let (name, sidecar) = try take(isFLAC: isFLAC)
        #expect(name.day == "unset" && name.stem == "heron07-0001_unset")
        let ending = isFLAC ? "flac" : "wav"
        let kept = sidecar.parts.flatMap { [$0.file, $0.unfilteredFile!] }
        #expect(kept == ["", "-raw", "-p2", "-p2-raw"].map { name.stem.file("\($0).\(ending)") })
        let names = try #require(TrueNames(sidecar, .utc))
        let copies = [
            "heron07-0001_20261121_061811", "heron07-0001-raw_20261121_061811", "heron07-0001-p2_20261121_061812",
            "heron07-0001-p2-raw_20261121_061812",
        ].map { "\($0).\(ending)" }
        #expect(kept.map(names.name) == copies)
        #expect(names.name(of: "\(name.stem).dat") == "heron07-0001_20261121_061811.dat")
        #expect(names.stem(of: name.stem) == "heron07-0001_20261121_061811")

        let home = "\(path)/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        for (index, file) in kept.enumerated() {
            let bytes = try copy(file, of: name, names)
            #expect(try copy(file, of: name, names, piece: 7) == bytes)
            try Data(bytes).write(to: URL(filePath: "\(home)/\(copies[index])"))
            // 60 000 frames are 1.25 s. Times are exact to one frame.
            let begun = try #require(WallTime(iso8601: "2026-11-21T06:18:11.250000Z")) + .seconds(index < 2 ? 0 : 1.25)
            let here = try FileSystem().contents("\(path)/unset/\(file)")
            if isFLAC {
                func count(_ text: String, in bytes: [UInt8]) -> Int {
                    String(decoding: bytes, as: UTF8.self).components(separatedBy: text).count - 1
                }
                for text in ["DATE=2026-11-21", "CREATION_TIME=\(begun.iso8601)", "TIME_REFERENCE="] {
                    #expect(count(text, in: bytes) == (text.hasPrefix("DATE") ? 2 : 1), "\(text)")
                    #expect(count(String(text.prefix { $0 != "=" }) + "=", in: here) == 0, "\(text)")
                }
            } else {
                let reader = try SoundFileReader(path: "\(home)/\(copies[index])")
                let found = reader.origin()
                let origin = try #require(found)
                #expect(abs(try #require(origin.started).microseconds - begun.microseconds) <= 21)
                // Date, time and the frames since midnight, in the `bext` chunk, whose content begins at byte 20.
                #expect(here[340..<366].allSatisfy { $0 == 0 })
            }
        }
        let json = try FileSystem().contents("\(path)/unset/\(name.stem).json")
        try Data(names.document(json)).write(to: URL(filePath: "\(home)/heron07-0001_20261121_061811.json"))
        let stated = try TakesFolder(path: path).sidecar(of: name)
        let copied = try SidecarFile.sidecar(names.document(json), path: "copy")
        var expected = stated
        expected.take = "heron07-0001_20261121_061811"
        for part in 0..<2 {
            expected.parts[part].file = copies[2 * part]
            expected.parts[part].unfilteredFile = copies[2 * part + 1]
        }
        #expect(copied == expected)
        for sound in copied.sounds {
            #expect(try sound.sha256 != nil && SoundCheck(sound, in: home).run()?.sha256 == sound.sha256)
        }
    }

    @Test(.needs(.flac)) func `flac reads the copy of a FLAC file, and its comments have the date once`() throws {
        let (name, sidecar) = try take(isFLAC: true)
        let names = try #require(TrueNames(sidecar, .utc))
        let file = "\(path)/copy.flac"
        try Data(copy("\(name.stem).flac", of: name, names)).write(to: URL(filePath: file))
        _ = try OtherProgram.flac.output(["-s", "-t", file])
    }

    @Test(.needs(.python)) func `Python reads the copy of a WAV file`() throws {
        let (name, sidecar) = try take(isFLAC: false)
        let names = try #require(TrueNames(sidecar, .utc))
        let file = "\(path)/copy.wav"
        try Data(copy("\(name.stem).wav", of: name, names)).write(to: URL(filePath: file))
        let script =
            "import sys, wave; w = wave.open(sys.argv[1]); print(w.getnframes(), w.getframerate(), w.getnchannels())"
        #expect(try OtherProgram.python.output(["-c", script, file]) == "60000 48000 2\n")
    }

    @Test func `takes of version 0.1, and those whose name is right, keep their names`() throws {
        var (_, sidecar) = try take(isFLAC: false)
        sidecar.startedCorrected = nil
        #expect(TrueNames(sidecar, .utc) == nil)
        sidecar.startedCorrected = "2026-11-21T06:18:11.250000Z"
        sidecar.take = "heron07-0001-000007Z"
        #expect(TrueNames(sidecar, .utc) == nil)
    }
}

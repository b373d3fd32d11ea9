import Files
import OtherPrograms
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Takes of 24 bits whose headers have the extensible form of earlier versions.
struct EarlierHeadTests {
    let bench = RecoveryBench()

    static let formats = [1, 2].map { StreamFormat(rateHz: 48_000, channels: $0, sampleFormat: .s24) }

    /// Replaces the header of a WAV file with the earlier form.
    /// - Returns: the new content of the file.
    func age(_ file: String) throws -> [UInt8] {
        var bytes = try bench.files.contents("\(bench.folder)/\(file)")
        let fmt = try #require(bytes.prefix(4088).firstRange(of: Array("fmt ".utf8))?.lowerBound)
        let junk = try #require(bytes.prefix(4088).firstRange(of: Array("JUNK".utf8))?.lowerBound)
        try #require(junk == fmt + 24, "the chunk of plain PCM has 16 bytes")
        let mask: UInt8 = bytes[fmt + 10] == 1 ? 4 : 3
        let size = 4088 - junk - 8 - 24
        bytes.replaceSubrange(fmt + 8..<fmt + 10, with: [0xfe, 0xff])
        bytes[fmt + 4] = 40
        bytes.replaceSubrange(junk + 4..<junk + 6, with: [UInt8(size & 0xff), UInt8(size >> 8)])
        // The filler gives up the space.
        bytes.removeSubrange(junk + 8..<junk + 32)
        let subformat: [UInt8] = [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        bytes.insert(contentsOf: [22, 0, 24, 0, mask, 0, 0, 0] + subformat, at: junk)
        try bench.write(bytes, to: file)
        return bytes
    }

    /// A finished take of 100 frames with a marker, which `then` may continue.
    /// - Returns: its name, and its file before `then`.
    func finishedTake(
        _ format: StreamFormat, pendingFormat: String? = nil, then work: (TakeOutput) throws -> Void = { _ in }
    ) throws -> (name: TakeName, bytes: [UInt8]) {
        var bytes: [UInt8] = []
        let name = try bench.record(format, pendingFormat: pendingFormat) { output in
            try output.append(100, format)
            output.note(markers: [Sidecar.Marker(atFrame: 7, note: "wren")])
            _ = try output.finish(endedBy: .stop, levels: [])
            bytes = try age(output.name.audioFile(part: 1))
            try work(output)
        }
        return (name, bytes)
    }

    @Test(arguments: formats) func `one that was cut is recovered`(format: StreamFormat) throws {
        let name = try bench.record(format) { output in
            try output.append(100, format)
            try output.sync()
        }
        let file = name.audioFile(part: 1)
        _ = try age(file + ".part")
        #expect(try bench.recovered()?.frames == 100)
        #expect(try frames(of: "\(bench.folder)/\(file)") == sound(0..<100, format))
    }

    @Test(arguments: formats) func `a file that was whole when its take was cut is left as it is`(format: StreamFormat)
        throws
    {
        let name = try bench.cutInFinish(format) { try $0.append(100, format) }
        let file = name.audioFile(part: 1)
        let path = "\(bench.folder)/\(file)"
        try bench.files.rename("\(path).part", to: path)
        let before = try age(file)
        #expect(try bench.recovered()?.frames == 100)
        #expect(try bench.files.contents(path) == before)
    }

    @Test(arguments: formats) func `what follows a finished one is joined to it`(format: StreamFormat) throws {
        let (name, before) = try finishedTake(format) { output in
            try output.beginTail(format: format)
            try output.append(50, format)
            try output.sync()
            try output.rejoin()
        }
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.parts.map(\.frames) == [100, 50])
        #expect(try bench.files.contents("\(bench.folder)/\(name.stem).wav") == before)
        #expect(try sidecar.parts.flatMap { try frames(of: "\(bench.folder)/\($0.file)") } == sound(0..<150, format))
        #expect(try bench.findings(sidecar).values.allSatisfy { !$0.isDamage })
    }

    @Test(arguments: formats) func `its sidecar is made anew`(format: StreamFormat) throws {
        let (name, before) = try finishedTake(format)
        try bench.files.remove("\(bench.folder)/\(name.stem).json")
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.frames == 100 && sidecar.markers == [Sidecar.Marker(atFrame: 7, note: "wren")])
        #expect(sidecar.streamFormat.stored == format.stored)
        #expect(try bench.files.contents("\(bench.folder)/\(name.stem).wav") == before)
    }

    @Test(.needs(.flac), arguments: formats)
    func `it becomes FLAC, of which flac makes the same file again`(format: StreamFormat) throws {
        let (name, before) = try finishedTake(format, pendingFormat: "flac")
        let conversion = try FLACConversion(of: name, in: TakesDirectory(path: bench.path), reserveBytes: 0)
        while try conversion.step() == nil {}
        let back = "\(bench.folder)/back.wav"
        let flac = "\(bench.folder)/\(name.stem).flac"
        _ = try OtherProgram.flac.output(["-s", "-d", "--keep-foreign-metadata", "-o", back, flac])
        #expect(try bench.files.contents(back) == before)
    }
}

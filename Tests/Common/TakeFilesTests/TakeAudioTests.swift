import Files
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

@Suite struct TakeAudioTests {
    private let scratch = TestFolder(in: .memory)

    private func take(splitBytes: Int64 = TakeOutput.largestSplitBytes) throws -> (TakesDirectory, TakeName) {
        let directory = try TakesDirectory(path: "\(scratch.path)/takes")
        let output = try TakeOutput(directory, splitBytes: splitBytes)
        try output.append(1000)
        try output.beginPart(format: stereo16, firstFrame: 1000)
        try output.append(500)
        _ = try output.finish(endedBy: .stop, levels: [])
        return (directory, output.name)
    }

    private func read(_ audio: TakeAudio, part: Int, at frame: Int64, _ count: Int) throws -> [Double] {
        var samples = [Double](repeating: 9, count: 2 * count)
        var span = samples.mutableSpan
        let read = try audio.read(part: part, at: frame, into: &span)
        return Array(samples.prefix(2 * read))
    }

    private func sound16(_ frames: Range<Int64>) -> [Double] {
        let bytes = sound(frames, stereo16)
        return stride(from: 0, to: bytes.count, by: 2).map {
            Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
        }
    }

    @Test func `parts are read from anywhere`() throws {
        let (directory, name) = try take()
        let audio = try TakeAudio(of: name, in: directory)
        #expect(audio.parts.map(\.frames) == [1000, 500])
        #expect(audio.parts.map(\.format) == [stereo16, stereo16])
        #expect(try read(audio, part: 0, at: 0, 600) == sound16(0..<600))
        #expect(try read(audio, part: 0, at: 600, 600) == sound16(600..<1000))
        #expect(try read(audio, part: 1, at: 0, 600) == sound16(1000..<1500))
        #expect(try read(audio, part: 0, at: 10, 5) == sound16(10..<15))
        #expect(try read(audio, part: 1, at: 500, 5) == [])
    }

    @Test func `a take that becomes FLAC while it is read is read on, part after part`() throws {
        let (directory, name) = try take()
        let audio = try TakeAudio(of: name, in: directory)
        #expect(try read(audio, part: 0, at: 0, 600) == sound16(0..<600))
        _ = try directory.revise(name) { $0.pendingFormat = "flac" }
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        #expect(try directory.sidecar(of: name).parts.map(\.file) == ["\(name.stem).flac", name.stem.file("-p2.flac")])
        #expect(try read(audio, part: 0, at: 600, 600) == sound16(600..<1000))
        #expect(try read(audio, part: 1, at: 0, 600) == sound16(1000..<1500))
        #expect(try read(audio, part: 0, at: 100, 50) == sound16(100..<150))
        #expect(audio.parts.map { $0.path.suffix(5) } == [".flac", ".flac"])
        #expect(try TakeAudio(of: name, in: directory).parts == audio.parts)
    }

    @Test func `a file that was replaced by another while a take is read is an error`() throws {
        let (directory, name) = try take()
        let audio = try TakeAudio(of: name, in: directory)
        let path = "\(directory.path)/\(name.day)/\(name.audioFile(part: 2))"
        try FileSystem().rename("\(directory.path)/\(name.day)/\(name.audioFile(part: 1))", to: path)
        let error = #expect(throws: SoundFileError.self) { try read(audio, part: 1, at: 0, 1) }
        #expect(error?.description == "open \(path): it is not the file that was there before")
        let gone = #expect(throws: SoundFileError.self) { try read(audio, part: 0, at: 0, 1) }
        #expect(gone?.description == "open \(audio.parts[0].path): No such file or directory")
    }

    @Test func `a take whose sidecar is garbled is found by its name`() throws {
        let (directory, name) = try take()
        let files = FileSystem()
        try files.write(Array("x".utf8), to: files.create(directory.sidecarPath(of: name), isNew: false), at: 0)
        #expect(try TakeAudio(of: name, in: directory).parts.map(\.frames) == [1000, 500])
    }

    @Test func `a part that is gone is named`() throws {
        let (directory, name) = try take()
        let path = "\(directory.path)/\(name.day)/\(name.audioFile(part: 2))"
        try FileSystem().remove(path)
        do {
            _ = try TakeAudio(of: name, in: directory)
            Issue.record("a take with a part missing is played")
        } catch let error as TakeAudioError {
            #expect(error.description == "\(name.stem): its file \(path) is not there")
        }
    }
}

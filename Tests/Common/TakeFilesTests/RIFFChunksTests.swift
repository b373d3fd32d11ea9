import Files
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct RIFFChunksTests {
    let scratch = TestFolder(in: .memory)
    let files = FileSystem()

    func chunks(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let file = try files.create("\(scratch.path)/a.wav", isNew: false)
        try files.write(bytes, to: file, at: 0)
        return try RIFFChunks.all(of: file, files: files)
    }

    /// A RIFF file with an odd chunk, 5 bytes of sound, and one more chunk.
    let wave = [
        Array("RIFF".utf8), [36, 0, 0, 0], Array("WAVEabcd".utf8), [1, 0, 0, 0, 9, 0],
        Array("data".utf8), [5, 0, 0, 0, 1, 2, 3, 4, 5, 0], Array("efgh".utf8), [0, 0, 0, 0],
    ].flatMap { (part: [UInt8]) in part }

    @Test func `all chunks are read, of the sound its head alone`() throws {
        #expect(
            try chunks(wave) == [
                Array(wave[..<12]), Array("abcd".utf8) + [1, 0, 0, 0, 9, 0], Array("data".utf8) + [5, 0, 0, 0],
                Array("efgh".utf8) + [0, 0, 0, 0],
            ])
    }

    @Test func `a take's file is put together from its chunks and its sound`() throws {
        let origin = WAVHeaderTests.origin
        let closing = CueChunks.bytes([PartCue(number: 1, frame: 2, label: "wren")])
        let head = WAVHeader(format: stereo16, origin: origin).bytes(dataBytes: 400, trailingBytes: closing.count)
        let bytes = head + sound(0..<100, stereo16) + closing
        let chunks = try chunks(bytes)
        #expect(
            chunks.dropFirst().map { String(decoding: $0.prefix(4), as: UTF8.self) }
                == ["bext", "fmt ", "JUNK", "data", "cue ", "LIST"])
        #expect(Array(chunks.prefix(5).joined()) == head)
        #expect(Array(chunks.dropFirst(5).joined()) == closing)
    }

    @Test func `a file that is not made of whole chunks has none`() throws {
        #expect(try chunks([]) == [])
        #expect(try chunks(Array(wave.dropLast())) == [])
        #expect(try chunks(wave + [0]) == [])
        for (place, value) in [(0, 1), (8, 1), (4, 35), (4, 37), (4, 200), (16, 3), (16, 255), (19, 255), (29, 255)] {
            var bytes = wave
            bytes[place] = UInt8(value)
            #expect(try chunks(bytes) == [], "byte \(place) is \(value)")
        }
    }
}

import Dispatch
import Files
import Glibc
import Synchronization
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct SoundFileReaderTests {
    let scratch = TestFolder(in: .memory)

    /// A file with a header and some sound.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(scratch.path)/\(name)"
        let files = FileSystem()
        try files.write(bytes, to: files.create(path, isNew: true), at: 0)
        return path
    }

    var wave: [UInt8] {
        WAVHeader(format: stereo16, origin: WAVHeaderTests.origin).bytes(dataBytes: 400) + sound(0..<100, stereo16)
    }

    func sentence(_ body: () throws(SoundFileError) -> Void) -> String? {
        do throws(SoundFileError) {
            try body()
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `frames are read from any place, to the end and no further`() throws {
        var reader = try SoundFileReader(path: file("a.wav", wave))
        let frames = reader.frames
        #expect(frames == 100)
        try reader.seek(toFrame: 98)
        var samples = [Double](repeating: 9, count: 8)
        var span = samples.mutableSpan
        let count = try reader.read(into: &span)
        #expect(count == 2)
        let bytes = sound(98..<100, stereo16)
        let expected = (0..<4).map { Double(Int16(bytes[2 * $0]) | Int16(bitPattern: UInt16(bytes[2 * $0 + 1]) << 8)) }
        #expect(samples == expected.map { $0 / 32_768 } + [9, 9, 9, 9])
        var more = samples.mutableSpan
        let none = try reader.read(into: &more)
        #expect(none == 0)
    }

    @Test func `the reason is that of this file, also while other threads open others`() throws {
        let missing = "\(scratch.path)/missing.wav", good = try file("good.wav", wave)
        let damaged = try file("damaged.wav", Array(wave.prefix(20)))
        let found = Mutex<Set<String?>>([])
        DispatchQueue.concurrentPerform(iterations: 4000) { index in
            let path = [missing, good, damaged, good][index % 4]
            let said = sentence { () throws(SoundFileError) in _ = try SoundFileReader(path: path) }
            found.withLock { _ = $0.insert(said) }
        }
        let sentences = found.withLock { $0 }
        #expect(
            sentences == [
                nil, "open \(missing): No such file or directory",
                "open \(damaged): its header is damaged, or of a kind that is not read here",
            ])
    }

    @Test func `a file that cannot be opened is reported in one sentence`() throws {
        let missing = "\(scratch.path)/missing.wav"
        #expect(
            sentence { () throws(SoundFileError) in _ = try SoundFileReader(path: missing) }
                == "open \(missing): No such file or directory")
        let garbage = try file("garbage.wav", Array(repeating: 0x55, count: 5000))
        #expect(
            sentence { () throws(SoundFileError) in _ = try SoundFileReader(path: garbage) }
                == "open \(garbage): it is neither WAV nor FLAC")
        let empty = try file("empty.wav", [])
        #expect(sentence { () throws(SoundFileError) in _ = try SoundFileReader(path: empty) } != nil)
        // 8 bits per sample: a sound file, but not one that a recorder makes.
        var small = wave
        let fmt = 20 + 610
        #expect(Array(small[fmt..<fmt + 4]) == Array("fmt ".utf8))
        small.replaceSubrange(fmt + 16..<fmt + 24, with: [0, 0x77, 1, 0, 2, 0, 8, 0])
        let eight = try file("eight.wav", small)
        #expect(
            sentence { () throws(SoundFileError) in _ = try SoundFileReader(path: eight) }
                == "open \(eight): samples of kind 0x10005 are not read here")
    }

    @Test func `there is no seeking to a frame that is not there`() throws {
        let path = try file("a.wav", wave)
        var reader = try SoundFileReader(path: path)
        for frame: Int64 in [-1, 101] {
            var found: String?
            do throws(SoundFileError) { try reader.seek(toFrame: frame) } catch { found = error.description }
            #expect(found == "seek \(path): no frame \(frame) of 100")
        }
        try reader.seek(toFrame: 100)
    }

    @Test func `a file without markers and origin has none`() throws {
        var plain = wave
        plain.replaceSubrange(12..<16, with: Array("JUNK".utf8))
        let reader = try SoundFileReader(path: file("a.wav", plain))
        let cues = reader.cues()
        #expect(cues.isEmpty)
        let origin = reader.origin()
        #expect(origin == nil)
    }

    @Test func `more markers than the library's own type holds are read`() throws {
        let markers = (0..<150).map { PartCue(number: $0 + 1, frame: Int64($0 % 100), label: "n\($0)") }
        let closing = CueChunks.bytes(markers)
        let head = WAVHeader(format: stereo16, origin: WAVHeaderTests.origin)
            .bytes(dataBytes: 400, trailingBytes: closing.count)
        let reader = try SoundFileReader(path: file("a.wav", head + sound(0..<100, stereo16) + closing))
        let cues = reader.cues()
        #expect(cues == markers.map { SoundFileReader.Cue(frame: $0.frame, label: $0.label) })
    }
}

import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct FLACWriterTests {
    let scratch = TestFolder(in: .memory)
    let metadata = FLACMetadata(
        comments: [FLACMetadata.Comment(name: "TITLE", text: "a")], frames: 10_000, rateHz: 48_000)

    func samples(_ frames: Int64, _ format: StreamFormat) -> [Int32] {
        let bytes = sound(0..<frames, format)
        let size = format.stored.bytesPerFrame / format.channels
        return stride(from: 0, to: bytes.count, by: size).map { start in
            (0..<size).reduce(0) { $0 | Int32(truncatingIfNeeded: Int(bytes[start + $1]) << (32 - 8 * size + 8 * $1)) }
        }
    }

    /// Writes and finishes a file. Nil if nothing failed.
    func write(
        _ format: StreamFormat, frames: Int64, to file: OpenFile, _ files: FileSystem, finishes: Bool = true
    ) -> SoundFileError? {
        do throws(SoundFileError) {
            var writer = try FLACWriter(to: file, files: files, format: format, metadata: metadata)
            let samples = samples(frames, format)
            for start in stride(from: 0, to: Int(frames), by: 1000) {
                let count = min(1000, Int(frames) - start)
                let piece = Array(samples[start * format.channels..<(start + count) * format.channels])
                try writer.write(piece, frames: count)
            }
            if finishes { try writer.finish() }
            return nil
        } catch {
            return error
        }
    }

    static let formats: [StreamFormat] = [SampleFormat.s16, .s24Packed].flatMap { sample in
        [1, 2, 5, 8].map { StreamFormat(rateHz: 44_100, channels: $0, sampleFormat: sample) }
    }

    @Test(arguments: formats) func `what is written is read again, behind our own head`(format: StreamFormat) throws {
        let path = "\(scratch.path)/a.flac"
        let files = FileSystem()
        let error = write(format, frames: 10_000, to: try files.create(path, isNew: true), files)
        #expect(error == nil)
        #expect(try frames(of: path) == sound(0..<10_000, format))
        let bytes = try files.contents(path, limit: 1 << 24)
        let head = try #require(FLACHead(bytes))
        #expect(Array(bytes.prefix(head.byteCount)) == metadata.bytes(streamInfo: head.streamInfo, vendor: head.vendor))
        #expect(String(decoding: head.vendor, as: UTF8.self).contains("FLAC"))
        // The number of frames in 36 bits, and a signature of the sound that is not empty.
        #expect(head.streamInfo[14..<18].reduce(0) { $0 << 8 | Int($1) } == 10_000)
        #expect(head.streamInfo[18...].contains { $0 != 0 })
        // The sync code of the first frame follows at once.
        #expect(bytes[head.byteCount] == 0xff && bytes[head.byteCount + 1] & 0xfe == 0xf8)
    }

    @Test(arguments: [
        (SampleFormat.s32, 2, 48_000, "FLAC holds no S32_LE here, only integers of up to 24 bits"),
        (.float, 1, 48_000, "FLAC holds no FLOAT_LE here, only integers of up to 24 bits"),
        (.s16, 9, 48_000, "FLAC holds up to 8 channels, not 9"),
        (.s16, 0, 48_000, "FLAC holds up to 8 channels, not 0"),
        (.s16, 1, 655_351, "FLAC holds up to 655350 Hz, not 655351"), (.s16, 1, 0, "FLAC holds up to 655350 Hz, not 0"),
    ]) func `what FLAC does not hold is refused in a sentence`(
        sample: SampleFormat, channels: Int, rateHz: Int, problem: String
    ) throws {
        let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sample)
        let path = "\(scratch.path)/a.flac"
        let error = write(format, frames: 0, to: try FileSystem().create(path, isNew: true), FileSystem())
        #expect(error?.description == "write \(path): \(problem)")
    }

    @Test func `a file without a frame is refused`() throws {
        let path = "\(scratch.path)/a.flac"
        let error = write(stereo16, frames: 0, to: try FileSystem().create(path, isNew: true), FileSystem())
        #expect(error?.description == "write \(path): FLAC without a frame is not read by all")
    }

    @Test func `a full disk is reported as the storage reports it`() throws {
        // A few frames are written only at the end.
        for frames: Int64 in [10, 100_000] {
            let error = write(stereo16, frames: frames, to: try FileSystem().open("/dev/full"), FileSystem())
            #expect(error?.storage == FileError("write", "/dev/full", code: ENOSPC))
            #expect(
                error?.description
                    == "write /dev/full: No space left on device: free some space, or name another directory under [takes]"
            )
        }
    }

    @Test func `a write that fails, whichever, is reported, and one that is interrupted or cut short is continued`()
        throws
    {
        let calls = FaultyCalls(root: scratch.path, largestWrite: 5000)
        let files = FileSystem(calls: calls)
        let path = "\(scratch.path)/a.flac"
        var failures = 0
        for index in 0... {
            let file = try files.create(path, isNew: false)
            calls.setPlan { number, verb in verb == "write" && number == index ? EIO : nil }
            let error = write(stereo16, frames: 20_000, to: file, files)
            calls.setPlan { _, _ in nil }
            guard let error else { break }
            failures += 1
            #expect(error.storage == FileError("write", path, code: EIO))
        }
        #expect(failures > 10)
        #expect(try frames(of: path) == sound(0..<20_000, stereo16))
        let file = try files.create(path, isNew: false)
        calls.setPlan { number, _ in number % 3 == 2 ? nil : EINTR }
        #expect(write(stereo16, frames: 20_000, to: file, files) == nil)
        #expect(try frames(of: path) == sound(0..<20_000, stereo16))
    }

    @Test func `a writer that is dropped writes no more`() throws {
        let calls = FaultyCalls(root: scratch.path)
        let files = FileSystem(calls: calls)
        let file = try files.create("\(scratch.path)/a.flac", isNew: true)
        calls.trace = []
        #expect(write(stereo16, frames: 1000, to: file, files, finishes: false) == nil)
        #expect(calls.trace == [])
    }

    /// A header and frames like an encoder's, in pieces that do not end at the boundaries between blocks.
    @Test(arguments: [1, 3, 7, 50, 1000]) func `the encoder's head is replaced however it is written`(size: Int) throws
    {
        let path = "\(scratch.path)/a.flac"
        let file = try FileSystem().create(path, isNew: true)
        let stream = FLACStream(to: .file(file, FileSystem()), metadata: metadata)
        let vendor = Array("me".utf8)
        var head = Array("fLaC".utf8) + [0, 0, 0, 34] + [UInt8](repeating: 1, count: 34)
        head += [0x84, 0, 0, 10, 2, 0, 0, 0] + vendor + [0, 0, 0, 0]
        let sound = (0..<500).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for start in stride(from: 0, to: head.count + sound.count, by: size) {
            let wasWritten = stream.write(Array((head + sound)[start..<min(start + size, head.count + sound.count)]))
            #expect(wasWritten)
        }
        #expect(stream.length == Int64(head.count + sound.count))
        stream.seek(to: 8)
        _ = stream.write([UInt8](repeating: 9, count: 34))
        // A write across the boundary between header and frames.
        stream.seek(to: Int64(head.count - 1))
        _ = stream.write([0, 0xee])
        #expect(try stream.finish())
        let expected = metadata.bytes(streamInfo: [UInt8](repeating: 9, count: 34), vendor: vendor)
        #expect(try FileSystem().contents(path) == expected + [0xee] + sound.dropFirst())
    }
}

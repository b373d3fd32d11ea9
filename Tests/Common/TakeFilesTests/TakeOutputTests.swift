import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct TakeOutputTests {
    let scratch = TestFolder(in: .memory)
    let directory: TakesDirectory

    init() throws {
        directory = try TakesDirectory(path: scratch.path + "/takes")
    }

    func path(_ output: TakeOutput, _ suffix: String) -> String {
        "\(directory.path)/\(output.name.day)/\(output.name.stem.file(suffix))"
    }

    static let formats = [
        stereo16,
        StreamFormat(rateHz: 44_100, channels: 1, sampleFormat: .s24Packed),
        StreamFormat(rateHz: 96_000, channels: 8, sampleFormat: .s24),
        StreamFormat(rateHz: 192_000, channels: 2, sampleFormat: .s32),
        StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16),
    ]

    @Test(arguments: formats) func `the audio file has every frame at every sync, and is whole at the end`(
        format: StreamFormat
    ) throws {
        let output = try TakeOutput(directory, format)
        #expect(try frames(of: path(output, ".wav.part")) == [])
        for count: Int64 in [1, 2, 1000, 4801] {
            try output.append(count, format)
            let point = try output.syncPoint()
            // Frames that are appended between the two halves of a sync are left for the next one.
            try output.append(1, format)
            try output.synced(point.run())
            #expect(point.frames == output.frames - 1)
            #expect(output.syncedFrames == point.frames)
            let there = try directory.files.contents(path(output, ".wav.part"), limit: 1 << 26)
            #expect(there.dropFirst(WAVHeader.byteCount) == sound(0..<output.frames, format)[...])
            // The header is from the first sync, so a reader sees no missing frame.
            #expect(try frames(of: path(output, ".wav.part")) == sound(0..<1, format))
        }
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.frames == 5808)
        #expect(try frames(of: path(output, ".wav")) == sound(0..<5808, format))
        let reader = try SoundFileReader(path: path(output, ".wav"))
        let stored = reader.format
        #expect(stored == format.stored)
        let size = try directory.files.contents(path(output, ".wav"), limit: 1 << 26).count
        #expect(size == 4096 + (5808 * format.stored.bytesPerFrame + 1) / 2 * 2)
    }

    @Test func `floating point is stored bit by bit`() throws {
        let format = StreamFormat(rateHz: 48_000, channels: 4, sampleFormat: .float)
        let output = try TakeOutput(directory, format)
        let samples: [Float] = [0, 1, -1, 1.5, 1e-30, -0.25, .pi, 0.5]
        try samples.withUnsafeBytes { try output.append($0) }
        _ = try output.finish(endedBy: .stop, levels: [])
        var reader = try SoundFileReader(path: path(output, ".wav"))
        var read = [Double](repeating: 0, count: 8)
        var span = read.mutableSpan
        let count = try reader.read(into: &span)
        #expect(count == 2)
        #expect(read == samples.map(Double.init))
        let stored = reader.format
        #expect(stored == format)
    }

    @Test func `a finished take is these files and no others`() throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(300, unfiltered: true)
        try output.sync()
        output.appendPeaks([-1, 2, -3, 4])
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        let stem = "2026-11-21/heron07-0001_20261121_061811"
        let found = try everything(in: directory.path)
        #expect(
            found.keys.sorted() == [
                ".lock", ".number", stem.file("-raw.wav"), "\(stem).dat", "\(stem).json", "\(stem).wav",
            ])
        #expect(found[".number"] == Array("1\n".utf8))
        #expect(found["\(stem).json"] == SidecarFile.bytes(sidecar))
        #expect(found["\(stem).dat"] == PeaksFile(rateHz: 48_000, channels: 2, pairs: [-1, 2, -3, 4]).bytes)
        #expect(try directory.sidecar(of: output.name) == sidecar)
        #expect(
            sidecar.parts == [
                Sidecar.Part(
                    file: "heron07-0001_20261121_061811.wav", unfilteredFile: "heron07-0001-raw_20261121_061811.wav",
                    firstFrame: 0,
                    frames: 300, rateHz: 48_000, format: .s16
                ).with(sound(0..<300, stereo16), unfiltered: sound(0..<300, stereo16, seed: 7))
            ])
        #expect(sidecar.durationSeconds == 300.0 / 48_000)
    }

    @Test(arguments: [1, 4, 1023, 4095, 4096, 4097, 50_000]) func `the waveform is on its way while the take goes on`(
        step: Int
    ) throws {
        let output = try TakeOutput(directory)
        // Three extra bytes do not make a whole pixel of two channels.
        let pairs = sound(0..<15_000, stereo16).map { Int8(bitPattern: $0) } + [1, 2, 3]
        var done = 0
        while done < pairs.count {
            let next = min(pairs.count, done + step)
            output.appendPeaks(Array(pairs[done..<next]))
            done = next
            let written = (try? directory.files.contents(path(output, ".dat.part")).count) ?? 24
            #expect(done + 24 - written < 4096)
        }
        _ = try output.finish(endedBy: .stop, levels: [])
        #expect(output.peaksFailure == nil)
        #expect(
            try directory.files.contents(path(output, ".dat"))
                == PeaksFile(rateHz: 48_000, channels: 2, pairs: pairs).bytes)
    }

    @Test func `parts follow each other without losing or doubling a frame, and so do their twins`() throws {
        let format = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s24Packed)
        let output = try TakeOutput(directory, format, keepsUnfiltered: true, splitBytes: 8192)
        for count: Int64 in [1, 1000, 197, 5000, 3] {
            try output.append(count, format, unfiltered: true)
            try output.sync()
        }
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.frames == 6201)
        // 8192 bytes minus the header and a sixteenth hold 1194 frames of 3 bytes.
        #expect(sidecar.parts.map(\.frames) == [1194, 1194, 1194, 1194, 1194, 231])
        #expect(sidecar.parts.map(\.firstFrame.count) == [0, 1194, 2388, 3582, 4776, 5970])
        #expect(sidecar.parts[5].file == "heron07-0001-p6_20261121_061811.wav")
        var filtered: [UInt8] = []
        var unfiltered: [UInt8] = []
        for part in 1...6 {
            let suffix = part == 1 ? "" : "-p\(part)"
            filtered += try frames(of: path(output, "\(suffix).wav"))
            unfiltered += try frames(of: path(output, "\(suffix)-raw.wav"))
            #expect(try directory.files.contents(path(output, "\(suffix).wav")).count <= 8192)
        }
        #expect(filtered == sound(0..<6201, format))
        #expect(unfiltered == sound(0..<6201, format, seed: 7))
    }

    @Test func `a card that comes back differently begins a part of its own`() throws {
        let output = try TakeOutput(directory)
        try output.append(480)
        let later = StreamFormat(rateHz: 44_100, channels: 1, sampleFormat: .s24)
        try output.beginPart(format: later, firstFrame: 96_000)
        try output.append(441, later)
        try output.sync()
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(
            sidecar.parts == [
                Sidecar.Part(
                    file: "heron07-0001_20261121_061811.wav", firstFrame: 0, frames: 480, rateHz: 48_000, format: .s16
                ).with(sound(0..<480, stereo16)),
                Sidecar.Part(
                    file: "heron07-0001-p2_20261121_061813.wav", firstFrame: 96_000, frames: 441, rateHz: 44_100,
                    format: .s24
                ).with(sound(480..<921, later)),
            ])
        // 441 frames at 44.1 kHz last as long as 480 at the take's rate.
        #expect(sidecar.frames == 960)
        #expect(sidecar.durationSeconds == 0.02)
        #expect(
            try frames(of: "\(directory.path)/\(output.name.day)/\(sidecar.parts[1].file)") == sound(480..<921, later))
        let reader = try SoundFileReader(path: "\(directory.path)/\(output.name.day)/\(sidecar.parts[1].file)")
        let found = reader.origin()
        let origin = try #require(found)
        #expect(origin.started?.iso8601 == "2026-11-21T06:18:13.250000Z")
    }

    @Test func `markers become cue points of the part that they are in`() throws {
        let output = try TakeOutput(directory, splitBytes: 8192)
        try output.append(1200)
        output.note(markers: [
            Sidecar.Marker(atFrame: 0, note: nil), Sidecar.Marker(atFrame: 959, note: "Eisvogel, männlich"),
            Sidecar.Marker(atFrame: 960, note: "odd"), Sidecar.Marker(atFrame: 1200, note: nil),
        ])
        try output.sync()
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.frames) == [896, 304])
        let first = try SoundFileReader(path: path(output, ".wav"))
        let before = first.cues()
        #expect(before == [SoundFileReader.Cue(frame: 0, label: "Marker 1")])
        let second = try SoundFileReader(path: path(output, "-p2.wav"))
        let after = second.cues()
        #expect(
            after == [
                SoundFileReader.Cue(frame: 63, label: "Eisvogel, männlich"),
                SoundFileReader.Cue(frame: 64, label: "odd"), SoundFileReader.Cue(frame: 304, label: "Marker 4"),
            ])
        #expect(try frames(of: path(output, "-p2.wav")) == sound(896..<1200, stereo16))
    }

    @Test func `cue points follow sound of an odd size`() throws {
        let format = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s24Packed)
        let output = try TakeOutput(directory, format)
        try output.append(101, format)
        output.note(markers: [Sidecar.Marker(atFrame: 100, note: "last")])
        _ = try output.finish(endedBy: .stop, levels: [])
        let reader = try SoundFileReader(path: path(output, ".wav"))
        let cues = reader.cues()
        #expect(cues == [SoundFileReader.Cue(frame: 100, label: "last")])
        #expect(try frames(of: path(output, ".wav")) == sound(0..<101, format))
    }

    @Test func `the sidecar follows at the sync after a change, and only then`() throws {
        let output = try TakeOutput(directory)
        let written = { try SidecarFile.sidecar(directory.files.contents(path(output, ".json.part")), path: "") }
        let atStart = try written()
        #expect(atStart.frames == 0)
        #expect(atStart.endedBy == nil)
        try output.append(100)
        try output.sync()
        #expect(try written() == atStart)
        output.note(markers: [Sidecar.Marker(atFrame: 50, note: "here")])
        #expect(try written() == atStart)
        try output.append(100)
        try output.sync()
        var expected = output.sidecar
        expected.frames = 200
        expected.durationSeconds = 200.0 / 48_000
        expected.parts = [
            Sidecar.Part(
                file: "heron07-0001_20261121_061811.wav", firstFrame: 0, frames: 200, rateHz: 48_000, format: .s16)
        ]
        #expect(try written() == expected)
    }

    @Test func `frames of a new part count once its name is on the disk as well`() throws {
        let calls = FaultyCalls(root: scratch.path + "/other")
        let directory = try TakesDirectory(path: scratch.path + "/other", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory, splitBytes: 8192)
        try output.append(100)
        output.note(markers: [Sidecar.Marker(atFrame: 3, note: nil)])
        let sidecar = "\(output.name.day)/\(output.name.stem).json.part.tmp"
        calls.setRefusal { verb, subject in verb == "create" && subject == sidecar ? EIO : nil }
        #expect(throws: FileError.self) { try output.sync() }
        // The sidecar's change for the same part can wait.
        #expect(output.syncedFrames == 100)

        let second = try TakeOutput(directory, splitBytes: 8192)
        try second.append(100)
        try second.sync()
        try second.append(1000)
        let next = "\(second.name.day)/\(second.name.stem).json.part.tmp"
        let day = second.name.day
        calls.setRefusal { verb, subject in
            verb == "create" && subject == next || verb == "fsync" && subject == day ? EIO : nil
        }
        #expect(throws: FileError.self) { try second.sync() }
        #expect(second.syncedFrames == 100)
        // It is sufficient that its name is on the disk.
        calls.setRefusal { verb, subject in verb == "create" && subject == next ? EIO : nil }
        #expect(throws: FileError.self) { try second.sync() }
        #expect(second.syncedFrames == 1100)
    }

    @Test func `a part without a frame leaves nothing, even if the take ends at the second try`() throws {
        let calls = FaultyCalls(root: scratch.path + "/other")
        let directory = try TakesDirectory(path: scratch.path + "/other", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.beginPart(format: output.sidecar.streamFormat, firstFrame: 200)
        calls.setRefusal { verb, subject in verb == "rename" && subject.contains(".wav") ? EIO : nil }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        calls.setRefusal { _, _ in nil }
        #expect(output.abandon(endedBy: .storageError, levels: []).isFinished)
        let left = try FileSystem().entries("\(directory.path)/\(output.name.day)")
        #expect(left.filter { $0.contains("-p2") } == [])
    }

    @Test func `a change that is noted while a sync runs is written by the next one, once`() throws {
        let calls = FaultyCalls(root: scratch.path + "/other")
        let directory = try TakesDirectory(path: scratch.path + "/other", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(10)
        let first = try output.syncPoint()
        output.note(markers: [Sidecar.Marker(atFrame: 5, note: "kept")])
        try output.append(10)
        calls.trace = []
        try output.synced(first.run())
        #expect(output.syncedFrames == 10)
        #expect(calls.trace.filter { $0.hasPrefix("rename") }.isEmpty)
        try output.sync()
        try output.append(1)
        try output.sync()
        #expect(output.syncedFrames == 21)
        #expect(calls.trace.filter { $0.hasPrefix("rename") }.count == 1)
        output.note(markers: [Sidecar.Marker(atFrame: 6, note: "kept too")])
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(
            sidecar.markers == [
                Sidecar.Marker(atFrame: 5, note: "kept"), Sidecar.Marker(atFrame: 6, note: "kept too"),
            ])
    }

    @Test func `a take whose sync has no outcome yet is not finished, and is abandoned with every frame`() throws {
        let output = try TakeOutput(directory)
        try output.append(10)
        _ = try output.syncPoint()
        #expect(throws: FileError.self) { _ = try output.syncPoint() }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        let remains = output.abandon(endedBy: .stop, levels: [])
        #expect(remains == TakeRemains(name: output.name, safeFrames: 10, isFinished: true, error: nil))
    }

    @Test func `the writer goes on while syncs run on another thread`() async throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 65_536)
        let (points, orders) = AsyncStream.makeStream(of: SyncPoint.self)
        let outcomes = Locked<Synced?>(nil)
        let syncs = Task.detached {
            for await point in points {
                let synced = point.run()
                outcomes.withLock { $0 = synced }
            }
        }
        var isBusy = false
        var count = 0
        for turn in 0..<300 {
            try output.append(Int64(100 + turn), unfiltered: true)
            if turn % 3 == 0 { output.note(markers: [Sidecar.Marker(atFrame: output.frames, note: nil)]) }
            if let synced = outcomes.withLock({ $0.take() }) {
                try output.synced(synced)
                isBusy = false
            }
            guard !isBusy else { continue }
            orders.yield(try output.syncPoint())
            isBusy = true
            count += 1
        }
        orders.finish()
        await syncs.value
        if let synced = outcomes.withLock({ $0.take() }) { try output.synced(synced) }
        #expect(count > 0)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.frames == 74_850)
        #expect(sidecar.parts.map(\.frames) == [14_336, 14_336, 14_336, 14_336, 14_336, 3170])
        #expect(sidecar.markers.count == 100)
        var filtered: [UInt8] = []
        for part in sidecar.parts { filtered += try frames(of: "\(directory.path)/2026-11-21/\(part.file)") }
        #expect(filtered == sound(0..<74_850, stereo16))
        let left = try everything(in: directory.path).keys.filter { $0.contains(".part") }
        #expect(left == [])
    }

    @Test func `the header names the kit and the start, past midnight too`() throws {
        // A quarter of a second before midnight.
        let night = WallTime(microseconds: 1_795_305_599_750_000)
        let output = try TakeOutput(directory, splitBytes: 36_864 * 4, started: night)
        try output.append(40_000)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.frames) == [33_536, 6464])
        let first = try SoundFileReader(path: path(output, ".wav"))
        let beginning = first.origin()
        #expect(
            beginning
                == BroadcastOrigin(
                    description: "Take heron07-0001_20261121_235959, kit heron07",
                    reference: "heron07-0001_20261121_235959",
                    started: night,
                    codingHistory: "A=PCM,F=48000,W=16,M=stereo,T=Fieldfare 0.1; usb:0d8c:0014\r\n"))
        let second = try SoundFileReader(
            path: "\(directory.path)/2026-11-21/heron07-0001-p2_20261122_000000.wav")
        let found = second.origin()
        let origin = try #require(found)
        // 33536 frames are 698.667 ms, so the part begins 448.667 ms past midnight, exact to one frame.
        #expect(origin.started?.date == "2026-11-22")
        #expect(try abs(#require(origin.started).microsecondsOfDay - 448_667) <= 21)
    }
}

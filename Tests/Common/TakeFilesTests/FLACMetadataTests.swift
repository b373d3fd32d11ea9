import Files
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct FLACMetadataTests {
    /// A metadata block.
    struct Block: Equatable {
        var type: Int
        var content: [UInt8]
    }

    static let streamInfo = (0..<34).map { UInt8($0) }

    /// Parses a header strictly by RFC 9639.
    func blocks(_ metadata: FLACMetadata, vendor: String = "v") throws -> [Block] {
        let bytes = metadata.bytes(streamInfo: Self.streamInfo, vendor: Array(vendor.utf8))
        #expect(Array(bytes.prefix(4)) == Array("fLaC".utf8))
        var found: [Block] = []
        var offset = 4
        var isLast = false
        while !isLast {
            isLast = bytes[offset] & 0x80 != 0
            let size = big(bytes[offset + 1..<offset + 4])
            found.append(
                Block(type: Int(bytes[offset] & 0x7f), content: Array(bytes[offset + 4..<offset + 4 + size])))
            offset += 4 + size
        }
        #expect(offset == bytes.count)
        return found
    }

    func big(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    func comments(_ block: [UInt8]) -> (vendor: String, texts: [String]) {
        var rest = block[...]
        func number() -> Int {
            defer { rest = rest.dropFirst(4) }
            return big(ArraySlice(rest.prefix(4).reversed()))
        }
        func text() -> String {
            let count = number()
            defer { rest = rest.dropFirst(count) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }
        let vendor = text()
        let texts = (0..<number()).map { _ in text() }
        #expect(rest.isEmpty)
        return (vendor, texts)
    }

    /// A track of a cue sheet.
    struct Track: Equatable {
        var number: Int
        var offset: Int
        var indexPoints: Int
    }

    func tracks(_ block: [UInt8]) -> [Track] {
        #expect(block[..<395].allSatisfy { $0 == 0 })
        var offset = 396
        let found = (0..<Int(block[395])).map { _ in
            let track = Track(
                number: Int(block[offset + 8]), offset: big(block[offset..<offset + 8]),
                indexPoints: Int(block[offset + 35]))
            #expect(block[offset + 9..<offset + 35].allSatisfy { $0 == 0 })
            offset += 36
            for point in 0..<track.indexPoints {
                #expect(Array(block[offset..<offset + 12]) == [0, 0, 0, 0, 0, 0, 0, 0, UInt8(point + 1), 0, 0, 0])
                offset += 12
            }
            return track
        }
        #expect(offset == block.count)
        return found
    }

    @Test func `a head is made of blocks that RFC 9639 knows`() throws {
        let metadata = FLACMetadata(
            comments: [FLACMetadata.Comment(name: "TITLE", text: "ä=b")],
            cues: [
                FLACMetadata.Cue(frame: 0x1_0000_0001, label: "wren"),
                FLACMetadata.Cue(frame: 0x1_0000_0001, label: ""),
            ],
            frames: 0x1_0000_0002, rateHz: 48_000, chunks: [[1, 2], [3]])
        let blocks = try blocks(metadata, vendor: "libFLAC")
        #expect(blocks.map(\.type) == [0, 5, 4, 2, 2, 1])
        #expect(blocks[0].content == Self.streamInfo)
        #expect(
            tracks(blocks[1].content) == [
                Track(number: 1, offset: 0x1_0000_0001, indexPoints: 1),
                Track(number: 255, offset: 0x1_0000_0002, indexPoints: 0),
            ])
        let comments = comments(blocks[2].content)
        #expect(comments.vendor == "libFLAC")
        #expect(
            comments.texts == [
                "TITLE=ä=b", "CHAPTER001=24:51:18.485", "CHAPTER001NAME=wren", "CHAPTER002=24:51:18.485",
                "CHAPTER002NAME=",
            ])
        #expect(blocks[3].content == Array("riff".utf8) + [1, 2])
        #expect(blocks[4].content == Array("riff".utf8) + [3])
        #expect(blocks[5].content == [UInt8](repeating: 0, count: 8192))
    }

    @Test func `without markers there is no cue sheet`() throws {
        let plain = FLACMetadata(comments: [], frames: 10, rateHz: 8000)
        #expect(try blocks(plain).map(\.type) == [0, 4, 1])
        // A marker after the last frame becomes a chapter, but not a track, since a track cannot be empty.
        let last = FLACMetadata(comments: [], cues: [FLACMetadata.Cue(frame: 10, label: "")], frames: 10, rateHz: 8000)
        #expect(try blocks(last).map(\.type) == [0, 4, 1])
        #expect(comments(try blocks(last)[1].content).texts == ["CHAPTER001=00:00:00.001", "CHAPTER001NAME="])
    }

    @Test func `more markers than have numbers end at the last number`() throws {
        let cues = (0..<1200).map { FLACMetadata.Cue(frame: Int64($0) * 10, label: "n\($0)") }
        let blocks = try blocks(FLACMetadata(comments: [], cues: cues, frames: 12_000, rateHz: 1000))
        let tracks = tracks(blocks[1].content)
        #expect(tracks.map(\.number) == Array(1...255))
        #expect(tracks.map(\.offset) == (0..<254).map { $0 * 10 } + [12_000])
        let texts = comments(blocks[2].content).texts
        #expect(texts.count == 2 * 999)
        #expect(texts.suffix(2) == ["CHAPTER999=00:00:09.980", "CHAPTER999NAME=n998"])
    }

    @Test func `the length of a region is a comment, and is read back`() throws {
        let metadata = FLACMetadata(
            comments: [],
            cues: [
                FLACMetadata.Cue(frame: 47_999, label: "wren", frames: 300), FLACMetadata.Cue(frame: 60_000, label: ""),
            ],
            frames: 96_000, rateHz: 48_000)
        #expect(
            comments(try blocks(metadata)[2].content).texts == [
                "CHAPTER001=00:00:00.999", "CHAPTER001NAME=wren", "CHAPTER001FRAMES=300", "CHAPTER002=00:00:01.250",
                "CHAPTER002NAME=",
            ])
        let bench = RecoveryBench()
        let path = "\(bench.scratch.path)/head.flac"
        let file = try bench.files.create(path, isNew: true)
        try bench.files.write(metadata.bytes(streamInfo: Self.streamInfo, vendor: []), to: file, at: 0)
        let open = try bench.files.openToRead(path, followsLink: false)
        let read = try FLACReading(open, files: bench.files, rateHz: 48_000)
        #expect(
            read?.cues == [
                PartCue(number: 1, frame: 47_999, label: "wren", region: PartCue.Region(frames: 300, label: "")),
                PartCue(number: 2, frame: 60_000, label: ""),
            ])
    }

    @Test func `a chunk that is too large for a block is left out`() throws {
        let large = FLACMetadata(
            comments: [
                FLACMetadata.Comment(name: "A", text: "a"),
                FLACMetadata.Comment(name: "B", text: String(repeating: "b", count: 1 << 24)),
            ], frames: 1, rateHz: 1, chunks: [[1], [UInt8](repeating: 0, count: (1 << 24) - 4)])
        let blocks = try blocks(large)
        #expect(blocks.map(\.type) == [0, 4, 1])
        #expect(comments(blocks[1].content).texts == ["A=a"])
    }

    // MARK: - Metadata of a take

    func take() -> Sidecar {
        var sidecar = testSidecar(TakeName(kit: "heron07", number: 42, started: morning))
        sidecar.parts = [
            Sidecar.Part(file: "a", firstFrame: 0, frames: 48_000, rateHz: 48_000, format: .s16),
            Sidecar.Part(file: "b", firstFrame: 96_000, frames: 24_000, rateHz: 24_000, format: .s16),
        ]
        sidecar.markers = [
            Sidecar.Marker(atFrame: 47_999, note: nil), Sidecar.Marker(atFrame: 48_000, note: "away"),
            Sidecar.Marker(atFrame: 144_000, note: "end"), Sidecar.Marker(atFrame: 96_002, note: "wren"),
            Sidecar.Marker(atFrame: 1000, note: "late"), Sidecar.Marker(atFrame: 144_002, note: "behind"),
            Sidecar.Marker(atFrame: .min, note: "hostile"), Sidecar.Marker(atFrame: .max, note: "hostile"),
        ]
        return sidecar
    }

    @Test func `the comments of a part state where, when and by what it was recorded`() {
        var sidecar = take()
        let format = StreamFormat(rateHz: 24_000, channels: 3, sampleFormat: .s16)
        let second = FLACMetadata(
            sidecar: sidecar, part: 1, isUnfiltered: true, format: format, frames: 24_000, chunks: [[1]])
        #expect(
            second.comments.map { "\($0.name)=\($0.text)" } == [
                "TITLE=heron07-0042_20261121_061811, part 2, unfiltered",
                "DESCRIPTION=Take heron07-0042_20261121_061811, unfiltered, kit heron07", "ORIGINATOR=Fieldfare",
                "ORIGINATOR_REFERENCE=heron07-0042_20261121_061811", "DATE=2026-11-21",
                "CREATION_TIME=2026-11-21T06:18:13.250000Z", "ORIGINATION_DATE=2026-11-21", "ORIGINATION_TIME=06:18:13",
                "TIME_REFERENCE=\(22_693_250 * 24)",
                "CODING_HISTORY=A=PCM,F=24000,W=16,T=Fieldfare 0.1; usb:0d8c:0014\r\n",
                "TAKE=heron07-0042_20261121_061811", "KIT=heron07", "CARD=usb:0d8c:0014", "CLOCK=ntp",
                "FIRST_FRAME=96000",
                "PART=2/2", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x0", "ENCODER=Fieldfare 0.1",
            ])
        #expect(second.chunks == [[1]])

        sidecar.parts.removeLast()
        sidecar.startedCorrected = "2026-11-22T00:00:00.000000Z"
        let only = FLACMetadata(
            sidecar: sidecar, part: 0, isUnfiltered: false, format: stereo16, frames: 48_000, chunks: [])
        let texts = only.comments.map { "\($0.name)=\($0.text)" }
        #expect(texts[0] == "TITLE=heron07-0042_20261121_061811")
        #expect(texts.contains("DATE=2026-11-22") && texts.contains("TIME_REFERENCE=0"))
        #expect(!texts.contains { $0.hasPrefix("PART=") || $0.hasPrefix("WAVEFORM") })

        sidecar.startedCorrected = nil
        sidecar.started = "yesterday"
        let dateless = FLACMetadata(
            sidecar: sidecar, part: 0, isUnfiltered: false, format: stereo16, frames: 48_000, chunks: [])
        #expect(dateless.comments.map(\.name) == ["TITLE", "TAKE", "KIT", "CARD", "CLOCK", "FIRST_FRAME", "ENCODER"])
    }

    @Test func `a part has the markers that lie in it, by frame, in its own frames`() {
        let sidecar = take()
        func cues(_ part: Int, _ rateHz: Int, _ frames: Int64) -> [FLACMetadata.Cue] {
            FLACMetadata(
                sidecar: sidecar, part: part, isUnfiltered: false,
                format: StreamFormat(rateHz: rateHz, channels: 1, sampleFormat: .s16), frames: frames, chunks: []
            ).cues
        }
        #expect(
            cues(0, 48_000, 48_000) == [
                FLACMetadata.Cue(frame: 1000, label: "late"), FLACMetadata.Cue(frame: 47_999, label: "Marker 1"),
            ])
        #expect(
            cues(1, 24_000, 24_000) == [
                FLACMetadata.Cue(frame: 1, label: "wren"), FLACMetadata.Cue(frame: 24_000, label: "end"),
            ])
    }

    @Test func `a region ends with its part`() {
        var sidecar = take()
        sidecar.markers[4].endFrame = TakeFrame(144_000)
        let first = FLACMetadata(
            sidecar: sidecar, part: 0, isUnfiltered: false, format: stereo16, frames: 48_000, chunks: [])
        #expect(
            first.cues == [
                FLACMetadata.Cue(frame: 1000, label: "late", frames: 47_000),
                FLACMetadata.Cue(frame: 47_999, label: "Marker 1"),
            ])
    }

    @Test func `a take that began before the clock was set has no date in its comments`() {
        var sidecar = take()
        sidecar.take = "heron07-0042_unset"
        let metadata = FLACMetadata(
            sidecar: sidecar, part: 1, isUnfiltered: false, format: stereo16, frames: 48_000, chunks: [])
        let dates = ["DATE", "CREATION_TIME", "ORIGINATION_DATE", "ORIGINATION_TIME", "TIME_REFERENCE"]
        #expect(!metadata.comments.contains { dates.contains($0.name) })
        #expect(metadata.comments.contains { $0.name == "TAKE" && $0.text == "heron07-0042_unset" })
    }
}

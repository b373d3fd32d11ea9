import Takes
import Testing

@testable import TakeFiles

struct WAVHeaderTests {
    static let origin = BroadcastOrigin(
        description: "D", reference: "R", started: morning, codingHistory: "A=PCM\r\n")

    /// The chunks of a header, with the offset and size of their content.
    func chunks(_ bytes: [UInt8]) -> [(name: String, start: Int, size: Int)] {
        var found: [(String, Int, Int)] = []
        var offset = 12
        while offset + 8 <= bytes.count {
            let size = number(bytes, offset + 4, 4)
            found.append((String(decoding: bytes[offset..<offset + 4], as: UTF8.self), offset + 8, size))
            offset += 8 + size + size % 2
        }
        return found
    }

    func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    static let expected: [(StreamFormat, [UInt8])] = [
        (
            StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16),
            [1, 0, 2, 0, 0x80, 0xbb, 0, 0, 0, 0xee, 2, 0, 4, 0, 16, 0]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s24),
            [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0xc0, 0x5d, 0, 0, 3, 0, 24, 0]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s32, significantBits: 18),
            [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0xc0, 0x5d, 0, 0, 3, 0, 24, 0]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 2, sampleFormat: .s24Packed),
            [1, 0, 2, 0, 0x40, 0x1f, 0, 0, 0x80, 0xbb, 0, 0, 6, 0, 24, 0]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s32),
            [0xfe, 0xff, 1, 0, 0x40, 0x1f, 0, 0, 0, 0x7d, 0, 0, 4, 0, 32, 0, 22, 0, 32, 0, 4, 0, 0, 0]
                + [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 3, sampleFormat: .s24),
            [0xfe, 0xff, 3, 0, 0x40, 0x1f, 0, 0, 0x40, 0x19, 1, 0, 9, 0, 24, 0, 22, 0, 24, 0, 0, 0, 0, 0]
                + [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 4, sampleFormat: .s16),
            [0xfe, 0xff, 4, 0, 0x40, 0x1f, 0, 0, 0, 0xfa, 0, 0, 8, 0, 16, 0, 22, 0, 16, 0, 0, 0, 0, 0]
                + [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .float),
            [3, 0, 1, 0, 0x40, 0x1f, 0, 0, 0, 0x7d, 0, 0, 4, 0, 32, 0, 0, 0]
        ),
        (
            StreamFormat(rateHz: 8000, channels: 3, sampleFormat: .float),
            [3, 0, 3, 0, 0x40, 0x1f, 0, 0, 0, 0x77, 1, 0, 12, 0, 32, 0, 0, 0]
        ),
    ]

    @Test(arguments: expected) func `the format is written in the form that its readers expect`(
        format: StreamFormat, fmt: [UInt8]
    ) throws {
        let bytes = WAVHeader(format: format, origin: Self.origin).bytes(dataBytes: 1200, trailingBytes: 30)
        #expect(bytes.count == 4096)
        #expect(String(decoding: bytes[0..<4] + bytes[8..<12], as: UTF8.self) == "RIFFWAVE")
        #expect(number(bytes, 4, 4) == 4088 + 1230)
        let chunks = chunks(bytes)
        let isFloat = format.sampleFormat == .float
        #expect(chunks.map(\.name) == ["bext", "fmt "] + (isFloat ? ["fact"] : []) + ["JUNK", "data"])
        let place = try #require(chunks.first { $0.name == "fmt " })
        #expect(Array(bytes[place.start..<place.start + place.size]) == fmt)
        if isFloat {
            let place = try #require(chunks.first { $0.name == "fact" })
            #expect(number(bytes, place.start, place.size) == 1200 / format.bytesPerFrame)
        }
        let data = try #require(chunks.last)
        #expect(data.start == 4096)
        #expect(data.size == 1200)
    }

    @Test func `the origin lies where EBU Tech 3285 puts it`() throws {
        let bytes = WAVHeader(format: stereo16, origin: Self.origin).bytes(dataBytes: 0)
        let bext = Array(bytes[20..<20 + number(bytes, 16, 4)])
        #expect(bext.count == 602 + 7)
        func text(_ offset: Int, _ count: Int) -> String {
            String(decoding: bext[offset..<offset + count].prefix { $0 != 0 }, as: UTF8.self)
        }
        #expect(text(0, 256) == "D")
        #expect(text(256, 32) == "Fieldfare")
        #expect(text(288, 32) == "R")
        #expect(text(320, 10) == "2026-11-21")
        #expect(text(330, 8) == "06:18:11")
        #expect(number(bext, 338, 8) == 22_691_250 * 48)
        #expect(number(bext, 346, 2) == 1)
        #expect(bext[348..<602].allSatisfy { $0 == 0 })
        #expect(text(602, 7) == "A=PCM\r\n")
    }

    @Test func `texts that are too long are cut at a character, and the header stays as long as it is`() {
        let long = String(repeating: "ä", count: 5000)
        let origin = BroadcastOrigin(
            description: "x" + long, originator: long, reference: long, started: morning, codingHistory: long)
        let bytes = WAVHeader(format: stereo16, origin: origin).bytes(dataBytes: 0)
        #expect(bytes.count == 4096)
        #expect(String(validating: bytes[20..<276].prefix { $0 != 0 }, as: UTF8.self)?.count == 128)
        #expect(chunks(bytes).map(\.size) == [602 + 1024, 16, 4096 - 20 - 1626 - 24 - 16, 0])
    }

    @Test func `sizes that RIFF cannot hold are written as the greatest that it can`() {
        let bytes = WAVHeader(format: stereo16, origin: Self.origin).bytes(dataBytes: 1 << 33)
        #expect(number(bytes, 4, 4) == 0xffff_ffff)
        #expect(number(bytes, 4092, 4) == 0xffff_ffff)
    }

    @Test func `a card's name cannot break the coding history`() {
        var sidecar = testSidecar(TakeName(kit: "k", number: 1, started: morning))
        sidecar.card = "usb:1,2\r\nA=ANALOGUE\u{e9}"
        let origin = BroadcastOrigin(
            sidecar: sidecar, started: morning, firstFrame: 24_000, format: stereo16, isUnfiltered: true)
        #expect(origin.codingHistory == "A=PCM,F=48000,W=16,M=stereo,T=Fieldfare 0.1; usb:1 2 A=ANALOGUE \r\n")
        #expect(origin.description == "Take k-0001_20261121_061811, unfiltered, kit k")
        #expect(origin.started == morning + .milliseconds(500))
    }
}

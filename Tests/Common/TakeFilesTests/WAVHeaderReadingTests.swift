import TakePlaces
import Takes
import Testing

@testable import TakeFiles

struct WAVHeaderReadingTests {
    static let formats = [1, 2, 3, 8, 32].flatMap { channels in
        SampleFormat.allCases.flatMap { sample in
            [8000, 44_100, 48_000, 192_000].map {
                StreamFormat(rateHz: $0, channels: channels, sampleFormat: sample)
            }
        }
    }

    func header(_ format: StreamFormat, started: WallTime = morning) -> WAVHeader {
        WAVHeader(
            format: format,
            origin: BroadcastOrigin(
                sidecar: testSidecar(TakeName(kit: "heron07", number: 1, started: started), format), started: started,
                firstFrame: 0, format: format.stored, isUnfiltered: false))
    }

    @Test func `a head is read as it was written`() throws {
        for format in Self.formats {
            let written = header(format)
            let reading = try #require(WAVHeaderReading(written.bytes(dataBytes: 1234, trailingBytes: 68)))
            #expect(reading.format == format.stored)
            #expect(reading.dataBytes == 1234)
            let origin = try #require(reading.origin)
            #expect(origin.recorder == ("0.1", "usb:0d8c:0014"))
            #expect(try abs(#require(origin.started).microseconds - morning.microseconds) <= 125)
            // Writing it again gives exactly the same bytes.
            #expect(
                WAVHeader(format: reading.format, origin: origin).bytes(dataBytes: 1234, trailingBytes: 68)
                    == written.bytes(dataBytes: 1234, trailingBytes: 68))
        }
    }

    @Test func `a time survives any number of readings`() throws {
        for microseconds in stride(from: morning.microseconds, to: morning.microseconds + 5000, by: 7) {
            var head = header(Self.formats[1], started: WallTime(microseconds: microseconds)).bytes(dataBytes: 0)
            let first = try #require(WAVHeaderReading(head)?.origin)
            for _ in 0..<3 {
                let origin = try #require(WAVHeaderReading(head)?.origin)
                #expect(origin == first)
                head = WAVHeader(format: Self.formats[1], origin: origin).bytes(dataBytes: 0)
            }
        }
    }

    @Test func `other heads, and heads with impossible fields, are not read`() {
        let whole = header(stereo16).bytes(dataBytes: 0)
        #expect(WAVHeaderReading(whole) != nil)
        #expect(WAVHeaderReading([]) == nil)
        #expect(WAVHeaderReading(Array(whole.dropLast())) == nil)
        let fmt = 12 + 8 + 602 + (header(stereo16).origin.codingHistory.utf8.count + 1) / 2 * 2 + 8
        #expect(Array(whole[fmt - 8..<fmt - 4]) == Array("fmt ".utf8))
        for (place, value) in [
            (0, 0x58), (8, 0), (4088, 1), (16, 0xff), (fmt, 2), (fmt + 2, 0), (fmt + 3, 9), (fmt + 6, 0xff),
            (fmt + 12, 5), (fmt + 14, 12), (fmt - 3, 0xff),
        ] as [(Int, UInt8)] {
            var bytes = whole
            bytes[place] = value
            #expect(WAVHeaderReading(bytes) == nil, "\(place)")
        }
        // An impossible date does not affect the format.
        var bytes = whole
        bytes[20 + 320] = 0x58
        #expect(WAVHeaderReading(bytes)?.format == stereo16)
        #expect(WAVHeaderReading(bytes)?.origin == nil)
    }

    @Test(arguments: [
        (".wav.part", 1, false, false), (".wav", 1, false, true), ("-raw.wav.part", 1, true, false),
        ("-p2.wav", 2, false, true), ("-p12-raw.wav.part", 12, true, false),
    ]) func `the name of an audio file says which it is`(
        suffix: String, part: Int, isUnfiltered: Bool, isFinal: Bool
    ) throws {
        let take = TakeName(kit: "heron07", number: 1, started: morning)
        let name = try #require(AudioFileName(take.stem.file(suffix), of: take))
        #expect(name.part == part)
        #expect(name.isUnfiltered == isUnfiltered)
        #expect(name.isFinal == isFinal)
    }

    @Test(arguments: [
        "", ".part", ".wav.part.part", "-p1.wav", "-p0.wav", "-p02.wav.part", "-p+2.wav", "-p-2.wav", "-x.wav",
        "-raw-p2.wav", ".json.part", ".wav.tmp", "-p99999999999999999999.wav",
    ]) func `other names are not names of audio files`(suffix: String) {
        let take = TakeName(kit: "heron07", number: 1, started: morning)
        #expect(AudioFileName(take.stem.file(suffix), of: take) == nil)
        #expect(AudioFileName("heron07-0002_20261121_061811.wav", of: take) == nil)
    }
}

import Takes
import Testing

/// How other programs parse the names of takes, by their documentation or their code.
struct NameReadersTests {
    /// A program's rule. It returns the digits of the date and time, without separators.
    struct Reader: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let read: @Sendable (String) -> String?
    }

    static let readers = [
        // Song Meter recorders, Kaleidoscope, SonoBat, and programs that read their files.
        Reader(testDescription: "PREFIX_YYYYMMDD_HHMMSS.wav and nothing else") { name in
            (try? /.+_(\d{8})_(\d{6})\.wav/.wholeMatch(in: name)).map { "\($0.1)\($0.2)" }
        },
        Reader(testDescription: "Raven's default template _<yyyy><ll><dd>_<hh><MM><ss>.") { name in
            name.firstMatch(of: /_(\d{4}[01]\d[0-3]\d)_([0-2]\d[0-5]\d[0-5]\d)\./).map { "\($0.1)\($0.2)" }
        },
        Reader(testDescription: "the last two pieces between _, as songmeter() of seewave and opensoundscape have it") {
            name in
            let pieces = name.prefix { $0 != "." }.split(separator: "_").suffix(2)
            return pieces.count == 2 && pieces.map(\.count) == [8, 6] ? pieces.joined() : nil
        },
        Reader(testDescription: "the first eight and six digits with _ between them, as scikit-maad searches") { name in
            name.firstMatch(of: /(\d{8})_(\d{6})/).map { "\($0.1)\($0.2)" }
        },
        Reader(testDescription: "the first eight digits in a row, and six after them, as Arbimon and Vesper search") {
            name in
            name.firstMatch(of: /(\d{8})\D?(\d{6})/).map { "\($0.1)\($0.2)" }
        },
    ]

    @Test(arguments: readers) func `each reads the time of the file's own first frame, and none where there is none`(
        reader: Reader
    ) {
        let (started, later) = (
            WallTime(iso8601: "2026-11-21T06:18:11.999999Z"), WallTime(iso8601: "2026-11-21T10:18:11.000000Z")
        )
        for kit in ["heron07", "a", "field-kit-0001", "p2-raw", "x-12345"] {
            let take = TakeName(kit: kit, number: 42, started: started)
            for isUnfiltered in [false, true] {
                #expect(reader.read(take.audioFile(part: 1, isUnfiltered: isUnfiltered)) == "20261121061811")
                #expect(
                    reader.read(take.audioFile(part: 2, isUnfiltered: isUnfiltered, started: later)) == "20261121101811"
                )
                let unset = TakeName(kit: kit, number: 42, started: nil)
                #expect(reader.read(unset.audioFile(part: 2, isUnfiltered: isUnfiltered, started: later)) == nil)
            }
        }
    }

    /// A take every hour, with two parts.
    @Test func `the names of a year have one date each, and sort by time`() throws {
        let first = try #require(WallTime(iso8601: "2026-01-01T00:00:00.500000Z"))
        var names: [String] = []
        for hour in 0..<8760 {
            let started = first + .seconds(3600 * hour)
            let take = TakeName(kit: "heron07", number: 1 + hour, started: started)
            names += [take.audioFile(part: 1), take.audioFile(part: 2, started: started + .seconds(1800))]
        }
        #expect(names.allSatisfy { $0.matches(of: /\d{8}/).count == 1 && $0.utf8.count <= 120 })
        #expect(Set(names).count == names.count)
        let byTime = names.sorted {
            ($0.firstMatch(of: /\d{8}_\d{6}/)?.0 ?? "") < ($1.firstMatch(of: /\d{8}_\d{6}/)?.0 ?? "")
        }
        #expect(byTime == names)
        let stems = stride(from: 0, to: names.count, by: 2).map { names[$0] }
        #expect(stems.sorted() == stems)
    }
}

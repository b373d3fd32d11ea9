import Takes
import Testing

struct TakeListingTests {
    private func takes(
        _ files: [String], owner: TakeListing.Owner = { $1 }
    ) -> [String: [String]] {
        Dictionary(
            uniqueKeysWithValues: TakeListing(files, day: "2026-11-21", owner: owner).takes.map { ($0.stem, $1) })
    }

    @Test func `files are sorted by their takes, in the order in which they are given`() {
        let files = [
            "heron07-0042_20261121_061811.wav", "heron07-0042-p2_20261121_101811.wav.part", "notes.txt",
            "heron07-0042-061811Z-p2.wav", "heron07-0042_20261121_061811.json", "heron07-0043_20261121_061811.json",
            "heron07-0044_unset.wav", "heron07-0044-p2_unset.wav",
        ]
        #expect(
            takes(files) == [
                "heron07-0042_20261121_061811": [files[0], files[1], files[4]], "heron07-0042-061811Z": [files[3]],
                "heron07-0043_20261121_061811": [files[5]], "heron07-0044_unset": [files[6], files[7]],
            ])
    }

    @Test func `a later part is of the last take of its number that had begun before it`() throws {
        let files = [
            "a-0001_20261121_080000.json", "a-0001_20261121_060000.json", "a-0001-p2_20261121_075959.wav",
            "a-0001-p2_20261121_080000.wav", "a-0001-p3_20261121_100000.wav", "a-0001-p2_20261121_010000.wav",
        ]
        #expect(
            takes(files) == [
                "a-0001_20261121_060000": [files[1], files[2], files[5]],
                "a-0001_20261121_080000": [files[0], files[3], files[4]],
            ])
        let later = try #require(TakeName(stem: "a-0001_20261121_080000", day: "2026-11-21"))
        #expect(TakeListing.files(of: later, in: files) { $1 } == [files[0], files[3], files[4]])
    }

    @Test func `later parts alone are called after the first of them`() {
        let files = ["a-0001-p3_20261121_090000.wav", "a-0001-p2-raw_20261121_080000.wav.part"]
        #expect(takes(files) == ["a-0001_20261121_080000": files])
    }

    @Test func `where the take of a later part is known, that one has it`() {
        let files = [
            "a-0001_20261121_080000.json", "a-0001_20261121_060000.json", "a-0001-p2_20261121_090000.wav",
            "a-0001-p3_20261121_100000.wav",
        ]
        var asked: [[String]] = []
        let found = takes(files) { part, stems in
            asked.append([part] + stems)
            return part == files[2] ? ["a-0001_20261121_060000"] : ["b-0001_20261121_060000"]
        }
        // The take of another kit does not own it, so the owner's answer is ignored.
        #expect(
            found == [
                "a-0001_20261121_060000": [files[1], files[2]], "a-0001_20261121_080000": [files[0]],
                "a-0001_20261121_100000": [files[3]],
            ])
        let stems = ["a-0001_20261121_060000", "a-0001_20261121_080000"]
        #expect(asked == [[files[2]] + stems, [files[3]] + stems])
    }

    @Test func `a later part of a take that has no other file there keeps its take's name`() {
        let files = ["a-0001_20261121_080000.json", "a-0001-p2_20261121_090000.wav"]
        #expect(
            takes(files) { _, _ in ["a-0001_20261121_060000"] }
                == ["a-0001_20261121_080000": [files[0]], "a-0001_20261121_060000": [files[1]]])
        #expect(takes(files) == ["a-0001_20261121_080000": files])
    }

    @Test func `a part that no recorder spells so is none`() {
        #expect(takes(["a-0001-p1_20261121_061811.wav", "a-0001-p02_20261121_071811.wav"]) == [:])
    }
}

import Takes
import Testing

struct TakeNameTests {
    let name = TakeName(kit: "heron07", number: 42, started: WallTime(microseconds: 1_795_241_891_250_000))

    let old = TakeName(stem: "heron07-0042-061811Z", day: "2026-11-21")

    @Test func `a take is called after its kit, its number, its date and its time, in a folder for the day`() {
        #expect(name.stem == "heron07-0042_20261121_061811")
        #expect(name.day == "2026-11-21")
        #expect(name.audioFile(part: 1) == "heron07-0042_20261121_061811.wav")
        #expect(name.audioFile(part: 1, isUnfiltered: true) == "heron07-0042-raw_20261121_061811.wav")
    }

    /// 8 h at 48 kHz, split after 691 200 000 frames.
    @Test func `a later part has the time of its own first frame`() {
        let begun = WallTime(microseconds: 1_795_241_891_250_000) + .seconds(691_200_000 / 48_000)
        #expect(name.audioFile(part: 2, started: begun) == "heron07-0042-p2_20261121_101811.wav")
        #expect(
            name.audioFile(part: 2, isUnfiltered: true, started: begun) == "heron07-0042-p2-raw_20261121_101811.wav")
        let late = TakeName(kit: "heron07", number: 42, started: WallTime(iso8601: "2026-11-21T23:50:00.000000Z"))
        let next = WallTime(iso8601: "2026-11-22T00:10:00.999999Z")
        #expect(late.audioFile(part: 2, started: next) == "heron07-0042-p2_20261122_001000.wav")
    }

    @Test(arguments: [
        ("2026-11-21T06:18:11.999999Z", "20261121_061811"), ("1969-12-31T23:59:59.999999Z", "19691231_235959"),
    ]) func `the time in a name is cut to the second`(time: String, stamp: String) {
        #expect(TakeName(kit: "a", number: 1, started: WallTime(iso8601: time)).stem == "a-0001_\(stamp)")
    }

    @Test func `a take that began before the clock was set has no date in its name, nor have its parts`() {
        let unset = TakeName(kit: "heron07", number: 42, started: nil)
        #expect(unset.stem == "heron07-0042_unset")
        #expect(unset.day == "unset")
        #expect(
            unset.audioFile(part: 2, isUnfiltered: true, started: WallTime(microseconds: 0))
                == "heron07-0042-p2-raw_unset.wav")
        #expect(TakeName(stem: unset.stem, day: unset.day) == unset)
    }

    @Test func `takes of version 0.1 keep the form of their names`() throws {
        let old = try #require(old)
        #expect(old.stem == "heron07-0042-061811Z")
        let begun = WallTime(iso8601: "2026-11-21T10:18:11.000000Z")
        #expect(old.audioFile(part: 12, started: begun) == "heron07-0042-061811Z-p12.wav")
        #expect(old.audioFile(part: 2, isUnfiltered: true, started: begun) == "heron07-0042-061811Z-p2-raw.wav")
    }

    @Test(arguments: [
        ("heron07", 1), ("a", 9999), ("field-kit-0001", 10_000), ("x", 123_456), ("p2-raw", 7),
    ]) func `a stem is read as it is written`(kit: String, number: Int) {
        let name = TakeName(kit: kit, number: number, started: WallTime(microseconds: 0))
        #expect(TakeName(stem: name.stem, day: "1970-01-01") == name)
    }

    @Test(arguments: [
        "", "heron07", "heron07-0042", "0042-061811Z", "-0042-061811Z", "heron07-42-061811Z", "heron07-0042-61811Z",
        "heron07-0042-061811z", "heron07-0042-061811", "Heron-0042-061811Z", "heron07-00042-061811Z",
        "heron07-004x-061811Z", "heron07-99999999999999999999-061811Z", "heron07-0042-06181١Z", "a/b-0042-061811Z",
        "heron07-0042-061811Z.wav", "heron07-0042-061811Z-p1", "heron07-0042-061811Z-raw",
        "heron07-0042-p2_20261121_061811", "heron07-0042-raw_20261121_061811", "heron07-0042-p1_20261121_061811",
        "heron07-0042_20261121_06181", "heron07-0042_2026112_1061811", "heron07-0042_20261121-061811", "heron07-0042_",
        "heron07-0042_Unset", "heron07-0042_unset_", "heron07-42_20261121_061811", "heron07-0042_20261121_061811_p2",
        "heron07-0042_20261121_06181١", "heron_07-0042_20261121_061811", "heron07-0042_20261121_061811.wav",
    ]) func `what is no stem is not read`(text: String) {
        #expect(TakeName(stem: text, day: "2026-11-21") == nil)
    }

    @Test(arguments: [
        ".wav", ".wav.part", ".json", ".json.part", ".json.part.tmp", ".dat", "-raw.wav", "-p2.wav",
        "-p12-raw.wav.part",
        ".flac", "",
    ]) func `every file of a take of version 0.1 names its take`(suffix: String) throws {
        let old = try #require(old)
        #expect(TakeFileName(old.stem + suffix)?.take(in: old.day) == old)
    }

    @Test(arguments: ["-p.wav", "-p2x.wav", "-raw-p2.wav", "-q2.wav", "x.wav", "-p2-p3.wav"])
    func `other files are of no take`(suffix: String) throws {
        #expect(try TakeFileName(#require(old).stem + suffix) == nil)
        #expect(TakeFileName("heron07-0042\(suffix.dropLast(4))_20261121_061811.wav")?.mayBe(of: name) != true)
    }

    @Test(arguments: [
        ("heron07-0042_20261121_061811.json.part.tmp", 1, false), ("heron07-0042-raw_20261121_061811.wav", 1, true),
        ("heron07-0042-p2_20261121_101811.flac", 2, false), ("heron07-0042-p12-raw_20261122_061811.wav.part", 12, true),
    ]) func `every file of a take may be its own, and says which part it is`(
        file: String, part: Int, isUnfiltered: Bool
    ) throws {
        let parsed = try #require(TakeFileName(file))
        #expect(parsed.mayBe(of: name))
        #expect((parsed.part, parsed.isUnfiltered) == (part, isUnfiltered))
        #expect(file.hasPrefix(parsed.base + "."))
        #expect(parsed.take(in: name.day) == (part == 1 ? name : nil))
    }

    @Test(arguments: [
        "heron07-0042_20261121_061812.wav", "heron07-0043-p2_20261121_061811.wav",
        "heron08-0042-p2_20261121_061811.wav",
        "heron07-0042-061811Z.wav", "heron07-0042-p2_unset.wav", "heron07-0042_unset.wav",
    ]) func `the files of other takes are not its own`(file: String) {
        #expect(!name.mayOwn(file))
    }

    @Test func `a day is a date and nothing else`() {
        #expect(["2026-11-21", "0000-00-00", "unset"].allSatisfy(TakeName.isDay))
        #expect(
            !["", "2026-11-2", "2026-11-211", "2026/11/21", "2026-1a-21", ".number"].contains(where: TakeName.isDay))
    }

    @Test func `a kit's name is short, small letters, digits and dashes`() {
        #expect(["heron07", "a", "0", "a-b", String(repeating: "k", count: 64)].allSatisfy(TakeName.isKitName))
        #expect(
            !["", "A", "a_b", "a b", "a.b", "é", "a/b", String(repeating: "k", count: 65)]
                .contains(where: TakeName.isKitName))
    }
}

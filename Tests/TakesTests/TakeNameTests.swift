import Takes
import Testing

struct TakeNameTests {
    let name = TakeName(kit: "heron07", number: 42, started: WallTime(microseconds: 1_795_241_891_250_000))

    /// As later versions name it.
    let dated = TakeName(stem: "heron07-0042_20261121_061811", day: "2026-11-21")

    @Test func `a take is called after its kit, its number and its time, in a folder for the day`() {
        #expect(name.stem == "heron07-0042-061811Z")
        #expect(name.day == "2026-11-21")
        #expect(name.audioFile(part: 1) == "heron07-0042-061811Z.wav")
        #expect(name.audioFile(part: 1, isUnfiltered: true) == "heron07-0042-061811Z-raw.wav")
        #expect(name.audioFile(part: 12) == "heron07-0042-061811Z-p12.wav")
        #expect(name.audioFile(part: 2, isUnfiltered: true) == "heron07-0042-061811Z-p2-raw.wav")
    }

    @Test(arguments: ["heron07-0042_20261121_061811", "heron07-0042_unset"])
    func `a stem with a date, or without any time, is read as it is written`(stem: String) {
        #expect(TakeName(stem: stem, day: "unset")?.stem == stem)
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
    ]) func `every file of a take names its take`(suffix: String) {
        #expect(TakeFileName(name.stem + suffix)?.take(in: name.day) == name)
    }

    @Test(arguments: ["-p.wav", "-p2x.wav", "-raw-p2.wav", "-q2.wav", "x.wav", "-p2-p3.wav"])
    func `other files are of no take`(suffix: String) throws {
        #expect(TakeFileName(name.stem + suffix) == nil)
        let dated = try #require(dated)
        #expect(TakeFileName("heron07-0042\(suffix.dropLast(4))_20261121_061811.wav")?.mayBe(of: dated) != true)
    }

    @Test(arguments: [
        ("heron07-0042_20261121_061811.json.part.tmp", 1, false), ("heron07-0042-raw_20261121_061811.wav", 1, true),
        ("heron07-0042-p2_20261121_101811.flac", 2, false), ("heron07-0042-p12-raw_20261122_061811.wav.part", 12, true),
    ]) func `every file of a take may be its own, and says which part it is`(
        file: String, part: Int, isUnfiltered: Bool
    ) throws {
        let name = try #require(dated)
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
    ]) func `the files of other takes are not its own`(file: String) throws {
        #expect(try !#require(dated).mayOwn(file))
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

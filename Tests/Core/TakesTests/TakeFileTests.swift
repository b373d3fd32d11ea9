import Takes
import Testing

struct TakeFileTests {
    let stem = "heron07-0042-061811Z"

    private var sidecar: Sidecar {
        var sidecar = SidecarTests.full
        sidecar.take = stem
        sidecar.parts = [("", "-raw"), ("-p2", nil), ("-p12", "-p12-raw")].map { part, twin in
            Sidecar.Part(
                file: "\(stem)\(part).flac", unfilteredFile: twin.map { "\(stem)\($0).wav" }, firstFrame: .first,
                frames: 1,
                rateHz: 48_000, format: .s24)
        }
        return sidecar
    }

    private let sound: [(String, TakeFile.Role)] = [
        (".flac", .sound(part: 1)), ("-raw.wav", .unfiltered(part: 1)), ("-p2.flac", .sound(part: 2)),
        ("-p12.flac", .sound(part: 12)), ("-p12-raw.wav", .unfiltered(part: 12)),
    ]

    private func expect(
        _ files: [TakeFile], _ expected: [(String, TakeFile.Role)], at location: SourceLocation = #_sourceLocation
    ) {
        #expect(files.map(\.name) == expected.map { stem + $0.0 }, sourceLocation: location)
        #expect(files.map(\.role) == expected.map(\.1), sourceLocation: location)
    }

    @Test func `a take's files are its sound, part after part, its waveform, and the sidecar last`() {
        expect(sidecar.files, sound + [(".dat", .waveform), (".json", .sidecar)])
        let listed = CatalogedTake(sidecar, notes: TakeNotes(take: stem), bytes: 0, folder: "", place: .here)
        #expect(listed.recordedFiles == sidecar.files)
    }

    @Test func `what people noted goes home before the sidecar`() {
        expect(
            sidecar.filesAtHome,
            sound + [(".dat", .waveform), (".txt", .memo), (".notes.json", .notes), (".json", .sidecar)])
    }

    @Test func `a file's role is read from its name`() {
        for file in sidecar.filesAtHome + [.memo(of: stem, other: "1f2e3d4c")] {
            #expect(TakeFile(file.name, of: stem) == file)
        }
    }

    @Test(arguments: [
        "", ".mp3", ".json.part", ".json.tmp", ".wav.part", ".wav.bak", "-p2.dat", "-raw.json", "-motion.dat", "-p.wav",
        "-q2.wav", ".other-1f2e3d4c", "x.wav",
    ]) func `other files beside a take have no role`(ending: String) {
        #expect(TakeFile(stem + ending, of: stem) == nil)
    }

    @Test func `a take whose stem begins as another's has none of the other's files`() {
        for file in sidecar.filesAtHome { #expect(TakeFile(file.name, of: "heron07-0042-061811") == nil) }
        #expect(TakeFile("p2-raw-0042-061811Z.wav", of: "raw-0042-061811Z") == nil)
    }

    @Test func `all but sound may be replaced`() {
        #expect(
            sidecar.filesAtHome.filter(\.isReplaceable).map(\.role) == [.waveform, .memo, .notes, .sidecar])
    }

    @Test func `a name's ending tells the media type`() {
        #expect(
            sidecar.filesAtHome.map(\.mediaType) == [
                "audio/flac", "audio/wav", "audio/flac", "audio/flac", "audio/wav", "application/octet-stream",
                "text/plain; charset=utf-8", "application/json", "application/json",
            ])
    }
}

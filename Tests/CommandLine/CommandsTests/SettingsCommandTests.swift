import TestBench
import Testing

@Suite struct SettingsCommandTests {
    private let scratch = TestFolder()

    private func get(_ words: String..., in text: String) throws -> (
        status: Int32, output: [String], complaints: [String]
    ) {
        scratch.write(text, to: "fieldfare.toml")
        return run(["--settings", "\(scratch.path)/fieldfare.toml", "settings", "get"] + words)
    }

    @Test func `each key is a line, and a list a line for each of its elements`() throws {
        let text =
            "[takes]\ndirectory = \"stick\"\n[outbox]\nstore = [\"auto\", \"folder\"]\nfolder.path = \"/mnt/a share\"\n"
        let (status, output, complaints) = try get(
            "takes.directory", "outbox.store", "outbox.folder.path", "takes.reserve_mib", "capture.agc", "kit.name",
            in: text)
        #expect(output == ["stick", "auto", "folder", "/mnt/a share", "512", "false"])
        #expect(status == 0 && complaints.isEmpty)
    }

    @Test func `JSON has the keys with their values`() throws {
        let output = try get(
            "--json", "playback.volume", "schedule.record", "kit.name", in: "[playback]\nvolume = 0.25\n"
        ).output
        #expect(output == [#"{"kit.name":null,"playback.volume":0.25,"schedule.record":[]}"#])
    }

    @Test func `what is wrong is complained of, and what is in force is printed`() throws {
        let (status, output, complaints) = try get("takes.reserve_mib", in: "[takes]\nreserve_mib = 1\n")
        #expect(output == ["512"] && status == 0)
        #expect(complaints.count == 1 && complaints.allSatisfy { $0.contains("takes.reserve_mib: found 1") })
    }

    @Test func `a key that there is not is a usage error`() throws {
        let (status, output, complaints) = try get("takes.format", "takes.formt", in: "")
        #expect(status == 64 && output.isEmpty)
        #expect(complaints == ["settings: \"takes.formt\": no such key; did you mean 'takes.format'?"])
    }
}

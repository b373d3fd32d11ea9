import Files
import TakeFiles
import Takes
import Testing

@testable import Commands

/// `takes` with conditions, answered by a real folder while no library runs.
@Suite final class FolderTakesTests {
    private let folder = KitFolder()

    /// Four takes: number 2 is the oldest; number 3 is the longest and has markers.
    private func recordFour() throws {
        func time(_ text: String) throws -> WallTime { try WallTime(reading: text) }
        try folder.record(started: time("2026-11-21T06:00:00Z"), seconds: 2)
        try folder.record(started: time("2026-11-20T06:00:00Z"), seconds: 1)
        try folder.record(started: time("2026-11-22T06:00:00Z"), seconds: 4) { output, _ in
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(100), note: "Das Rotkehlchen, ein WREN")))
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(200), note: nil)))
        }
        try folder.record(started: time("2026-11-23T06:00:00Z"), seconds: 3) { output, sidecar in
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(100), note: nil)))
            sidecar.startedCorrected = "2026-11-23T08:00:00.000000Z"
        }
    }

    /// The numbers of the listed takes.
    private func numbers(_ arguments: [String]) -> [Int] {
        let result = run(["takes"] + arguments, access: folder.access)
        #expect(result.status == 0)
        #expect(result.complaints == [])
        return result.output.compactMap { $0.split { "-_".contains($0) }.dropFirst().first.flatMap { Int($0) } }
    }

    @Test func `conditions hold together`() throws {
        try recordFour()
        #expect(numbers([]) == [1, 2, 3, 4])
        #expect(numbers(["--here"]) == [1, 2, 3, 4])
        #expect(numbers(["--since", "2026-11-22"]) == [3, 4])
        #expect(numbers(["--since", "2026-11-22T06:00:00Z"]) == [3, 4])
        #expect(numbers(["--until", "2026-11-22T06:00:00Z"]) == [1, 2])
        #expect(numbers(["--until", "2026-11-22T07:00:01+01:00"]) == [1, 2, 3])
        #expect(numbers(["--since", "2026-11-23T07:00Z"]) == [4])
        #expect(numbers(["--longer", "2"]) == [1, 3, 4])
        #expect(numbers(["--longer", "0m3s"]) == [3, 4])
        // The test's clock is at 1970-01-01.
        #expect(numbers(["--since", "yesterday"]) == [1, 2, 3, 4])
        #expect(numbers(["--until", "today"]) == [])
        #expect(numbers(["--shorter", "2"]) == [1, 2])
        #expect(numbers(["--longer", "1.5", "--shorter", "3.5", "--since", "2026-11-22"]) == [4])
        #expect(numbers(["--marker", ""]) == [3, 4])
        #expect(numbers(["--marker", "wren"]) == [3])
        #expect(numbers(["--marker", "rot w"]) == [3])
        #expect(numbers(["--marker", "kehlchen"]) == [])
        #expect(
            run(["takes", "--longer", "1m"], access: folder.access) == (0, ["\(folder.path): no such takes"], []))
    }

    @Test func `they are in the order that is asked for`() throws {
        try recordFour()
        #expect(numbers(["--reverse"]) == [4, 3, 2, 1])
        #expect(numbers(["--order", "number"]) == [1, 2, 3, 4])
        #expect(numbers(["--order", "started"]) == [2, 1, 3, 4])
        #expect(numbers(["--order", "duration"]) == [2, 1, 4, 3])
        #expect(numbers(["--order", "size", "--reverse"]) == [3, 4, 1, 2])
        #expect(numbers(["--order", "duration", "--reverse", "--limit", "2"]) == [3, 4])
        #expect(numbers(["--limit", "1"]) == [1])
        #expect(numbers(["--limit", "1", "--marker", ""]) == [3])
        #expect(numbers(["--limit", "9"]) == [1, 2, 3, 4])
    }

    @Test(arguments: [["--text", "wren"], ["--tag", "river"], ["--starred"], ["--elsewhere"]])
    func `what only the library knows is not answered without it`(arguments: [String]) throws {
        try recordFour()
        let option = arguments[0]
        #expect(
            run(["takes"] + arguments, access: folder.access)
                == (69, [], ["takes: \(option): only the library can answer this, and it is not running"]))
        #expect(
            run(["takes", "--directory", folder.path] + arguments, access: folder.access)
                == (
                    64, [],
                    ["fieldfare takes: --directory: a folder knows nothing of \(option): see 'fieldfare takes --help'"]
                ))
    }

    @Test(arguments: [
        (
            ["--since", "soon"],
            "takes: --since: found soon, allowed is a day such as 2026-11-21, today, yesterday or monday, or a date and "
                + "time such as 2026-11-21T06:18:11Z"
        ),
        (
            ["--until", "2026-11-21T06:18"],
            "takes: --until: 2026-11-21T06:18: of which zone is not said: add Z for UTC, or an offset such as +01:00"
        ),
        (["--here", "--elsewhere"], "takes: --here and --elsewhere exclude each other: see 'fieldfare takes --help'"),
        (["--limit", "0"], "takes: --limit: allowed is 1 or more: see 'fieldfare takes --help'"),
        (
            ["--longer=-1"],
            "takes: --longer: found -1.0 seconds, allowed is 0 or more: see 'fieldfare takes --help'"
        ),
        (
            ["--longer", "1m30"],
            "takes: The value '1m30' is invalid for '--longer <duration>': allowed are seconds such as 90 or 1.5, or hours, "
                + "minutes and seconds such as 2h, 1m or 1m30s: see 'fieldfare takes --help'"
        ),
        (
            ["--tag", " "],
            "takes: --tag: allowed is a text of 1 to 100 bytes on one line: see 'fieldfare takes --help'"
        ),
    ])
    func `a condition that is none is one sentence`(arguments: [String], sentence: String) {
        #expect(run(["takes"] + arguments, access: folder.access) == (64, [], ["fieldfare " + sentence]))
    }

    @Test func `a sidecar that cannot be read is named once, whatever the order`() throws {
        let name = try folder.record()
        try folder.record()
        let files = FileSystem()
        let sidecar = "\(folder.path)/\(name.day)/\(name.stem).json"
        try files.write(Array("{".utf8), to: files.create(sidecar, isNew: false), at: 0)
        for order in ["number", "started"] {
            let result = run(["takes", "--order", order, "--longer", "1"], access: folder.access)
            #expect(result.status == 65)
            #expect(result.output.count == 1)
            #expect(
                result.complaints == [
                    "takes: read \(sidecar): not a sidecar: not JSON", "takes: 1 take cannot be read",
                ])
        }
    }
}

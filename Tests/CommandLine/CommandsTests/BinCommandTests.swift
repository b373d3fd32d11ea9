import Control
import Files
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Commands

/// `bin`, and `delete` with a recorder that has a bin, on real folders.
@Suite final class BinCommandTests {
    private let folder = KitFolder()
    private var path: String { folder.path }

    private func recorder(hasBin: Bool = true) throws -> DeskRecorder {
        let recorder = try DeskRecorder()
        let path = path
        recorder.received.directory.withLock { $0 = path }
        if hasBin { recorder.received.binBytes.withLock { $0 = 0 } }
        return recorder
    }

    /// Records takes and moves them into the bin, in this order.
    private func bin(_ count: Int, clock: ClockOrigin = .ntp) throws -> [TakeName] {
        let takes = try (0..<count).map { _ in try folder.record { _, _ in } }
        let directory = try TakesDirectory(path: path)
        for (seconds, take) in takes.enumerated() {
            let moment = BinMoment(
                Instant(nanoseconds: Int64(seconds) * 60_000_000_000),
                wall: WallTime(microseconds: 1_795_241_891_000_000 + Int64(seconds) * 60_000_000), origin: clock,
                bootID: "boot")
            try directory.moveToBin(take, at: moment)
        }
        return takes
    }

    @Test func `the bin is listed from its folder, also while the recorder is down`() throws {
        let first = try folder.record { _, _ in }
        #expect(run(["bin"], access: folder.access) == (0, ["the bin is empty"], []))
        #expect(run(["bin", "list", "--json"], access: folder.access) == (0, ["[]"], []))
        let takes = try bin(2)
        let result = run(["bin", "list"], access: folder.access)
        #expect(
            result.output.dropLast() == [
                "\(takes[0].stem)  2026-11-21 06:18:11   0:00:02.0  deleted 2026-11-21 06:18:11",
                "\(takes[1].stem)  2026-11-21 06:18:11   0:00:02.0  deleted 2026-11-21 06:19:11",
            ])
        #expect(result.output.last?.hasPrefix("2 takes, ") == true)
        #expect(run(["takes"], access: folder.access).output.map { String($0.prefix(28)) } == [first.stem])
        let json = try JSONValue(decoding: run(["bin", "list", "--json"], access: folder.access).output[0].utf8)
        guard case .array(let list) = json else { return #expect(Bool(false)) }
        #expect(list.map { $0["take"]?.text } == takes.map(\.stem))
        #expect(list.first?["duration_seconds"]?.double == 2 && list.first?["day"]?.text == "2026-11-21")
    }

    @Test func `a take is restored by stem, number or 'last', by the recorder`() throws {
        let takes = try bin(2)
        let recorder = try recorder()
        #expect(run(["bin", "restore", "1", "last"], at: recorder) == (0, takes.map { "restored \($0.stem)" }, []))
        #expect(recorder.commands == takes.map { .restore(stem: $0.stem, day: $0.day) })
        #expect(
            run(["bin", "restore", "9"], at: recorder)
                == (66, [], ["bin restore: 9: no such take in the bin of \(path)"]))
        #expect(
            run(["bin", "restore", takes[0].stem, "--json"], at: recorder)
                == (0, ["{\"restored\":[\"\(takes[0].stem)\"]}"], []))
        #expect(run(["bin", "restore", "1"], access: folder.access).status == 69)
    }

    @Test func `the bin is emptied after a question`() throws {
        let takes = try bin(2)
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "n"
        #expect(run(["bin", "empty"], at: recorder, console: console).output == ["nothing is deleted"])
        #expect(console.questions == ["Delete these 2 takes for good? [y/N]"] && recorder.commands == [])
        #expect(run(["bin", "empty"], at: recorder).status == 64)
        #expect(
            run(["bin", "empty", "--yes"], at: recorder) == (0, takes.map { "deleted \($0.stem) for good" }, []))
        #expect(recorder.commands == takes.map { .empty(stem: $0.stem) })
        #expect(
            run(["bin", "empty", "2", "--yes"], at: recorder) == (0, ["deleted \(takes[1].stem) for good"], []))
        #expect(recorder.commands.last == .empty(stem: takes[1].stem))
    }

    @Test func `what lies in the bin without its sidecar is shown, and is deleted only by its name`() throws {
        let takes = try bin(1)
        try FileSystem().remove("\(path)/.bin/\(takes[0].day)/\(takes[0].stem).json")
        let sentence = "\(takes[0].stem): \(TakesBin.withoutSidecar(takes[0]))"
        let lines = run(["bin", "list"], access: folder.access).output
        #expect(lines.count == 3 && lines[0].hasPrefix("\(takes[0].stem)  deleted ") && lines[2] == sentence)
        let recorder = try recorder()
        #expect(run(["bin", "empty", "--yes"], at: recorder) == (75, [], ["bin empty: \(sentence)"]))
        #expect(run(["bin", "empty", takes[0].stem], at: recorder).status == 64)
        #expect(recorder.commands == [])
        #expect(
            run(["bin", "empty", takes[0].stem, "--yes"], at: recorder)
                == (0, ["deleted \(takes[0].stem) for good"], []))
        #expect(recorder.commands == [.empty(stem: takes[0].stem)])
    }

    @Test func `of a take that was copied back whole the copy in the bin is deleted only by its name`() throws {
        let take = try bin(1)[0]
        let home = "\(path)/\(take.day)"
        for file in try FileSystem().entries("\(path)/.bin/\(take.day)") where !file.hasSuffix(".binned") {
            let copy = try FileSystem().create("\(home)/\(file)", isNew: true)
            try FileSystem().write(FileSystem().contents("\(path)/.bin/\(take.day)/\(file)"), to: copy, at: 0)
        }
        let sentence = "\(take.stem): \(TakesBin.copiedBack(take, to: home))"
        #expect(run(["bin", "list"], access: folder.access).output.last == sentence)
        let recorder = try recorder()
        #expect(run(["bin", "empty", "--yes"], at: recorder) == (75, [], ["bin empty: \(sentence)"]))
        #expect(run(["bin", "empty", "1", "--yes"], at: recorder) == (0, ["deleted \(take.stem) for good"], []))
        #expect(recorder.commands == [.empty(stem: take.stem)])
    }

    @Test func `an empty bin asks nothing, and nothing is ordered`() throws {
        _ = try folder.record { _, _ in }
        let recorder = try recorder()
        #expect(run(["bin", "empty"], at: recorder) == (0, ["the bin is empty"], []))
        #expect(recorder.commands == [])
    }

    @Test func `a take of which a file was put back by hand is named, and does not count as free`() throws {
        let takes = try bin(2)
        let file = "\(path)/\(takes[0].day)/\(takes[0].stem).wav"
        try FileSystem().rename("\(path)/.bin/\(takes[0].day)/\(takes[0].stem).wav", to: file)
        let sentence = TakesBin.putBack(file, of: takes[0])
        let lines = run(["bin", "list"], access: folder.access).output
        #expect(lines.count == 4 && lines[2].hasPrefix("1 take, ") && lines[3] == "\(takes[0].stem): \(sentence)")
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "n"
        _ = run(["bin", "empty"], at: recorder, console: console)
        #expect(console.questions == ["Delete this take for good? [y/N]"])
        try FileSystem().remove("\(path)/.bin/\(takes[1].day)/\(takes[1].stem).json")
        #expect(run(["bin", "empty", "--yes"], at: recorder) == (75, [], ["bin empty: \(takes[0].stem): \(sentence)"]))
        #expect(recorder.commands == [])
    }

    @Test func `a recorder without a bin is named, and nothing is asked of it`() throws {
        _ = try bin(1)
        let recorder = try recorder(hasBin: false)
        let problem =
            "the recorder is of version \(recordingStatus.version), which has no bin and deletes for good: update it"
        #expect(run(["bin", "restore", "1"], at: recorder) == (75, [], ["bin restore: \(problem)"]))
        #expect(run(["bin", "empty", "--yes"], at: recorder) == (75, [], ["bin empty: \(problem)"]))
        #expect(recorder.commands == [])
    }

    @Test func `delete says that a take is in the bin, and how to get it back`() throws {
        let take = try folder.record { _, _ in }
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "y"
        #expect(
            run(["delete", "1"], at: recorder, console: console).output == [
                "deleted \(take.stem)", "it is in the bin: 'fieldfare bin restore \(take.stem)' brings it back",
            ])
        #expect(console.questions == ["Delete this take? [y/N]"])
        #expect(
            run(["delete", "1", "--yes", "--json"], at: recorder).output
                == ["{\"deleted\":[\"\(take.stem)\"],\"failed\":[],\"in_bin\":true}"])
    }

    @Test func `delete --now asks twice, and deletes for good`() throws {
        let take = try folder.record { _, _ in }
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "y"
        #expect(run(["delete", "--now", "1"], at: recorder, console: console).output == ["deleted \(take.stem)"])
        #expect(
            console.questions == [
                "Delete this take for good? [y/N]", "Nothing brings it back. Delete for good? [y/N]",
            ])
        let version = try TakesFolder(path: path).sidecar(of: take).version(day: take.day)
        #expect(
            recorder.commands == [.discard(stem: take.stem, DiscardTerms(version, in: path, isFinal: true))])
        #expect(run(["delete", "--now", "--yes", "1"], at: recorder).output == ["deleted \(take.stem)"])
    }
}

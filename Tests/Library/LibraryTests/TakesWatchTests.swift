import DiskCalls
import FinishedTakes
import Glibc
import Takes
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct TakesWatchTests {
    private let disk = TakesOnDisk()

    /// The events up to `last`, which the kernel must report last.
    private func events(of watch: TakesWatch, until last: TakesWatch.Event) async -> [TakesWatch.Event] {
        var events: [TakesWatch.Event] = []
        for await event in watch.events {
            events.append(event)
            if event == last { break }
        }
        return events
    }

    @Test func `a sidecar that is renamed into its place is reported, and its drafts are not`() async throws {
        let watch = try TakesWatch()
        let day = "\(disk.takes)/2026-11-21"
        mkdir(day, 0o755)
        try watch.add(day)
        let take = try disk.add(TakesOnDisk.sidecar(1))
        let found = await events(of: watch, until: .sidecar(folder: day, file: "\(take.stem).json"))
        #expect(found == [.sidecar(folder: day, file: "\(take.stem).json")])
        disk.remove(take)
        try disk.write([0x7b], to: "\(day)/copied.json")
        #expect(
            await events(of: watch, until: .sidecar(folder: day, file: "copied.json"))
                == [.sidecar(folder: day, file: "\(take.stem).json"), .sidecar(folder: day, file: "copied.json")])
    }

    @Test func `a new day, and a day that goes, are reported`() async throws {
        let watch = try TakesWatch()
        try watch.add(disk.takes)
        mkdir("\(disk.takes)/2026-11-22", 0o755)
        rmdir("\(disk.takes)/2026-11-22")
        mkdir("\(disk.takes)/2026-11-23", 0o755)
        let found = await events(of: watch, until: .folder(in: disk.takes, name: "2026-11-23"))
        #expect(
            found.first == .folder(in: disk.takes, name: "2026-11-22")
                && found.last == .folder(in: disk.takes, name: "2026-11-23"))
    }

    @Test func `a folder that is removed is reported, and can be watched again`() async throws {
        let watch = try TakesWatch()
        try watch.add(disk.takes)
        rmdir(disk.takes)
        #expect(await events(of: watch, until: .unknown) == [.unknown])
        mkdir(disk.takes, 0o755)
        try watch.add(disk.takes)
        mkdir("\(disk.takes)/2026-11-22", 0o755)
        let last = TakesWatch.Event.folder(in: disk.takes, name: "2026-11-22")
        #expect(await events(of: watch, until: last).last == last)
    }

    @Test func `a folder that is not there, and a file, cannot be watched`() throws {
        let watch = try TakesWatch()
        let missing = "\(disk.path)/missing"
        #expect(throws: WatchError(path: missing, code: ENOENT)) { try watch.add(missing) }
        try disk.write([], to: missing)
        #expect(throws: WatchError(path: missing, code: ENOTDIR)) { try watch.add(missing) }
        #expect("\(WatchError(path: "/a", code: ENOSPC))" == "library: /a: cannot be watched: No space left on device")
    }
}

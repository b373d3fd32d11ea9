import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The rows of the storage's state table.
@Suite final class StorageStateTests {
    private let folder = TestFolder()
    private var path: String { folder.path + "/takes" }
    private let directory: TakesDirectory
    private let now = Instant(nanoseconds: 50_000_000_000)
    private static let least: Int64 = 1000

    init() throws { directory = try TakesDirectory(path: folder.path + "/takes") }

    /// A storage whose first check succeeded.
    private func well() -> StorageState {
        var state = StorageState(path: path)
        _ = state.ask(now: now)
        _ = state.opened(directory, isOwn: false)
        _ = state.ask(now: now)
        _ = state.checked(.free(5000), leastBytes: Self.least)
        return state
    }

    private func checked(_ state: StorageState, _ reading: StorageReading) -> (StorageState, [StorageState.Action]) {
        var state = state
        _ = state.ask(now: now)
        let actions = state.checked(reading, leastBytes: Self.least)
        return (state, actions)
    }

    @Test func `the folder is opened, then checked, and one question is asked at a time`() {
        var state = StorageState(path: path)
        #expect(state.obstacle(now: now)?.message == "storage: \(path): it is still being read")
        #expect(state.fault(now: now) == nil)
        #expect(state.ask(now: now) == [.open(mustBeOwn: false)])
        #expect(state.ask(now: now) == [])
        #expect(state.opened(directory, isOwn: false) == [.answered])
        #expect(state.ask(now: now) == [.check])
        #expect(state.checked(.free(5000), leastBytes: Self.least) == [.answered])
        #expect(state.obstacle(now: now) == nil && state.freeBytes == 5000)
    }

    @Test func `too little room is an obstacle and no failure, until there is more`() {
        let (full, actions) = checked(well(), .free(999))
        #expect(actions == [.answered])
        #expect(full.obstacle(now: now)?.code == .diskFull && full.failure(now: now) == nil)
        let (again, improved) = checked(full, .free(1000))
        #expect(improved == [.improved, .answered])
        #expect(again.obstacle(now: now) == nil)
    }

    @Test func `what cannot be read is a failure, and keeps what was free`() {
        let (failing, _) = checked(well(), .failed("storage: broken"))
        #expect(failing.failure(now: now) == Fault(.storageFailing, "storage: broken"))
        #expect(failing.directory === directory && failing.freeBytes == 5000)
        #expect(checked(failing, .free(5000)).1 == [.improved, .answered])
    }

    @Test func `storage that failed a take is written to before it counts as well`() {
        var state = well()
        state.failedTake("record: broken")
        #expect(state.failure(now: now)?.message == "record: broken")
        #expect(state.ask(now: now) == [.probe])
        #expect(state.checked(.failed("storage: still broken"), leastBytes: Self.least) == [.answered])
        #expect(state.failure(now: now)?.message == "storage: still broken")
        #expect(state.ask(now: now) == [.probe])
        #expect(state.checked(.free(5000), leastBytes: Self.least) == [.improved, .answered])
        // A new take that it accepts shows it too.
        state.failedTake("record: broken")
        #expect(state.tookTake() == [.improved])
        #expect(state.tookTake() == [])
    }

    @Test func `an answer from before a take failed does not make the storage well`() {
        var state = well()
        _ = state.ask(now: now)
        state.failedTake("record: broken")
        _ = state.checked(.free(5000), leastBytes: Self.least)
        #expect(state.failure(now: now)?.message == "record: broken")
    }

    @Test func `a doubt is asked as soon as the question under way is answered`() {
        var state = well()
        _ = state.ask(now: now)
        #expect(state.doubt(now: now) == [])
        _ = state.checked(.free(5000), leastBytes: Self.least)
        #expect(state.ask(now: now) == [.probe])
    }

    @Test func `a folder that moved is left and awaited, on the storage that it was on`() {
        for isOwn in [false, true] {
            var state = StorageState(path: path)
            _ = state.ask(now: now)
            _ = state.opened(directory, isOwn: isOwn)
            let (moved, actions) = checked(state, .moved)
            #expect(actions == [.left, .answered])
            state = moved
            #expect(state.directory == nil && state.freeBytes == nil)
            #expect(state.ask(now: now) == [.open(mustBeOwn: isOwn)])
            #expect(state.failedToOpen("storage: it is not there") == [.answered])
            #expect(state.fault(now: now)?.message == "storage: it is not there")
        }
    }

    @Test func `a worker that does not answer for three seconds is a failure, and its answer ends it`() {
        var state = well()
        _ = state.ask(now: now)
        #expect(state.failure(now: now + .milliseconds(2999)) == nil)
        let later = now + .seconds(3)
        #expect(state.failure(now: later)?.message == "storage: \(path): has not answered for 3 s or longer")
        #expect(state.obstacle(now: later)?.code == .storageFailing)
        _ = state.checked(.free(5000), leastBytes: Self.least)
        #expect(state.failure(now: later) == nil)
        // The same holds before the first answer.
        state = StorageState(path: path)
        _ = state.ask(now: now)
        #expect(state.fault(now: later)?.code == .storageFailing)
    }
}

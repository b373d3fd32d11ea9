import Takes
import Testing

@testable import Recording

@Suite struct SyncScheduleTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    private func schedule(
        promise: Duration = .seconds(1), period: Duration = .milliseconds(120), files: Int = 1
    ) -> SyncSchedule {
        SyncSchedule(promise: promise, period: period, lag: .milliseconds(75), files: files, start: start)
    }

    @Test func `the next sync ends when the oldest frame that no sync covers is as old as the promise`() {
        var schedule = schedule()
        // The newest frame that the sync covers is 90 ms old, so the next sync starts 0.15 s before the promise ends.
        schedule.started(at: start, unsyncedSince: start - .milliseconds(90))
        #expect(schedule.next == start + .milliseconds(1000 - 90 - 150))
        #expect(!schedule.isDue(at: schedule.next - .milliseconds(1)) && schedule.isDue(at: schedule.next))
        schedule.hurry(start + .milliseconds(10))
        #expect(schedule.isDue(at: start + .milliseconds(10)))
    }

    @Test func `the shortest interval leaves room for the period or the lag, the writer and one answer a file`() {
        #expect(schedule().interval == .milliseconds(730))
        #expect(schedule(files: 2).interval == .milliseconds(630))
        #expect(schedule(period: .milliseconds(20)).interval == .milliseconds(775))
        #expect(schedule().kept == .seconds(1))
    }

    @Test func `a promise that cannot be kept is known, and syncs are never closer than a tenth of a second`() {
        var schedule = schedule(promise: .milliseconds(200))
        #expect(schedule.kept == .milliseconds(370))
        schedule.started(at: start, unsyncedSince: start - .milliseconds(400))
        #expect(schedule.next == start + .milliseconds(100))
    }
}

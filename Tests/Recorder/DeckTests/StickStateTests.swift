import Files
import Takes
import Testing
import Transport

@testable import Deck

/// The rows of the stick's state table.
@Suite struct StickStateTests {
    private let now = Instant(nanoseconds: 50_000_000_000)
    private let one = FileIdentity(device: 8, inode: 1)
    private let other = FileIdentity(device: 9, inode: 1)
    private let asker = Asker(1)

    private func inUse() -> StickState {
        var state = StickState()
        _ = state.found(one, isFree: true, now: now)
        state.opened(onStick: true)
        return state
    }

    @Test func `a stick that is mounted is changed to once nothing goes on`() {
        var state = StickState()
        #expect(state.found(nil, isFree: true, now: now) == nil)
        #expect(state.found(one, isFree: false, now: now) == nil)
        #expect(state.state == .ready)
        #expect(state.found(one, isFree: true, now: now) == .change)
        state.opened(onStick: true)
        #expect(state.state == .inUse)
        #expect(state.found(one, isFree: true, now: now) == nil)
    }

    @Test func `a stick that cannot be opened is left alone until another is mounted`() {
        var state = StickState()
        _ = state.found(one, isFree: true, now: now)
        state.opened(onStick: false)
        #expect(!state.mayOpen)
        #expect(state.found(one, isFree: true, now: now) == nil)
        #expect(state.found(other, isFree: true, now: now) == .change)
        #expect(state.mayOpen)
    }

    @Test func `a stick that failed a take is left alone, and used when it was pulled and comes back`() {
        var state = inUse()
        state.fail()
        #expect(state.found(one, isFree: true, now: now) == nil)
        #expect(state.found(nil, isFree: true, now: now) == nil)
        #expect(state.state == .away)
        #expect(state.found(one, isFree: true, now: now) == .change)
    }

    @Test func `a stick that was plugged since the last check is not taken for the one that was released`() {
        var state = inUse()
        state.leave(now: now, Asker(7))
        #expect(state.found(nil, isFree: true, now: now) == .released(Asker(7)))
        state.confirm(asker)
        #expect(!state.mayOpen)
        state.opened(onStick: false)
        #expect(state.found(other, isFree: true, now: now) == .eject(asker))
        #expect(state.state == .ready)

        state = inUse()
        state.leave(now: now, Asker(7))
        _ = state.found(nil, isFree: true, now: now)
        state.confirm(asker)
        #expect(state.found(nil, isFree: true, now: now) == .released(asker))
        #expect(state.state == .released)
    }

    @Test func `a stick that is pulled is away, whatever was opened instead`() {
        var state = inUse()
        _ = state.found(nil, isFree: true, now: now)
        state.opened(onStick: false)
        #expect(state.state == .away)
    }

    @Test func `a stick that is given back is released once it is unmounted, and the next one is used`() {
        var state = inUse()
        state.leave(now: now, asker)
        #expect(!state.mayOpen)
        state.opened(onStick: false)
        #expect(state.found(one, isFree: true, now: now + .seconds(1)) == nil)
        #expect(state.found(nil, isFree: true, now: now + .seconds(2)) == .released(asker))
        #expect(state.state == .released)
        #expect(state.found(nil, isFree: true, now: now + .seconds(99)) == nil)
        #expect(state.state == .released)
        #expect(state.found(one, isFree: true, now: now + .seconds(99)) == .change)
    }

    @Test func `a stick that is not unmounted in time is kept`() {
        var state = inUse()
        state.leave(now: now, asker)
        #expect(state.found(one, isFree: true, now: now + .milliseconds(39_999)) == nil)
        #expect(state.found(one, isFree: true, now: now + .seconds(40)) == .kept(asker))
        #expect(state.mayOpen)
        #expect(state.found(one, isFree: true, now: now + .seconds(42)) == .change)
    }
}

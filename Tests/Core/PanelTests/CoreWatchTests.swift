import Panel
import Takes
import Testing
import Transport

@Suite struct CoreWatchTests {
    private var recording: Indication {
        var indication = Indication()
        indication.isArmed = true
        indication.recording = .init(safeUntil: at(0), lastSync: at(0))
        indication.playback = .playing
        indication.upload = .safeToRemove
        indication.faults = [.noCard]
        indication.answer = .init(.refused, at: at(0))
        return indication
    }

    private func fault(_ code: Fault.Code) -> Indication {
        var indication = Indication()
        indication.faults = [code]
        return indication
    }

    /// The actions until `end` of a watch that wakes only at its deadlines. The core beats at `beats`.
    private func trace(beats: [Double], until end: Double) -> [String] {
        var watch = CoreWatch(start: at(0))
        var lines: [String] = []
        var wakes = beats.filter { $0 > 0 }.map { at($0) }[...]
        var last = at(0)
        while let now = [watch.deadline, wakes.first].compactMap(\.self).min(), now <= at(end) {
            if wakes.first == now { last = wakes.removeFirst() }
            if let action = watch.turn(lastBeat: last, at: now) {
                lines.append("\((now - at(0)).nanoseconds / 1_000_000) \(action)")
            }
        }
        return lines
    }

    @Test func `a core that never beats is asked, and silent after three seconds`() {
        #expect(trace(beats: [], until: 60_000) == ["2500 ask", "3000 silent"])
    }

    @Test func `a core that beats every two seconds is never asked`() {
        #expect(trace(beats: (1...30).map { Double($0) * 2000 }, until: 60_000) == [])
    }

    @Test func `a core that has nothing to do answers when it is asked, and counts as alive`() {
        #expect(trace(beats: [2510, 5100], until: 5100) == ["2500 ask", "5010 ask"])
    }

    @Test func `a silent core that beats again counts at once, and is watched as before`() {
        #expect(
            trace(beats: [9000], until: 60_000)
                == ["2500 ask", "3000 silent", "9000 answered", "11500 ask", "12000 silent"])
    }

    @Test func `after the whole machine stood still the core gets its time to answer`() {
        var watch = CoreWatch(start: at(0))
        let action = watch.turn(lastBeat: at(0), at: at(20_000))
        #expect(action == .ask)
        #expect(!watch.isSilent)
        #expect(watch.deadline == at(20_500))
        let answer = watch.turn(lastBeat: at(20_001), at: at(20_002))
        #expect(answer == nil)
        #expect(watch.isAnswering)
    }

    @Test func `a machine that stands still after the question leaves the core its time to answer, once`() {
        var watch = CoreWatch(start: at(0))
        var actions = [watch.turn(lastBeat: at(0), at: at(2500)), watch.turn(lastBeat: at(0), at: at(4000))]
        #expect(actions == [.ask, .ask])
        #expect(!watch.isSilent && watch.deadline == at(4500))
        var answered = watch
        #expect(answered.turn(lastBeat: at(4001), at: at(4002)) == nil)
        #expect(answered.isAnswering)
        actions = [watch.turn(lastBeat: at(0), at: at(6000))]
        #expect(actions == [.silent])
    }

    @Test func `a core that is asked is not silent yet, one that does not answer is`() {
        var watch = CoreWatch(start: at(0))
        _ = watch.turn(lastBeat: at(0), at: at(2500))
        #expect(!watch.isSilent)
        _ = watch.turn(lastBeat: at(0), at: at(3000))
        #expect(watch.isSilent)
    }

    @Test func `of a silent core only a fault shows: 5 if it was recording, else 4`() {
        #expect(recording.ofSilentCore == fault(.overload))
        var armed = recording
        armed.recording = nil
        #expect(armed.ofSilentCore == fault(.storageFailing))
    }
}

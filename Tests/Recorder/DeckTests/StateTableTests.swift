import Files
import Panel
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

@Suite struct DeckStateTests {
    @Test func `record arms nothing and starts a take, record again drops a marker, stop ends it`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(200))
        #expect(rig.deck.state == .idle)
        #expect(rig.deck.status.armed)
        rig.press(.stop)
        #expect(rig.deck.state == .idle)
        rig.press(.record)
        #expect(rig.deck.state == .recording)
        rig.run(.seconds(1))
        for button in [Button.record, .play, .back, .forward] {
            rig.press(button)
            #expect(rig.deck.state == .recording)
            rig.run(.milliseconds(500))
        }
        #expect(rig.deck.indication.answer?.kind == .refused)
        rig.press(.stop)
        rig.settle()
        #expect(rig.deck.state == .idle)
        #expect(try rig.sidecars().map(\.markers.count) == [1])
    }

    @Test func `back and forward select takes and say when there is none beyond`() throws {
        let rig = try Rig()
        for _ in 0..<3 {
            rig.run(.milliseconds(300))
            rig.press(.record)
            rig.run(.milliseconds(300))
            rig.press(.stop)
            rig.settle()
        }
        var trace: [String] = []
        for button in [Button.forward, .back, .back, .back, .forward] {
            rig.press(button)
            trace.append("\(rig.deck.selection.selected!.number) \(rig.deck.indication.answer!.kind)")
            rig.run(.milliseconds(700))
        }
        #expect(trace == ["3 atTheEnd", "2 selected", "1 selected", "1 atTheEnd", "2 selected"])
    }

    @Test func `a press while the take before is being finished starts the next at its own instant`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        let stop = rig.clock.now()
        rig.deck.handle(.press(.stop, at: stop))
        rig.clock.advance(by: .milliseconds(40))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        rig.run(.seconds(2))
        rig.press(.stop)
        rig.settle()
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.frames) == [8 * 1000, 8 * 2000] as [Int64])
        let first = try rig.samples(sidecars[1].parts[0].file, of: sidecars[1]).first
        #expect(first == Int16(8 * 2040))
    }

    @Test func `record, then stop, while the take before is being finished makes a take of its own`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        rig.clock.advance(by: .milliseconds(40))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        rig.clock.advance(by: .milliseconds(40))
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        rig.run(.seconds(1))
        rig.settle()
        #expect(try rig.sidecars().map(\.frames) == [8 * 1000, 8 * 40] as [Int64])
        #expect(rig.deck.state == .idle)
    }

    @Test func `stop held on ends the take for good and asks for power off once it is on disk`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(500))
        rig.deck.handle(.shutdown(at: rig.clock.now()))
        #expect(rig.powerOffs == 0)
        rig.run(.seconds(1))
        #expect(rig.powerOffs == 1)
        #expect(try rig.sidecars().map(\.endedBy) == [.shutdown])
        #expect(!rig.card.isOpen)
    }

    @Test func `a take that begins, or is played, is announced once, before anything is done for it`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        var announced: [Bool] = []
        rig.onEvent = { [workers = rig.workers] in
            if case .takeAhead = $0 { announced.append(workers.writer.hasOrders) }
        }
        rig.deck.handle(.press(.forward, at: rig.clock.now()))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        #expect(announced == [false])
        #expect(rig.workers.writer.hasOrders)
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.press(.stop)
        rig.settle()
        #expect(announced == [false])
        rig.press(.play)
        #expect(announced == [false, false])
    }

    @Test func `without a card the deck is in fault, and armed by itself when one comes`() throws {
        let rig = try Rig(isCardPresent: false)
        rig.run(.milliseconds(100))
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.status.faults.map(\.code) == [.noCard])
        #expect(!rig.deck.status.armed)
        rig.press(.record)
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.indication.answer?.kind == .refused)
        rig.card.isPresent = true
        rig.run(.milliseconds(2100))
        #expect(rig.deck.state == .idle)
        #expect(rig.deck.status.armed)
        #expect(rig.deck.status.faults == [])
    }

    @Test func `a card that is pulled out and put back while idle is armed again`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.card.unplug()
        rig.run(.milliseconds(500))
        #expect(rig.deck.state == .fault)
        rig.card.isPresent = true
        rig.run(.milliseconds(2100))
        #expect(rig.deck.status.armed)
    }

    @Test func `with standby closed the card is open during a take alone`() throws {
        let rig = try Rig { $0.isListening = false }
        rig.run(.milliseconds(500))
        #expect(!rig.card.isOpen)
        #expect(rig.deck.status.armed)
        rig.press(.record)
        #expect(rig.card.isOpen)
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        #expect(!rig.card.isOpen)
        let sidecar = try #require(try rig.sidecars().first)
        // The card was opened when the press was known, 15 ms after it.
        #expect(sidecar.frames == 8 * 1000)
        #expect(sidecar.startedMonotonicNs == 100_515_000_000)
    }

    @Test func `commands that do not fit the state are refused in one sentence`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(100))
        var refusals: [String] = []
        func perform(_ command: Command) {
            rig.deck.perform(command) {
                if case .failure(let refusal) = $0 { refusals.append("\(refusal.code.rawValue): \(refusal.message)") }
            }
        }
        perform(.mark(note: nil))
        perform(.select(.number(7)))
        perform(.record)
        rig.run(.milliseconds(300))
        perform(.record)
        perform(.discard(stem: "heron07-0001_20261121_061811"))
        perform(.select(.stem("heron07-0001_20261121_061811")))
        perform(.play(nil))
        let isBeingRecorded = "heron07-0001_20261121_061811 is being recorded: stop it first"
        #expect(
            refusals == [
                "busy: mark: nothing is being recorded: record a take first",
                "not-found: select: 7: no such take in \(rig.directory)",
                "busy: record: \(isBeingRecorded)", "busy: discard: \(isBeingRecorded)",
                "busy: select: \(isBeingRecorded)", "busy: play: \(isBeingRecorded)",
            ])
    }

    @Test func `stop is answered once the take is on disk, and names it`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(100))
        var answers: [String] = []
        rig.deck.perform(.record) { answers.append("record \((try? $0.get())?.take ?? "-")") }
        #expect(answers == [])
        rig.run(.milliseconds(300))
        rig.deck.perform(.stop) { answers.append("stop \((try? $0.get())?.take ?? "-")") }
        #expect(answers.count == 1)
        rig.settle()
        #expect(answers == ["record heron07-0001_20261121_061811", "stop heron07-0001_20261121_061811"])
        #expect(try rig.sidecars().count == 1)
    }

    @Test func `a stop that comes while a take is still being begun ends it at its own instant`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        // The storage takes 3 s to make the files.
        storage.whileCreating = {
            rig.clock.advance(by: .milliseconds(500))
            rig.card.deliver()
            rig.deck.handle(.press(.stop, at: rig.clock.now()))
            rig.clock.advance(by: .milliseconds(2500))
            rig.card.deliver()
        }
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        rig.turn()
        #expect(storage.whileCreating == nil)
        rig.run(.seconds(1))
        rig.settle()
        #expect(try rig.sidecars().map(\.frames) == [4000])
    }

    @Test func `all that is pressed while a take is being finished is done in its order`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        for button in [Button.stop, .record, .record, .stop, .record] {
            rig.deck.handle(.press(button, at: rig.clock.now()))
            rig.clock.advance(by: .milliseconds(40))
        }
        rig.run(.seconds(1))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecars = try rig.sidecars()
        let frames: [Int64] = sidecars.map(\.frames)
        let lengths: [Int64] = [8000, 640, 8320]
        #expect(frames == lengths)
        let markers: [[Int64]] = sidecars.map { $0.markers.map(\.atFrame.count) }
        let expected: [[Int64]] = [[], [320], []]
        #expect(markers == expected)
    }

    @Test func `nothing new begins once the deck is to finish`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(500))
        var isDone = false
        rig.deck.finish { isDone = true }
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        #expect(rig.deck.indication.answer?.kind == .refused)
        rig.run(.seconds(1))
        #expect(isDone)
        #expect(rig.deck.state == .idle)
        #expect(try rig.sidecars().map(\.endedBy) == [.shutdown])
    }

    @Test func `with standby closed the card is searched for once, and again when something about cards changes`()
        throws
    {
        let rig = try Rig { $0.isListening = false }
        rig.run(.seconds(60))
        #expect(rig.card.opened.count == 1)
        rig.deck.rescan()
        rig.run(.seconds(60))
        #expect(rig.card.opened.count == 2)
    }

    @Test func `with standby closed a card that delivered nothing stays a fault until it delivers`() throws {
        let rig = try Rig { $0.isListening = false }
        rig.run(.milliseconds(500))
        rig.card.stall()
        rig.press(.record)
        rig.run(.seconds(4))
        rig.press(.stop)
        rig.settle()
        for _ in 0..<200 {
            rig.run(.milliseconds(50))
            guard rig.deck.status.faults.map(\.code) == [.noCard], !rig.deck.isArmed else {
                Issue.record("\(rig.deck.summary)")
                return
            }
        }
        rig.card.plugIn()
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults == [] && rig.deck.isArmed)
        #expect(!rig.card.isOpen)
    }

    @Test func `with standby closed a card that delivers nothing is noticed when it is searched for`() throws {
        let rig = try Rig { $0.isListening = false }
        rig.run(.milliseconds(500))
        rig.card.stall()
        rig.deck.rescan()
        rig.run(.seconds(10))
        #expect(rig.deck.status.faults.map(\.code) == [.noCard] && !rig.deck.isArmed)
        rig.card.plugIn()
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults == [] && rig.deck.isArmed && !rig.card.isOpen)
    }

    @Test func `with standby closed a press right after stop loses nothing of the next take`() throws {
        let rig = try Rig { $0.isListening = false }
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        rig.clock.advance(by: .milliseconds(40))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        rig.run(.milliseconds(1000))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.frames) == [8 * 985, 8 * 1000] as [Int64])
        #expect(!rig.card.isOpen)
    }
}

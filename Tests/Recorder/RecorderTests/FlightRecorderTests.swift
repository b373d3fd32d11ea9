import Deck
import Glibc
import History
import Takes
import TestBench
import Testing
import Transport

@testable import Kit
@testable import Recorder

/// The history of a recorder, on a real disk and its own thread.
@Suite final class FlightRecorderTests {
    private let root = TestFolder()
    private let clock = TestClock()
    private var reports: [String] = []
    /// How often the free bytes were queried.
    private var asked = 0

    private func recorder(bootID: String = "boot") throws -> FlightRecorder {
        try FlightRecorder(
            root.history, sensors: Sensors(root: root.path), version: "1", bootID: bootID, clock: clock,
            freeBytes: { [unowned self] in
                asked += 1
                return 7
            }
        ) { [unowned self] in reports.append($0.message) }
    }

    private var events: [HistoryEvent] { get throws { try root.history.records().records.map(\.event) } }

    @Test func `what happens at the deck is on the disk after the end, in its order`() throws {
        let recorder = try recorder()
        recorder.note(.pressed("record"))
        clock.advance(by: .seconds(2))
        recorder.note(.faults([Fault(.noCard, "capture: no card")]))
        clock.advance(by: .milliseconds(1500))
        recorder.note(.faults([]))
        recorder.note(ClockOrigin.ntp)
        recorder.end(by: .signal)
        #expect(
            try events == [
                .started(.init(version: "1", bootID: "boot", before: .none)), .pressed(.init("record")),
                .faultBegan(.init(code: 1, message: "capture: no card")), .faultEnded(.init(code: 1, seconds: 1.5)),
                .clock(.init(.ntp)), .ended(.init(by: .signal)),
            ])
        let records = try root.history.records().records
        #expect(records.map(\.uptime) == [100, 100, 102, 103.5, 103.5, 103.5])
        #expect(records.last?.at == clock.wallTime())
        #expect(reports.isEmpty)
    }

    @Test func `each fault is noted, also of one kind, and a figure that changes is none`() throws {
        let recorder = try recorder()
        let clipped = Fault(.signal, "signal: clipped on channel 1")
        func fell(_ minutes: Int) -> Fault { Fault(.signal, "signal: fell by 51 dB over \(minutes) min ago") }
        recorder.note(.faults([clipped]))
        clock.advance(by: .seconds(1))
        recorder.note(.faults([fell(1), clipped]))
        clock.advance(by: .seconds(1))
        recorder.note(.faults([fell(1)]))
        clock.advance(by: .seconds(100))
        recorder.note(.faults([fell(2)]))
        recorder.note(.faults([fell(2), clipped]))
        recorder.note(.faults([]))
        recorder.end(by: .signal)
        let (began, ended) = (
            { HistoryEvent.faultBegan(.init(code: 8, message: $0)) },
            { HistoryEvent.faultEnded(.init(code: 8, seconds: $0)) }
        )
        #expect(
            try events.dropFirst().dropLast() == [
                began(clipped.message), began(fell(1).message), ended(2), began(clipped.message), ended(101), ended(0),
            ])
    }

    @Test func `each channel's trouble is noted once, whatever its sentence names beside it`() throws {
        let recorder = try recorder()
        func fell(_ channels: Set<Int>, _ minute: Int) -> Fault {
            let list = channels.sorted().map(String.init).joined(separator: ", ")
            return Fault(
                .signal, "signal: fell by 51 dB at 06:\(minute) on channel \(list)", about: .channels(channels, .fell))
        }
        let shown = [
            [fell([1, 5], 18)], [fell([1, 5, 6], 18)], [fell([1, 6], 18)], [fell([1, 6], 18), fell([2], 19)],
            [fell([1, 6], 18), fell([2, 5], 19)], [fell([2, 5], 19)], [],
        ]
        for faults in shown {
            recorder.note(.faults(faults))
            clock.advance(by: .seconds(1))
        }
        recorder.end(by: .signal)
        let (began, ended) = (
            { (fault: Fault) in HistoryEvent.faultBegan(.init(code: 8, message: fault.message)) },
            { HistoryEvent.faultEnded(.init(code: 8, seconds: $0)) }
        )
        #expect(
            try events.dropFirst().dropLast() == [
                began(fell([1, 5], 18)), began(fell([1, 5, 6], 18)), began(fell([2], 19)), began(fell([2, 5], 19)),
                ended(5), ended(4), ended(3), ended(2),
            ])
    }

    @Test func `the next run says how this one ended`() throws {
        try recorder(bootID: "one").end(by: .person)
        try recorder(bootID: "two").end(by: .signal)
        let starts = try events.compactMap { event in
            if case .started(let start) = event { start.before } else { nil }
        }
        #expect(starts == [.none, .person])
    }

    @Test func `a run without an end is reported by the next one: crash, power cut, watchdog`() throws {
        for (boot, bootstatus, before, sentence) in [
            ("one", "0", RunEnd.crash, "it crashed, or was killed"), ("two", "0", .powerCut, "its power was cut"),
            ("three", "32", .watchdog, "its watchdog reset it"),
        ] {
            root.remove("history")
            var writer = HistoryWriter(root.history)
            let start = HistoryEvent.started(.init(version: "1", bootID: "one", before: .none))
            var records = [HistoryRecord(at: clock.wallTime(), uptime: 1, start)]
            try writer.append(&records)
            root.write(bootstatus, to: "/sys/class/watchdog/watchdog0/bootstatus")
            reports = []
            try recorder(bootID: boot).end(by: .signal)
            #expect(try events[1] == .started(.init(version: "1", bootID: boot, before: before)))
            #expect(reports.count == 1 && reports[0].contains(sentence))
        }
    }

    @Test func `the machine is measured a minute after the start, then every ten minutes`() throws {
        root.write("48312\n", to: "/sys/class/thermal/thermal_zone0/temp")
        root.write("cpu-thermal\n", to: "/sys/class/thermal/thermal_zone0/type")
        let recorder = try recorder()
        for _ in 0..<130 {
            clock.advance(by: .seconds(10))
            #expect(recorder.turn(now: clock.now()) == nil)
        }
        recorder.end(by: .signal)
        var measurement = Measurement()
        measurement.temperatures = ["cpu-thermal": 48.312]
        measurement.freeBytes = 7
        let found = try root.history.records().records.filter { $0.event == .measured(measurement) }
        #expect(found.map(\.uptime) == [160, 760, 1360])
        #expect(asked == 3)
    }

    @Test func `a button that is stuck fills no more than its share, and how much was left out is noted`() throws {
        let recorder = try recorder()
        for _ in 0..<1000 { recorder.note(.pressed("back")) }
        recorder.note(.faults([Fault(.noCard, "capture: no card")]))
        clock.advance(by: .seconds(3600))
        recorder.note(.pressed("stop"))
        _ = recorder.turn(now: clock.now())
        recorder.end(by: .signal)
        let found = try events
        #expect(found.count { $0 == .pressed(.init("back")) } == 200)
        #expect(found.contains(.pressed(.init("stop"))))
        #expect(found.contains(.leftOut(.init(800))))
        #expect(found.contains(.faultBegan(.init(code: 1, message: "capture: no card"))))
    }

    @Test func `what phones did has a share of its own`() throws {
        let recorder = try recorder()
        for _ in 0..<201 { recorder.note(.phone(PhoneEvent(.settings, by: "Anna", keys: ["kit.name"]))) }
        recorder.note(.faults([Fault(.noCard, "capture: no card")]))
        recorder.end(by: .signal)
        #expect(try events.count { $0 == .phone(PhoneEvent(.settings, by: "Anna", keys: ["kit.name"])) } == 200)
        #expect(try events.contains(.faultBegan(.init(code: 1, message: "capture: no card"))))
        #expect(try events.contains(.leftOut(.init(1))))
    }

    @Test func `what was left out before the end is noted there`() throws {
        let recorder = try recorder()
        for _ in 0..<201 { recorder.note(.pressed("back")) }
        recorder.end(by: .signal)
        #expect(try events.suffix(2) == [.leftOut(.init(1)), .ended(.init(by: .signal))])
    }

    /// A recorder whose folder is a file. Its thread has tried to write the start there, and has no other order yet.
    private func recorderWithoutStorage() throws -> FlightRecorder {
        root.remove("history")
        root.write("in the way", to: "/history")
        let recorder = try recorder()
        while reports.isEmpty {
            var file = pollfd(fd: recorder.fileDescriptors[0], events: Int16(POLLIN), revents: 0)
            unsafe poll(&file, 1, 100)
            recorder.ready(now: clock.now())
        }
        return recorder
    }

    @Test func `a storage that takes nothing is reported once`() throws {
        let recorder = try recorderWithoutStorage()
        recorder.note(.pressed("record"))
        recorder.end(by: .signal)
        #expect(reports.count == 1 && reports[0].hasPrefix("history: "))
    }

    @Test func `what happened while the storage took nothing is written when it does`() throws {
        let recorder = try recorderWithoutStorage()
        unlink(root.path + "/history")
        recorder.note(.pressed("record"))
        recorder.end(by: .signal)
        #expect(reports.count == 1)
        #expect(
            try events == [
                .started(.init(version: "1", bootID: "boot", before: .unknown)), .pressed(.init("record")),
                .ended(.init(by: .signal)),
            ])
    }
}

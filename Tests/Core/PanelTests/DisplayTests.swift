import Panel
import SeededRandom
import Takes
import Testing
import Transport

@Suite struct DisplayTests {
    /// The changes of the lamps until `end`, as milliseconds and the names of the lit ones. Only `nextChange` wakes it.
    private func trace(
        _ shows: [(Double, Indication)], lamps: Set<Lamp> = [.record, .play, .upload, .fault], until end: Double
    ) -> [String] {
        var display = Display(lamps: lamps)
        var left = shows[...]
        var lines: [String] = []
        var seen: Set<Lamp> = []
        var now: Instant?
        while true {
            let change = now.flatMap { display.nextChange(after: $0) }
            guard let wake = [change, left.first.map { at($0.0) }].compactMap(\.self).min(), wake <= at(end) else {
                break
            }
            let isShow = left.first.map { at($0.0) } == wake
            if isShow, let show = left.popFirst() { display.show(show.1, at: wake) }
            now = wake
            let lit = display.lit(at: wake)
            if lit != seen || lines.isEmpty {
                let names = Lamp.allCases.filter { lit.contains($0) }.map(\.rawValue).joined(separator: "+")
                lines.append("\((wake - at(0)).nanoseconds / 1_000_000) \(names)")
                seen = lit
            } else {
                #expect(isShow, "woken for nothing")
            }
        }
        return lines
    }

    private let uploadStates: [UploadState] = [
        .idle, .sending, .held, .refused(message: "no"), .safeToRemove, .stickOffered,
    ]

    private func indication(_ change: (inout Indication) -> Void) -> Indication {
        var indication = Indication()
        change(&indication)
        return indication
    }

    @Test func `nothing to show: all dark, and never a wake-up`() {
        #expect(trace([(0, Indication())], until: 1e9) == ["0 "])
    }

    @Test func `armed is one short flash every three seconds on play, and record is dark`() {
        let armed = indication { $0.isArmed = true }
        #expect(
            trace([(0, armed)], until: 9000)
                == ["0 play", "60 ", "3000 play", "3060 ", "6000 play", "6060 ", "9000 play"])
    }

    @Test func `armed costs two wake-ups in three seconds`() {
        var display = Display()
        display.show(indication { $0.isArmed = true }, at: at(0))
        var now = at(0)
        var wakes = 0
        while let next = display.nextChange(after: now), next <= at(60_000) {
            (now, wakes) = (next, wakes + 1)
        }
        #expect(wakes == 40)
    }

    @Test func `recording is solid with a short wink at each sync`() {
        let shows = (0..<4).map { second in
            (
                Double(second * 1000),
                indication {
                    $0.isArmed = true
                    $0.recording = .init(
                        safeUntil: at(Double(second * 1000)), lastSync: second == 0 ? nil : at(Double(second * 1000)))
                }
            )
        }
        #expect(
            trace(shows, until: 3500)
                == ["0 record", "1000 ", "1080 record", "2000 ", "2080 record", "3000 ", "3080 record"])
    }

    @Test func `two seconds that are not on disk blink fast until a sync, without a further show`() {
        let start = indication { $0.recording = .init(safeUntil: at(0)) }
        let synced = indication { $0.recording = .init(safeUntil: at(2400), lastSync: at(2450)) }
        #expect(
            trace([(0, start), (2450, synced)], until: 4500)
                == [
                    "0 record", "2100 ", "2200 record", "2300 ", "2400 record", "2450 ", "2530 record",
                    "4500 ",
                ])
    }

    @Test func `the fast blink keeps its rhythm while syncs lag`() {
        let shows = [0.0, 130, 270].map { time in
            (3000 + time, indication { $0.recording = .init(safeUntil: at(time), lastSync: at(time)) })
        }
        #expect(
            trace(shows, lamps: [.record], until: 3600)
                == ["3000 record", "3100 ", "3200 record", "3300 ", "3400 record", "3500 ", "3600 record"])
    }

    @Test func `playing is solid, paused blinks slowly`() {
        let playing = indication { $0.playback = .playing }
        let paused = indication { $0.playback = .paused }
        #expect(
            trace([(0, playing), (500, paused), (4700, playing), (5000, Indication())], until: 9000)
                == ["0 play", "1500 ", "2500 play", "3500 ", "4500 play", "5000 "])
    }

    @Test func `a pattern begins at its first segment and keeps its rhythm while other things change`() {
        let armed = indication { $0.isArmed = true }
        let armedAndSending = indication {
            $0.isArmed = true
            $0.upload = .sending
        }
        #expect(
            trace([(700, armed), (1700, armedAndSending), (2700, armed)], until: 4000)
                == ["700 play", "760 ", "1700 upload", "2200 ", "3700 play", "3760 "])
    }

    @Test func `uploading pulses, a stick that may be pulled is solid, held and refused are dark`() {
        func upload(_ upload: UploadState) -> Indication {
            indication { $0.upload = upload }
        }
        #expect(
            trace(
                [
                    (0, upload(.sending)), (3000, upload(.safeToRemove)), (4000, upload(.held)),
                    (5000, upload(.refused(message: "no"))),
                ], until: 9000)
                == ["0 upload", "500 ", "2000 upload", "2500 ", "3000 upload", "4000 "])
    }

    @Test func `a stick that is offered gives three quick flashes each five seconds`() {
        let offered = indication { $0.upload = .stickOffered }
        let flashes = ["0 upload", "100 ", "200 upload", "300 ", "400 upload", "500 "]
        #expect(trace([(0, offered)], until: 5300) == flashes + ["5000 upload", "5100 ", "5200 upload", "5300 "])
    }

    @Test func `pairing flickers on upload, whatever is uploaded, and leaves the other lamps alone`() {
        for upload in uploadStates {
            let before = indication {
                $0.playback = .playing
                $0.upload = upload
            }
            var pairing = before
            pairing.isPairing = true
            let after: [String] =
                switch upload {
                case .idle, .held, .refused: []
                case .sending: ["1300 play+upload", "1800 play"]
                case .safeToRemove: ["1300 play+upload"]
                case .stickOffered:
                    [
                        "1300 play+upload", "1400 play", "1500 play+upload", "1600 play", "1700 play+upload",
                        "1800 play",
                    ]
                }
            let flicker = [
                "1000 play+upload", "1050 play", "1100 play+upload", "1150 play", "1200 play+upload", "1250 play",
            ]
            #expect(
                trace([(1000, pairing), (1300, before)], until: 2000)
                    == flicker + after)
        }
    }

    @Test func `on one lamp for all, pairing shows before play, and after recording and faults`() {
        let armed = indication {
            $0.isPairing = true
            $0.isArmed = true
            $0.playback = .paused
            $0.upload = .sending
        }
        #expect(trace([(0, armed)], lamps: [.all], until: 199) == ["0 all", "50 ", "100 all", "150 "])
        var faulty = armed
        faulty.faults = [.noCard]
        #expect(trace([(0, faulty)], lamps: [.all], until: 1800) == ["0 all", "200 ", "1700 all"])
        var recording = faulty
        recording.recording = .init(safeUntil: at(0))
        #expect(trace([(0, recording)], lamps: [.all], until: 1800) == ["0 all"])
    }

    @Test func `the lowest fault shows, from its first flash on`() {
        let two = indication { $0.faults = [.settings, .diskFull] }
        let one = indication { $0.faults = [.settings, .diskFull, .noCard] }
        #expect(
            trace([(0, two), (2300, one)], until: 4500)
                == ["0 fault", "200 ", "500 fault", "700 ", "2200 fault", "2500 ", "4000 fault", "4200 "])
    }

    @Test func `a fault shows beside recording`() {
        let both = indication {
            $0.recording = .init(safeUntil: at(0))
            $0.faults = [.noCard]
        }
        #expect(
            trace([(0, both)], until: 1900) == ["0 record+fault", "200 record", "1700 record+fault", "1900 record"])
    }

    @Test
    func `answers flash on play: two, four at an end, three very quick ones for a refusal, two long ones for the lock`()
    {
        func answer(_ kind: Indication.Answer.Kind) -> Indication {
            indication { $0.answer = .init(kind, at: at(0)) }
        }
        #expect(
            trace([(0, answer(.selected))], until: 9000) == ["0 play", "100 ", "200 play", "300 "])
        #expect(
            trace([(0, answer(.atTheEnd))], until: 9000)
                == ["0 play", "100 ", "200 play", "300 ", "400 play", "500 ", "600 play", "700 "])
        #expect(
            trace([(0, answer(.refused))], until: 9000)
                == ["0 play", "50 ", "100 play", "150 ", "200 play", "250 "])
        for kind in [Indication.Answer.Kind.locked, .unlocked] {
            #expect(trace([(0, answer(kind))], until: 9000) == ["0 play", "600 ", "900 play", "1500 "])
        }
    }

    @Test func `an answer is over by itself, and what was shown before goes on`() {
        let paused = indication { $0.playback = .paused }
        let answered = indication {
            $0.playback = .paused
            $0.answer = .init(.selected, at: at(400))
        }
        #expect(
            trace([(0, paused), (400, answered)], until: 3000)
                == ["0 play", "500 ", "600 play", "700 ", "900 play", "1000 ", "2000 play", "3000 "])
    }

    @Test func `a refused play while recording shows on play and leaves record alone`() {
        let recording = indication {
            $0.recording = .init(safeUntil: at(0))
            $0.answer = .init(.refused, at: at(500))
        }
        #expect(
            trace([(0, recording)], until: 1900)
                == [
                    "0 record", "500 record+play", "550 record", "600 record+play", "650 record", "700 record+play",
                    "750 record",
                ])
    }

    @Test func `on one lamp for all, record shows before fault, fault before play, play before upload`() {
        let everything = indication {
            $0.recording = .init(safeUntil: at(0))
            $0.faults = [.noCard]
            $0.playback = .paused
            $0.upload = .safeToRemove
        }
        var shows: [(Double, Indication)] = [(0, everything)]
        var next = everything
        next.recording = nil
        shows.append((1000, next))
        next.faults = []
        shows.append((2000, next))
        next.playback = .stopped
        shows.append((5000, next))
        next.upload = .idle
        shows.append((6000, next))
        #expect(
            trace(shows, lamps: [.all], until: 9000)
                == ["0 all", "1200 ", "2000 all", "3000 ", "4000 all", "6000 "])
    }

    @Test func `on one lamp for all, a refusal while recording is three winks, unless sound is not on disk`() {
        var recording = indication {
            $0.recording = .init(safeUntil: at(0))
            $0.answer = .init(.refused, at: at(500))
        }
        #expect(
            trace([(0, recording)], lamps: [.all], until: 1900)
                == ["0 all", "500 ", "550 all", "600 ", "650 all", "700 ", "750 all"])
        recording.recording = .init(safeUntil: at(-5000))
        #expect(trace([(500, recording)], lamps: [.all], until: 750) == ["500 all", "600 ", "700 all"])
    }

    @Test func `on one lamp for all, the lock is two long winks while recording, and two long flashes else`() {
        var locked = indication { $0.answer = .init(.locked, at: at(500)) }
        #expect(
            trace([(0, locked)], lamps: [.all], until: 9000) == ["0 ", "500 all", "1100 ", "1400 all", "2000 "])
        locked.recording = .init(safeUntil: at(5000))
        #expect(
            trace([(0, locked)], lamps: [.all], until: 3000)
                == ["0 all", "500 ", "1100 all", "1400 ", "2000 all"])
    }

    @Test func `lamps that a kit has not cost no wake-ups`() {
        var display = Display(lamps: [.all])
        display.show(
            indication {
                $0.recording = .init(safeUntil: at(0))
                $0.faults = [.noCard]
                $0.upload = .sending
            }, at: at(0))
        #expect(display.nextChange(after: at(0)) == at(2100))
    }

    @Test func `record never lights and never blinks while nothing is recorded`() {
        var dice = SeededRandom(seed: 7)
        for _ in 0..<200 {
            var display = Display()
            var now = at(0)
            for _ in 0..<5 {
                display.show(
                    indication {
                        $0.isArmed = Bool.random(using: &dice)
                        $0.isPairing = Bool.random(using: &dice)
                        $0.playback = [.stopped, .playing, .paused].randomElement(using: &dice) ?? .stopped
                        $0.upload = uploadStates.randomElement(using: &dice) ?? .idle
                        $0.faults = Set(Fault.Code.allCases.filter { _ in Int.random(in: 0..<4, using: &dice) == 0 })
                        $0.answer = Indication.Answer.Kind.allCases.randomElement(using: &dice).map {
                            .init($0, at: now)
                        }
                    }, at: now)
                for _ in 0..<20 {
                    #expect(!display.lit(at: now).contains(.record))
                    guard let next = display.nextChange(after: now) else { break }
                    now = next
                }
            }
        }
    }

    @Test func `the changes that are announced are those that a check at each millisecond finds`() {
        var dice = SeededRandom(seed: 9)
        for _ in 0..<full(40, usually: 12) {
            var display = Display(lamps: Bool.random(using: &dice) ? [.all] : [.record, .play, .upload, .fault])
            var shown = indication {
                $0.isArmed = Bool.random(using: &dice)
                $0.isPairing = Int.random(in: 0..<4, using: &dice) == 0
                $0.playback = [.stopped, .playing, .paused].randomElement(using: &dice) ?? .stopped
                $0.upload = uploadStates.randomElement(using: &dice) ?? .idle
                $0.faults = Set(Fault.Code.allCases.filter { _ in Int.random(in: 0..<4, using: &dice) == 0 })
            }
            if Bool.random(using: &dice) {
                let safe = Double(Int.random(in: -3000..<500, using: &dice))
                shown.recording = .init(safeUntil: at(safe), lastSync: at(safe + 20))
            }
            if Bool.random(using: &dice) {
                shown.answer = Indication.Answer.Kind.allCases.randomElement(using: &dice).map {
                    .init($0, at: at(Double(Int.random(in: -500..<500, using: &dice))))
                }
            }
            display.show(shown, at: at(0))
            var found: [Instant] = []
            var lit = display.lit(at: at(0))
            for instant in (1...3500).map({ at(Double($0)) }) where display.lit(at: instant) != lit {
                lit = display.lit(at: instant)
                found.append(instant)
            }
            let announced = sequence(first: at(0)) { display.nextChange(after: $0) }.lazy.prefix { $0 <= at(3500) }
            let changes = Array(announced.dropFirst())
            #expect(changes == found)
        }
    }
}

import Glibc
import Ring
import SeededRandom
import Takes
import Testing

struct FrameClockTests {
    /// What a clock made of a run.
    private struct Outcome {
        var gaps: [(frames: Int64, at: Double)] = []
        var clock: FrameClock
        var lostFrames = 0.0

        var frames: Int64 { gaps.reduce(0) { $0 + $1.frames } }
    }

    private func listen(to card: PretendCard, seconds: Double, knowing ppm: Double? = nil) -> Outcome {
        var card = card
        var outcome = Outcome(clock: FrameClock(rateHz: card.rateHz, driftPPM: ppm))
        card.run(seconds: seconds) { stamp in
            let frames = outcome.clock.hear(stamp)
            if frames > 0 { outcome.gaps.append((frames, Double(stamp.rawNanoseconds) / 1e9)) }
        }
        outcome.lostFrames = card.lost
        return outcome
    }

    // MARK: No false gap

    @Test(arguments: PretendCard.Jitter.allCases)
    func `an honest card has no gap, however late its stamps`(jitter: PretendCard.Jitter) {
        for (seed, ppm) in [-200.0, -40, 0, 90, 200].enumerated() {
            for (rateHz, periodSeconds) in [(48000, 0.12), (8000, 0.25), (192_000, 0.01), (44100, 0.05)] {
                var card = PretendCard()
                card.rateHz = rateHz
                card.periodSeconds = periodSeconds
                card.ppm = ppm
                card.jitter = jitter
                card.generator = SeededRandom(seed: UInt64(seed + 1))
                card.wander = { 5 * sin($0 / 300) }
                let seconds = 5000 * periodSeconds
                let outcome = listen(to: card, seconds: seconds)
                #expect(
                    outcome.gaps.isEmpty, "\(jitter), \(ppm) ppm, \(rateHz) Hz, \(periodSeconds) s: \(outcome.gaps)")
            }
        }
    }

    @Test func `wake-ups that come seconds late are no gap, whether they tell the time or not`() {
        var card = PretendCard()
        for index in 0..<40 {
            card.stalls.append((Double(20 + 10 * index), [2.0, 5, 0.7][index % 3], index % 2 == 0))
        }
        #expect(listen(to: card, seconds: 600).gaps.isEmpty)
    }

    @Test(arguments: [-3000.0, -1000, -500, -300, -250, 250, 1000, 3000], [PretendCard.Jitter.small, .tick])
    func `a card that is steadily off is told and not filled`(ppm: Double, jitter: PretendCard.Jitter) throws {
        var card = PretendCard()
        card.ppm = ppm
        card.jitter = jitter
        let outcome = listen(to: card, seconds: 120)
        #expect(outcome.gaps.isEmpty)
        #expect(outcome.clock.isOff)
        let found = try #require(outcome.clock.driftPPM)
        #expect(abs(found - ppm) < 5)
    }

    @Test func `a change of drift is no gap`() {
        for ppm in [-3000.0, -1000, -500, -400, -300, -200, -100, -20, 100, 200, 3000] {
            for periodSeconds in [0.01, 0.06, 0.12] {
                var card = PretendCard()
                card.periodSeconds = periodSeconds
                card.wander = { $0 < 60 ? 0 : ppm }
                #expect(listen(to: card, seconds: 90).gaps.isEmpty, "\(ppm) ppm, \(periodSeconds) s")
            }
        }
    }

    @Test func `more frames than time are no gap, and make good for what is lost later`() {
        var card = PretendCard()
        card.losses = [(60, -20), (64, 30)]
        let outcome = listen(to: card, seconds: 180)
        #expect(outcome.gaps.map(\.at).allSatisfy { $0 > 64 && $0 < 65.5 })
        #expect(abs(outcome.frames - 1440) < 10)
        // What was told and came after all is not told again.
        card.losses = [(60, 30), (120, -30), (180, 30), (240, 30)]
        let paid = listen(to: card, seconds: 300)
        #expect(abs(Double(paid.frames) - paid.lostFrames) < 10, "\(paid.gaps)")
    }

    /// Gaps told of a card that loses so many milliseconds up to a second, and whose stamps are so late, in milliseconds.
    private func gaps(
        seconds: Double, periodSeconds: Double = 0.12, lost: (Double) -> Double = { _ in 0 },
        late: (_ second: Double, _ number: Int) -> Double
    ) -> [Int64] {
        var clock = FrameClock(rateHz: 48000)
        return (0..<Int(seconds / periodSeconds)).compactMap { number in
            let second = Double(number) * periodSeconds
            let position = Int64((second * 48000 - lost(second) * 48).rounded())
            let instant = Instant(nanoseconds: Int64((second * 1000 + late(second, number)) * 1e6))
            let frames = clock.hear(Stamp(position: position, instant: instant))
            return frames > 0 ? frames : nil
        }
    }

    @Test func `stamps that were once late for long may be late for longer`() {
        #expect(
            gaps(seconds: 160) { second, _ in (60...60.85).contains(second) || (100...101.1).contains(second) ? 1 : 0 }
                .isEmpty)
    }

    @Test func `stamps of which three in ten are late may all be late for a second`() {
        #expect(
            gaps(seconds: 160) { second, number in number % 10 < 3 || (100...101.2).contains(second) ? 1 : 0 }.isEmpty)
    }

    @Test func `a delay that is made up for slowly is no gap`() {
        #expect(
            gaps(seconds: 160, periodSeconds: 0.01) { second, _ in second < 100 ? 0 : max(0, 50 - 25 * (second - 100)) }
                .isEmpty)
    }

    @Test func `a delay that builds up and ends is no gap, and no loss is held against it`() throws {
        let told = gaps(
            seconds: 200, lost: { ($0 < 60 ? 0 : 30) + ($0 < 150 ? 0 : 10) },
            late: { second, _ in (100..<105).contains(second) ? second - 100 : 0 })
        try #require(told.count == 2)
        #expect(zip(told, [1440, 480]).allSatisfy { abs($0 - $1) < 10 }, "\(told)")
    }

    // MARK: Losses

    @Test(arguments: [8000, 44100, 48000, 96000, 192_000], [0.01, 0.06, 0.12])
    func `a millisecond that is lost is found within a second and a half`(rateHz: Int, periodSeconds: Double) {
        for ppm in [-200.0, 0, 200] {
            var card = PretendCard()
            card.rateHz = rateHz
            card.periodSeconds = periodSeconds
            card.ppm = ppm
            card.losses = [(31.07, 1), (95.02, 1), (121.3, 5), (150.81, 100)]
            let outcome = listen(to: card, seconds: 180)
            #expect(outcome.gaps.count == 4, "\(ppm) ppm: \(outcome.gaps)")
            for (gap, loss) in zip(outcome.gaps, card.losses) {
                let due = loss.milliseconds / 1000 * Double(rateHz)
                #expect(abs(Double(gap.frames) - due) <= max(2, 0.0002 * Double(rateHz)), "\(loss): \(gap)")
                #expect(gap.at > loss.at && gap.at < loss.at + 1.5, "\(loss): \(gap)")
            }
        }
    }

    @Test(arguments: [1.0, 3, 10], [PretendCard.Jitter.none, .small, .fair])
    func `milliseconds that are lost again and again add up`(everySeconds: Double, jitter: PretendCard.Jitter) {
        var card = PretendCard()
        card.ppm = 50
        card.jitter = jitter
        var second = 12.3
        while second < 296 {
            card.losses.append((second, 1))
            second += everySeconds * (0.97 + 0.06 * card.generator.share())
        }
        let outcome = listen(to: card, seconds: 300)
        #expect(Double(outcome.gaps.count) >= 0.95 * Double(card.losses.count))
        #expect(abs(Double(outcome.frames) - outcome.lostFrames) < 0.03 * outcome.lostFrames)
    }

    @Test func `where stamps are a millisecond late at times, a lost one is found within seconds`() {
        var card = PretendCard()
        card.jitter = .tick
        card.losses = (1...20).map { (Double(30 * $0), 1) }
        let outcome = listen(to: card, seconds: 630)
        #expect(outcome.gaps.count == 20)
        for (gap, loss) in zip(outcome.gaps, card.losses) { #expect(gap.at < loss.at + 5, "\(loss): \(gap)") }
        #expect(abs(Double(outcome.frames) - outcome.lostFrames) < 20)
    }

    @Test func `a card with ten milliseconds lost is told from one whose stamps are that late`() {
        var card = PretendCard()
        card.jitter = .spikes
        card.losses = (1...20).map { (Double(30 * $0), 10) }
        let outcome = listen(to: card, seconds: 630)
        #expect(outcome.gaps.count == 20)
        #expect(abs(Double(outcome.frames) - outcome.lostFrames) < 40)
    }

    @Test(arguments: [PretendCard.Jitter.none, .small, .fair, .tick, .wide])
    func `where frames were lost is told, however long it took to find out`(jitter: PretendCard.Jitter) {
        var card = PretendCard()
        card.jitter = jitter
        card.losses = (1...10).map { (Double(30 * $0) + 0.05, 20) }
        var clock = FrameClock(rateHz: card.rateHz)
        var told: [Int64] = []
        var firstBehind: [Int64] = []
        var losses = card.losses
        card.run(seconds: 330) { stamp in
            if let loss = losses.first, Double(stamp.rawNanoseconds) / 1e9 > loss.at {
                firstBehind.append(stamp.position)
                losses.removeFirst()
            }
            if clock.hear(stamp) > 0 { told.append(clock.lossPosition) }
        }
        #expect(told == firstBehind)
    }

    // MARK: Drift

    @Test(arguments: [-200.0, -37, 0, 12.5, 200])
    func `drift is known after ten seconds and well after a minute`(ppm: Double) throws {
        var card = PretendCard()
        card.ppm = ppm
        #expect(listen(to: card, seconds: 8).clock.driftPPM == nil)
        let soon = try #require(listen(to: card, seconds: 20).clock.driftPPM)
        #expect(abs(soon - ppm) < 15)
        let later = try #require(listen(to: card, seconds: 90).clock.driftPPM)
        #expect(abs(later - ppm) < 1.5)
        #expect(!listen(to: card, seconds: 90).clock.isOff)
    }

    @Test func `drift outlives the line, and a new line is not compared with the last`() throws {
        var card = PretendCard()
        card.ppm = 80
        var clock = FrameClock(rateHz: 48000)
        card.run(seconds: 60) { _ = clock.hear($0) }
        let known = try #require(clock.driftPPM)
        for kind in [Stamp.Kind.started, .xrun, .stall] {
            let loss = Stamp(position: 9, instant: Instant(nanoseconds: 77_000_000_000), kind: kind, lost: -1)
            let told = clock.hear(loss)
            #expect(told == 0)
            #expect(clock.driftPPM.map { abs($0 - known) < 2 } == true)
            var gaps: [Int64] = []
            card.run(seconds: 5) { gaps.append(clock.hear($0)) }
            #expect(gaps.allSatisfy { $0 == 0 })
        }
        #expect(FrameClock(rateHz: 48000, driftPPM: 80).driftPPM == 80)
        #expect(FrameClock(rateHz: 48000).driftPPM == nil)
    }

    @Test func `time is that of the clock that nobody slews`() {
        var clock = FrameClock(rateHz: 48000)
        var gaps: [Int64] = []
        for number in 0..<600 {
            // The other clock is slewed by half a millisecond a second, and steps.
            let raw = Int64(number) * 120_000_000
            let slewed = Instant(nanoseconds: raw + raw / 2000 + (number > 300 ? 1_000_000_000 : 0))
            gaps.append(clock.hear(Stamp(position: Int64(number) * 5760, instant: slewed, rawNanoseconds: raw)))
        }
        #expect(gaps.allSatisfy { $0 == 0 })
        #expect(clock.driftPPM.map { abs($0) < 1 } == true)
    }
}

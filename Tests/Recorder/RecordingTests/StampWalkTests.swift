import Ring
import Takes
import Testing

@testable import Recording

/// Traces at 8000 Hz: 800 frames in 100 ms.
struct StampWalkTests {
    private typealias Loss = StampWalk.Loss

    /// A walk over a trace that begins with a frame, as a `CaptureStream` with a fast writer makes it.
    private struct Run {
        var walk: StampWalk
        var losses: [Loss] = []
        var clock: [ClockMap.Finding]
        private let stamps: [Stamp]
        private let takeRateHz: Int
        private var next: RingPosition

        init(
            _ stamps: [Stamp], from first: RingPosition = 0, started: Instant = milliseconds(0),
            origin: TakeFrame = .first, takeRateHz: Int = 8000
        ) {
            self.stamps = stamps
            self.takeRateHz = takeRateHz
            next = first
            walk = StampWalk(
                format: StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16), takeRateHz: takeRateHz)
            clock = walk.begin(
                at: first, origin: origin, started: started, takeRateHz: takeRateHz, newest: Int64(stamps.count) - 1,
                Self.lookUp(stamps))
        }

        private static func lookUp(_ stamps: [Stamp]) -> StampWalk.Stamps {
            { number in stamps.indices.contains(Int(number)) ? stamps[Int(number)] : nil }
        }

        var restart: RingPosition? { walk.restart(Self.lookUp(stamps)) }

        mutating func read(upTo limit: RingPosition = 80000, end: StampWalk.End? = nil) {
            while let finding = walk.read(upTo: limit, next: next, end: end, Self.lookUp(stamps)) {
                clock += finding.clock
                guard let loss = finding.loss else { continue }
                losses.append(loss)
                next = max(next, loss.position)
            }
            next = max(next, end?.position ?? limit)
        }

        mutating func beginNextTake(started: Instant) {
            clock += walk.beginNextTake(
                at: next, started: started, takeRateHz: takeRateHz, Self.lookUp(stamps))
        }
    }

    private static func milliseconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }

    private static func started(_ position: RingPosition = 0, at count: Int64 = 0) -> Stamp {
        Stamp(position: position, instant: milliseconds(count), kind: .started)
    }

    private static func running(_ position: RingPosition, at count: Int64) -> Stamp {
        Stamp(position: position, instant: milliseconds(count))
    }

    /// 150 ms of sound are lost after frame 1600, by the clock, and 400 frames after frame 3200, by the ring's count.
    private static let losing = [
        started(), running(800, at: 100), running(1600, at: 200),
        Stamp(position: 1600, instant: milliseconds(350), kind: .xrun, lost: -1),
        running(2400, at: 450), running(3200, at: 550),
        Stamp(position: 3200, instant: milliseconds(600), kind: .stall, lost: 400),
        running(4000, at: 700),
    ]

    @Test func `a card that goes on loses nothing`() {
        var run = Run((0...100).map { Self.running(RingPosition(800 * $0), at: 100 * $0) })
        run.read()
        #expect(run.losses == [])
        #expect(run.walk.timeline.frame(of: 80000) == TakeFrame(80000))
        #expect(run.restart == nil)
    }

    @Test func `losses become silence where they were, by the clock or by their count`() {
        var run = Run(Self.losing)
        run.read()
        #expect(
            run.losses == [
                Loss(position: 1600, frames: 1200, silence: TakeFrame(1600)..<TakeFrame(2800), cause: .xrun),
                Loss(position: 3200, frames: 400, silence: TakeFrame(4400)..<TakeFrame(4800), cause: .stall),
            ])
        #expect(run.walk.timeline.frame(of: 4000) == TakeFrame(5600))
        #expect(run.walk.timeline.frame(behindLossesAt: 1600) == TakeFrame(2800))
    }

    @Test func `a take at another rate than the card's counts the silence at its own`() {
        var run = Run(Self.losing, origin: TakeFrame(1000), takeRateHz: 16000)
        run.read()
        #expect(run.losses.map(\.frames) == [1200, 400])
        #expect(
            run.losses.map(\.silence) == [TakeFrame(4200)..<TakeFrame(6600), TakeFrame(9800)..<TakeFrame(10600)])
    }

    @Test func `losses at one position follow one another`() {
        var run = Run([
            Self.started(), Self.running(800, at: 100),
            Stamp(position: 800, instant: Self.milliseconds(150), kind: .stall, lost: 400),
            Stamp(position: 800, instant: Self.milliseconds(250), kind: .xrun, lost: -1),
        ])
        run.read()
        #expect(
            run.losses == [
                Loss(position: 800, frames: 400, silence: TakeFrame(800)..<TakeFrame(1200), cause: .stall),
                Loss(position: 800, frames: 800, silence: TakeFrame(1200)..<TakeFrame(2000), cause: .xrun),
            ])
    }

    @Test func `stamps of later frames stay unread`() {
        var run = Run(Self.losing)
        run.read(upTo: 1599)
        #expect(run.losses == [])
        run.read(upTo: 3199)
        #expect(run.losses.map(\.position) == [1600])
        run.read(upTo: 3200)
        #expect(run.losses.map(\.position) == [1600, 3200])
    }

    @Test func `a loss before the first frame is not the take's`() {
        var run = Run(Self.losing, from: 2000, started: Self.milliseconds(400))
        run.read()
        #expect(run.losses.map(\.silence) == [TakeFrame(1200)..<TakeFrame(1600)])
    }

    @Test(arguments: [(200, 1200), (250, 800), (340, 80), (350, 0)] as [(Int64, Int64)])
    func `a take that begins within a loss has the part after its start`(started: Int64, frames: Int64) {
        var run = Run(Self.losing, from: 1600, started: Self.milliseconds(started))
        run.read(upTo: 3199)
        #expect(run.losses.map(\.frames) == (frames > 0 ? [frames] : []))
    }

    @Test(arguments: [(200, 0), (250, 400), (350, 1200), (400, 1200)] as [(Int64, Int64)])
    func `a take that ends within a loss has the part before its end, and what follows has the rest`(
        end: Int64, frames: Int64
    ) {
        var run = Run(Self.losing)
        let end = StampWalk.End(position: 1600, instant: Self.milliseconds(end))
        run.read(upTo: 1600, end: end)
        #expect(run.losses.map(\.frames) == (frames > 0 ? [frames] : []))
        var same = run
        let rest = Loss(
            position: 1600, frames: 1200 - frames, silence: TakeFrame(1600 + frames)..<TakeFrame(2800), cause: .xrun)
        #expect(same.walk.goOn() == (frames < 1200 ? rest : nil))
        #expect(same.walk.goOn() == nil)
        same.read()
        #expect(same.losses.last?.silence == TakeFrame(4400)..<TakeFrame(4800))

        run.beginNextTake(started: end.instant)
        #expect(run.walk.goOn()?.silence == (frames < 1200 ? TakeFrame.first..<TakeFrame(1200 - frames) : nil))
        run.read()
        #expect(run.losses.last?.silence == TakeFrame(2800 - frames)..<TakeFrame(3200 - frames))
    }

    @Test func `the walk ends where the card is started again, and begins there`() {
        let stamps =
            Self.losing + [Self.started(4000, at: 60000), Self.running(4800, at: 60100)]
            + [Stamp(position: 4800, instant: Self.milliseconds(60200), kind: .stall, lost: 80)]
        var run = Run(stamps)
        #expect(run.restart == 4000)
        run.read()
        run.read()
        #expect(run.losses.map(\.position) == [1600, 3200])
        #expect(run.restart == 4000)

        var other = Run(stamps, from: 4000, started: Self.milliseconds(60000))
        #expect(other.restart == nil)
        other.read()
        #expect(
            other.losses == [
                Loss(position: 4800, frames: 80, silence: TakeFrame(800)..<TakeFrame(880), cause: .stall)
            ])
    }

    @Test func `without stamps nothing is found, and without the oldest ones the walk begins at the next`() {
        var run = Run([])
        run.read()
        #expect(run.losses == [] && run.restart == nil)
        var late = Run(Array(Self.losing.suffix(3)), from: 100)
        late.read()
        #expect(late.losses.map(\.frames) == [400])
    }

    // MARK: The card's clock

    /// The stamps of a card that is 100 millionths too fast, each second.
    private static func fast(_ seconds: ClosedRange<Int64>) -> [Stamp] {
        seconds.map { Stamp(position: RingPosition(80008 * $0 / 10), instant: milliseconds(1000 * $0)) }
    }

    /// The drift that a take of three seconds shows.
    private func drift(_ stamps: [Stamp], second: Int64) -> Double? {
        var run = Run(stamps, from: RingPosition(80008 * second / 10), started: Self.milliseconds(1000 * second))
        run.read(upTo: 8_000_000)
        run.clock += run.walk.finish()
        return run.walk.driftPPM
    }

    @Test func `stamps of the minute before a take show the drift of a short one`() throws {
        #expect(drift(Self.fast(100...103), second: 100) == nil)
        let drift = try #require(self.drift(Self.fast(0...103), second: 100))
        #expect(abs(drift - 100) < 15)
    }

    @Test func `stamps from before a start or a loss show nothing of the line after it`() {
        let start = [Self.started(RingPosition(80008 * 97 / 10), at: 97000)]
        #expect(drift(Self.fast(0...96) + start + Self.fast(98...103), second: 100) == nil)
        let loss = [
            Stamp(
                position: RingPosition(80008 * 97 / 10), instant: Self.milliseconds(97000), kind: .xrun, lost: -1)
        ]
        #expect(drift(Self.fast(0...96) + loss + Self.fast(98...103), second: 100) == nil)
    }

    @Test func `stamps before a take are no points of its clock map`() {
        var run = Run(Self.fast(0...110), from: RingPosition(80008 * 10), started: Self.milliseconds(100_000))
        run.read(upTo: 8_000_000)
        run.clock += run.walk.finish()
        let frames = run.clock.compactMap { if case .point(let point) = $0 { point.frame } else { nil } }
        #expect(!frames.isEmpty && frames.allSatisfy { (.first...TakeFrame(80008)).contains($0) })
    }

    @Test func `the next take has a clock map of its own, with the drift of the take before`() throws {
        var run = Run(Self.fast(0...63))
        run.read(upTo: RingPosition(80008 * 6))
        run.clock = []
        run.beginNextTake(started: Self.milliseconds(60000))
        run.read(upTo: 8_000_000)
        run.clock += run.walk.finish()
        let frames = run.clock.compactMap { if case .point(let point) = $0 { point.frame.count } else { nil } }
        #expect(!frames.isEmpty && frames.allSatisfy { (0...24003).contains($0) })
        #expect(abs(try #require(run.walk.driftPPM) - 100) < 15)
    }
}

import Ring
import SeededRandom
import Takes
import Testing

@testable import Recording

/// The results of a clock map after a run.
struct MapOutcome {
    var points: [ClockMap.Point] = []
    var losses: [Sidecar.SuspectedLoss] = []
    var driftPPM: Double?
    var lostFrames = 0.0

    /// - Parameter start: when the take begins, or nil to begin with the card. Earlier stamps lie before the take's
    ///   first frame.
    init(_ card: PretendCard, from start: Double? = nil, seconds: Double) {
        var card = card
        var map = ClockMap(rateHz: card.rateHz)
        let first = Int64((start ?? 0) * Double(card.rateHz))
        card.run(seconds: seconds) { stamp in
            if stamp.kind == .running { take(map.add(stamp, at: TakeFrame(stamp.position.count - first))) }
        }
        take(map.finish())
        driftPPM = map.driftPPM
        lostFrames = card.lost
    }

    private mutating func take(_ findings: [ClockMap.Finding]) {
        for finding in findings {
            switch finding {
            case .point(let point): points.append(point)
            case .loss(let loss): losses.append(loss)
            }
        }
    }

    /// The frame at a second of the raw clock, on the line through the points around it.
    func frame(at second: Double) -> Double {
        let raw = second * 1e9
        let next = max(1, points.firstIndex { Double($0.rawNanoseconds) >= raw } ?? points.count - 1)
        let (a, b) = (points[next - 1], points[next])
        let slope = Double(b.frame - a.frame) / Double(b.rawNanoseconds - a.rawNanoseconds)
        return Double(a.frame.count) + (raw - Double(a.rawNanoseconds)) * slope
    }
}

struct ClockMapTests {
    @Test(arguments: PretendCard.Jitter.allCases)
    func `a point lies at least every 60 s, and is as true as its error says`(jitter: PretendCard.Jitter) throws {
        for (seed, ppm) in [-200.0, 0, 40, 200].prefix(full(4, usually: 2)).enumerated() {
            var card = PretendCard()
            card.ppm = ppm
            card.jitter = jitter
            card.generator = SeededRandom(seed: UInt64(seed + 1))
            let outcome = MapOutcome(card, seconds: 400)
            let seconds = outcome.points.map { Double($0.rawNanoseconds) / 1e9 }
            #expect(seconds.first! < 30 && seconds.last! > 365)
            #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 - $0 > 0 && $1 - $0 <= 60 })
            for point in outcome.points {
                let truth = Double(point.frame.count) / (48000 * (1 + ppm * 1e-6)) * 1e6
                let error = Double(point.rawNanoseconds) / 1000 - truth
                #expect(error > -50 && error <= Double(point.errorMicroseconds) + 21, "\(jitter), \(ppm) ppm")
            }
        }
    }

    @Test func `a take of a few seconds has a first and a last point`() throws {
        let outcome = MapOutcome(PretendCard(), seconds: 5)
        try #require(outcome.points.count == 2)
        #expect(outcome.points[0].frame < TakeFrame(48000 * 3) && outcome.points[1].frame > TakeFrame(48000 * 2))
        #expect(MapOutcome(PretendCard(), seconds: 0.5).points.count == 1)
        #expect(MapOutcome(PretendCard(), seconds: 5).driftPPM == nil)
    }

    @Test(arguments: [-200.0, -37, 0, 12.5, 200], PretendCard.Jitter.allCases)
    func `the drift is the crystal's`(ppm: Double, jitter: PretendCard.Jitter) throws {
        var card = PretendCard()
        card.ppm = ppm
        card.jitter = jitter
        let drift = try #require(MapOutcome(card, seconds: 120).driftPPM)
        #expect(abs(drift - ppm) < (jitter == .wide ? 4 : 1.5))
        let soon = try #require(MapOutcome(card, seconds: 30).driftPPM)
        #expect(abs(soon - ppm) < (jitter == .wide ? 40 : 15))
    }

    /// A card that delivers in bursts of 80 ms.
    @Test(arguments: 1...full(8, usually: 2)) func `a drift that stamps are too late to show is not reported`(seed: Int)
    {
        var card = PretendCard()
        card.generator = SeededRandom(seed: UInt64(seed))
        card.late = [(0, 3600, 0...80)]
        #expect(MapOutcome(card, seconds: 40).driftPPM.map { abs($0) < 75 } ?? true)
        #expect(MapOutcome(card, seconds: 1200).driftPPM.map { abs($0) < 20 } == true)
    }

    @Test func `the drift of a card that loses a quarter of a thousandth is its crystal's`() throws {
        for seed in 1...full(8, usually: 2) {
            for jitter in [PretendCard.Jitter.none, .small, .fair] {
                var card = PretendCard()
                card.jitter = jitter
                card.generator = SeededRandom(seed: UInt64(seed))
                card.losses = (0..<45).map { (2 + 4 * Double($0) + card.generator.share(), 1) }
                let drift = try #require(MapOutcome(card, seconds: 180).driftPPM)
                #expect(abs(drift) < 20, "\(jitter): \(drift)")
                let minute = MapOutcome(card, seconds: 62)
                let early = try #require(minute.driftPPM)
                #expect(abs(early) < (jitter == .fair ? 30 : 20), "\(jitter), \(seed): \(early), \(minute.losses)")
            }
        }
    }

    @Test func `two takes of one sound lie over each other to a millisecond`() {
        for seed in 1...full(5, usually: 2) {
            var cards = [PretendCard(), PretendCard()]
            cards[0].ppm = -80
            cards[0].jitter = .tick
            cards[1].ppm = 150
            cards[1].jitter = .spells
            cards[1].losses = (0..<10).map { (Double(30 * $0 + 7), 1) }
            for index in cards.indices { cards[index].generator = SeededRandom(seed: UInt64(10 * seed + index)) }
            let maps = cards.map { MapOutcome($0, seconds: 300) }
            for second in stride(from: 20.0, to: 290, by: 3) {
                let truth = zip(cards, maps).map { card, map in
                    let lost = card.losses.filter { $0.at <= second }.reduce(0) { $0 + $1.milliseconds }
                    let frame = (second * (1 + card.ppm * 1e-6) - lost / 1000) * Double(card.rateHz)
                    return (map.frame(at: second) - frame) / Double(card.rateHz)
                }
                #expect(abs(truth[0] - truth[1]) < 0.001)
            }
        }
    }
}

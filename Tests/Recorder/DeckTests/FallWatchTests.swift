import Glibc
import SeededRandom
import Takes
import Testing

@testable import Deck

@Suite struct FallWatchTests {
    /// A fall, and the number of half-second levels after which it was found.
    private struct Found: Equatable {
        var after: Int
        var decibels: Int
        var at: Int
    }

    /// The falls of a channel, each when it is first found.
    private func falls(_ levels: [Double?]) -> [Found] {
        var watch = FallWatch()
        var found: [Found] = []
        for (index, level) in levels.enumerated() {
            let before = watch.fall
            watch.add(moment(level, index))
            guard before == nil, let fall = watch.fall else { continue }
            let at = Int((fall.at - start).inSeconds * 2)
            found.append(Found(after: index, decibels: Int(fall.decibels.rounded()), at: at))
        }
        return found
    }

    private let start = Instant(nanoseconds: 0)

    /// Nil stands for no signal.
    private func moment(_ level: Double?, _ index: Int) -> FallWatch.Moment {
        FallWatch.Moment(dBFS: level ?? -93, hasSignal: level != nil, at: start + .milliseconds(500 * index))
    }

    private func steady(_ level: Double, seconds: Double) -> [Double] {
        Array(repeating: level, count: Int(seconds * 2))
    }

    /// The level of a moment if a part of it has one level and the rest another.
    private func mixed(_ part: Double, _ level: Double, _ rest: Double) -> Double {
        10 * log10(part * pow(10, level / 10) + (1 - part) * pow(10, rest / 10))
    }

    /// A fade from one level to another at a rate in dB per second, as a meter measures it.
    private func fade(from: Double, to: Double, perSecond: Double) -> [Double] {
        var levels: [Double] = []
        var level = from
        while level > to {
            let parts = (0..<50).map { max(to, level - perSecond * 0.01 * Double($0)) }
            levels.append(10 * log10(parts.reduce(0) { $0 + pow(10, $1 / 10) } / 50))
            level -= perSecond / 2
        }
        return levels
    }

    // MARK: A fall

    @Test func `a plug that is pulled is found a minute later`() {
        let levels = steady(-30, seconds: 60) + steady(-81, seconds: 70)
        #expect(falls(levels) == [Found(after: 239, decibels: 51, at: 120)])
    }

    @Test func `the first minute judges nothing, and nothing is made up for later`() {
        #expect(falls(steady(-30, seconds: 59) + steady(-81, seconds: 300)) == [])
    }

    @Test(arguments: [20.5, 25, 51, 90]) func `a fall within a moment is found wherever it is`(decibels: Double) {
        for percent in 0...100 {
            let split = mixed(Double(percent) / 100, -10, -10 - decibels)
            let levels = steady(-10, seconds: 60) + [split] + steady(-10 - decibels, seconds: 60)
            let found = falls(levels)
            #expect(found.map(\.decibels) == [Int(decibels.rounded())], "\(percent) %")
        }
    }

    @Test func `one that passes within a minute is none, and its level is known from then on`() {
        let once = steady(-30, seconds: 60) + steady(-81, seconds: 59.5) + steady(-30, seconds: 30)
        #expect(falls(once) == [])
        #expect(falls(once + steady(-81, seconds: 300)) == [])
    }

    @Test func `the level of a fall that passes counts a minute after it began`() {
        let once = steady(-30, seconds: 60) + steady(-81, seconds: 3)
        #expect(
            falls(once + steady(-30, seconds: 56.5) + steady(-81, seconds: 60)) == [
                Found(after: 358, decibels: 51, at: 239)
            ])
        #expect(falls(once + steady(-30, seconds: 57) + steady(-81, seconds: 300)) == [])
    }

    @Test func `a plug that makes contact now and then before it is out is found a minute later`() {
        let before = steady(-30, seconds: 75)
        let loose = before + steady(-81, seconds: 3) + steady(-30, seconds: 1) + steady(-81, seconds: 60)
        #expect(falls(loose) == [Found(after: 277, decibels: 51, at: 158)])
        let contacts = (0..<5).flatMap { _ in steady(-81, seconds: 3.5) + [-30] }
        #expect(falls(before + contacts + steady(-81, seconds: 60)) == [Found(after: 309, decibels: 51, at: 190)])
        // The next fall is found too, because the level of a loose plug does not count as one of the microphone.
        let again = before + contacts + steady(-81, seconds: 70) + steady(-30, seconds: 100) + steady(-81, seconds: 60)
        #expect(falls(again).map(\.after) == [309, 649])
    }

    @Test func `a fall that passes into silence leaves no level either`() {
        let muted = steady(-30, seconds: 60) + steady(-81, seconds: 3) + [Double?](repeating: nil, count: 20)
        #expect(falls(muted + steady(-30, seconds: 5) + steady(-81, seconds: 60)).map(\.decibels) == [51])
    }

    @Test func `a fault ends after five seconds above, however calm they are, and the next fall is found as well`() {
        let fallen = steady(-30, seconds: 60) + steady(-81, seconds: 60)
        var watch = FallWatch()
        let levels = fallen + steady(-30, seconds: 4.5) + steady(-81, seconds: 1) + steady(-30, seconds: 4.5)
        for (index, level) in levels.enumerated() { watch.add(moment(level, index)) }
        #expect(watch.fall != nil)
        watch.add(moment(-32, levels.count))
        #expect(watch.fall == nil)
        let again = fallen + steady(-30, seconds: 5) + steady(-81, seconds: 60)
        #expect(falls(again).map(\.after) == [239, 369])
    }

    // MARK: No fall

    @Test func `a fade is none`() {
        for perSecond in [0.1, 1, 2, 5, 10, 15, 19] {
            for offset in [0, 0.1, 0.2, 0.3, 0.4] {
                let fade = fade(from: -30 + offset * perSecond, to: -81, perSecond: perSecond)
                #expect(falls(steady(-30, seconds: 60) + fade + steady(-81, seconds: 120)) == [], "\(perSecond)")
            }
        }
    }

    @Test func `a step of less than 20 dB is none`() {
        #expect(falls(steady(-30, seconds: 60) + steady(-49.9, seconds: 120)) == [])
    }

    @Test func `a door that closes, or rain that stops, leaves a level that was there before`() {
        #expect(falls(steady(-60, seconds: 20) + steady(-25, seconds: 600) + steady(-60, seconds: 300)) == [])
        #expect(falls(steady(-60, seconds: 20) + steady(-25, seconds: 600) + steady(-62.9, seconds: 300)) == [])
        let opened = steady(-60, seconds: 20) + steady(-25, seconds: 40) + steady(-60, seconds: 20)
        #expect(falls(opened + steady(-25, seconds: 40) + steady(-60, seconds: 300)) == [])
    }

    @Test func `what a card delivers first is no level of the microphone`() {
        let settling: [Double?] = [nil, nil, nil] + steady(-90, seconds: 4)
        #expect(falls(settling + steady(-30, seconds: 60) + steady(-81, seconds: 60)).count == 1)
    }

    @Test func `a channel that never had a signal for a minute does not fall`() {
        let silent = [Double?](repeating: nil, count: 2000)
        #expect(falls(silent + [-20] + silent + [-20, -20] + silent) == [])
    }

    @Test func `digital silence between does not hide a fall`() {
        let muted = steady(-30, seconds: 60) + [Double?](repeating: nil, count: 40) + steady(-30, seconds: 10)
        #expect(falls(muted + steady(-81, seconds: 60)).map(\.decibels) == [51])
    }

    @Test func `a channel that had no signal for a minute has not fallen when its sound returns`() {
        let loud = steady(-30, seconds: 60)
        for moments in [19, 20, 119, 120, 121, 400] {
            let muted = loud + [Double?](repeating: nil, count: moments)
            #expect(falls(muted + loud) == [], "\(moments)")
            #expect(falls(muted + [-58] + loud + loud) == [], "the first moment with a signal is partly silent")
        }
    }

    @Test func `a calm place after silence is no fall, since it was not there when it became calm`() {
        let muted = steady(-30, seconds: 60) + [Double?](repeating: nil, count: 20)
        #expect(falls(muted + steady(-81, seconds: 300)) == [])
    }

    @Test func `a minute with a signal decides, not one in which there was none`() {
        let unplugged = steady(-30, seconds: 60) + [Double?](repeating: nil, count: 19)
        #expect(falls(unplugged + steady(-81, seconds: 59.5)) == [])
        #expect(falls(unplugged + steady(-81, seconds: 60)) == [Found(after: 258, decibels: 51, at: 120)])
    }

    @Test func `a preamplifier at the edge of silence is found`() {
        let edge = (0..<240).map { $0 % 2 == 0 ? nil : -92.5 }
        #expect(falls(steady(-30, seconds: 60) + edge).map(\.decibels) == [63])
    }

    @Test func `silence hides a fall, which counts again only if the level is low afterwards`() {
        func fall(after levels: [Double?]) -> FallWatch.Fall? {
            var watch = FallWatch()
            for (index, level) in levels.enumerated() { watch.add(moment(level, index)) }
            return watch.fall
        }
        let fallen = steady(-30, seconds: 60) + steady(-81, seconds: 60)
        let muted = fallen + [Double?](repeating: nil, count: 20)
        #expect(fall(after: fallen + muted.suffix(19)) != nil)
        #expect(fall(after: muted) == nil)
        #expect(fall(after: muted + [-85]) == nil, "the first moment with a signal is partly silent")
        #expect(fall(after: muted + [-85, -81]) == fall(after: fallen))
        for count in 0...2 { #expect(fall(after: muted + [-58] + steady(-30, seconds: Double(count) / 2)) == nil) }
    }

    @Test func `a fall beside sound that was passed over is none`() {
        var watch = FallWatch()
        for index in 0..<200 { watch.add(moment(-30, index)) }
        watch.interrupt()
        for index in 200..<600 {
            watch.add(moment(-81, index))
            #expect(watch.fall == nil)
        }
    }
}

// MARK: - Hours

extension FallWatchTests {
    /// A simulated place, in half seconds: its noise, which drifts, and occasional sounds.
    private struct Place {
        var random: SeededRandom
        /// The random deviation of the noise in each moment, and its drift per moment.
        var jitter: Double
        var drift: Double
        var noise: Double
        private var age = 0
        private var event: (level: Double, left: Int, fadePerSecond: Double)?

        init(seed: UInt64, index: UInt64) {
            random = SeededRandom(seed: seed, index: index)
            noise = -75 + Double(random.below(35))
            jitter = random.pick([0.05, 0.5, 1.5])
            drift = random.pick([0, 0.0005, 0.002])
        }

        private mutating func part() -> Double { Double(random.below(1_000_001)) / 1_000_000 }

        mutating func next() -> Double {
            noise += drift * (2 * part() - 1.2)
            let own = noise + jitter * (part() + part() + part() - 1.5)
            age += 1
            // A sound that lasts from the start to the end cannot be distinguished from noise.
            if event == nil, age > 20, random.once(in: 200) {
                let length = 1 + random.below(random.pick([2, 20, 600]))
                event = (noise + 5 + 45 * part(), length, random.pick([3, 10, .infinity]))
            }
            guard let (level, left, fade) = event else { return own }
            if left > 0 {
                event = (level, left - 1, fade)
            } else {
                event = level - fade / 2 > own ? (level - fade / 2, 0, fade) : nil
            }
            return 10 * log10(pow(10, (level + 6 * part()) / 10) + pow(10, own / 10))
        }
    }

    @Test(arguments: 0..<UInt64(full(400, usually: 40)))
    func `hours in calm and noisy places have no fall, and then a plug is pulled`(index: UInt64) {
        var place = Place(seed: 33, index: index)
        var watch = FallWatch()
        var lowest = Double.infinity
        var last = 0.0
        for number in 0..<4 * 3600 * 2 {
            last = place.next()
            if number >= FallWatch.settling { lowest = min(lowest, last) }
            watch.add(moment(last, number))
            #expect(watch.fall == nil, "at \(number / 2) s")
        }
        let pulled = min(lowest - FallWatch.margin, last - FallWatch.leastDecibels) - 1
        for number in 0..<FallWatch.length {
            #expect(watch.fall == nil)
            watch.add(moment(pulled + 0.5 * Double(place.random.below(2)), 28800 + number))
        }
        #expect(watch.fall?.at == start + .seconds(14400))
    }
}

internal import Glibc

extension FrameClock {
    /// A rise that takes so long is no jump.
    private static let beforeSeconds = 1.0
    /// That all stamps since are late by chance must be less likely than e to the power of minus this.
    private static let evidence = 16.0
    /// No stamp speaks more clearly than this for itself.
    private static let leastChance = 0.005
    /// The least late of the earlier and of the later stamps behind a loss are as late, but for so much of it.
    private static let slackShare = 0.15
    private static let rampSeconds = 3.0
    private static let longestSeconds = 30.0
    private static let strangeSeconds = 60.0
    private static let stepStamps = 6
    static let recentStamps = 16

    private enum Verdict {
        case unsure
        /// `from`: the first stamp behind it.
        case loss(milliseconds: Double, from: Int)
        case ramp
    }

    /// - Returns: points to follow again, if the rise was a loss or a floor of its own.
    mutating func judge() -> [Point]? {
        guard let first = rise.first, let last = rise.last else { return nil }
        let seconds = last.at - first.at
        guard seconds >= Lateness.leastPatience, rise.count < 64 || last.at - judgedAt >= seconds / 8 else {
            return nil
        }
        judgedAt = last.at
        switch verdict() {
        case .loss(let milliseconds, let start):
            lossPosition = rise[start].position
            // The stamps before the loss are among those that are less late.
            let behind = rise.filter { $0.offset - floor.offset(at: $0.at) >= milliseconds }
            closeMoment()
            floor.rise(milliseconds)
            isFound = true
            rise = []
            judgedAt = 0
            return behind
        case .ramp: return seconds >= Self.rampSeconds ? layAnew() : nil
        case .unsure: return seconds >= Self.longestSeconds ? layAnew() : nil
        }
    }

    /// What the rise is, seen from each stamp that all later ones are later than.
    private func verdict() -> Verdict {
        let late = rise.map { $0.offset - floor.offset(at: $0.at) }
        let lastAt = rise[rise.count - 1].at
        var verdict = Verdict.ramp
        var least = Double.infinity
        for start in late.indices.reversed() {
            least = min(least, late[start])
            let seconds = lastAt - rise[start].at
            guard start == 0 || late[start - 1] < least, seconds >= Lateness.leastPatience else { continue }
            let jump = least - floorBefore(start, late)
            guard jump >= threshold(at: lastAt) else { continue }
            switch self.verdict(on: jump, from: start, late, least) {
            case .loss(let milliseconds, _) where seconds >= lateness.patienceSeconds(at: lastAt, against: jump):
                return .loss(milliseconds: milliseconds, from: start)
            case .loss, .unsure: verdict = .unsure
            case .ramp: break
            }
        }
        return verdict
    }

    private func verdict(on jump: Double, from start: Int, _ late: [Double], _ least: Double) -> Verdict {
        let step = late[start..<stepEnd(start, late, least + threshold(at: rise[start].at))]
        let half = step.count / 2
        guard half >= 2, let early = step.prefix(half).min(), let later = step.suffix(half).min() else {
            return .unsure
        }
        let width = max(0, 2 * (step.sorted()[half] - least) - millisecondsPerFrame)
        // The earliest of so many stamps vary by about as much.
        let slack = max(jump * Self.slackShare, 2 * width / Double(half + 2))
        guard early - least <= slack else { return .unsure }
        guard later - least <= slack else { return .ramp }
        // Were they late by chance, evenly up to twice the median, how likely is it that none is less late than the least?
        let spread = max(width, spreadBefore(start, late))
        let chance = max(spread / (jump + spread), lateness.share(over: jump), Self.leastChance)
        let evidence = -Double(late.count - start) * log(chance)
        return evidence >= Self.evidence ? .loss(milliseconds: least, from: start) : .unsure
    }

    /// How widely the stamps before one of the rise are spread, if they are evenly.
    private func spreadBefore(_ start: Int, _ late: [Double]) -> Double {
        let before = (recent + late[..<start]).suffix(Self.recentStamps).sorted()
        return before.isEmpty ? 0 : max(0, 2 * before[before.count / 2])
    }

    /// Where the stamps end after which all are so late that more was lost meanwhile.
    private func stepEnd(_ start: Int, _ late: [Double], _ height: Double) -> Int {
        var end = late.count
        while end > start, late[end - 1] > height { end -= 1 }
        guard end - start >= Self.stepStamps, rise[end - 1].at - rise[start].at >= Self.momentSeconds else {
            return late.count
        }
        return end
    }

    /// How high the floor was in the second before a stamp of the rise: on a ramp, not much lower than at the stamp.
    private func floorBefore(_ start: Int, _ late: [Double]) -> Double {
        let since = rise[start].at - Self.beforeSeconds
        var least = Double.infinity
        for index in (0..<start).reversed() {
            guard rise[index].at >= since else { break }
            least = min(least, late[index])
        }
        for moment in [moment, lastMoment] {
            guard let moment, moment.leastLate < .infinity, moment.least.at >= since || least == .infinity else {
                continue
            }
            least = min(least, moment.least.offset - floor.offset(at: moment.least.at))
        }
        return least < .infinity ? max(0, least) : 0
    }

    /// The floor is where the late stamps are, and why is not known: nothing is told of it.
    private mutating func layAnew() -> [Point] {
        let behind = rise
        if let last = rise.last { strangeUntil = last.at + Self.strangeSeconds }
        floor.tearUp()
        moment = Moment()
        lastMoment = nil
        rise = []
        judgedAt = 0
        return behind
    }
}

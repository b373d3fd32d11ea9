import Takes

/// Detects that the level of a channel drops suddenly below its lowest level so far and stays there, for example when a
/// plug is pulled out of a preamplifier that stays on.
///
/// Pure: it gets one level (a moment) per half second, and keeps only a few.
struct FallWatch {
    private var state = State.usual(last: nil, before: nil)
    /// The lowest level of all moments except the last one and the moments of a fall that lasted, or nil before there
    /// is one. A moment without a signal does not count, because it says nothing about the microphone.
    private var lowest: Double?
    /// The lowest level of each fall that passed and began less than a minute ago, and when it began. `lowest` does not
    /// include them yet.
    private var passed: [(lowest: Double, at: Instant)] = []
    /// The number of moments with a signal, up to `length`.
    private var age = 0
    /// Moments without a signal since the last one with a signal.
    private var silentMoments = 0

    private enum State {
        /// The last moment and the one before it. Each is nil if the next moment does not follow it.
        case usual(last: Moment?, before: Moment?)
        /// The level fell, perhaps only for a while.
        case falling(Falling)
        /// The level fell and stayed low. `back` counts the last consecutive moments that were not low.
        case fallen(Fall, back: Int)
        /// The channel has been without a signal for `silentAfter` moments, so its level is unknown. An earlier fall
        /// counts again if the level is low afterwards. The silence is ending after the first moment with a signal,
        /// which may be partly silent.
        case silent(after: Fall?, isEnding: Bool)
    }

    struct Moment: Hashable {
        /// The root mean square, at least that of a channel without a signal.
        var dBFS: Double
        var hasSignal: Bool
        /// The beginning of the moment.
        var at: Instant

        /// The level of its signal, or nil without a signal.
        fileprivate var ownLevel: Double? { hasSignal ? dBFS : nil }
    }

    /// A fall that is not judged yet.
    private struct Falling {
        /// The louder of the two moments before. The drop may have been within the other one.
        var from: Double
        /// The beginning of the first moment after the drop.
        var at: Instant
        /// The lowest level with a signal since the moment before the fall, or nil if no moment had one.
        var lowest: Double?
        /// The number of moments with a signal in the fall, and the sum of their levels.
        var moments = 0
        var sum = 0.0
    }

    /// A channel that fell and stayed low.
    struct Fall: Hashable {
        /// The end of the drop.
        var at: Instant
        var decibels: Double
    }

    static let momentsPerSecond = 2
    /// The least drop of a fall within a second, in dB. A drop that begins within a moment ends in the moment after the
    /// next.
    static let leastDecibels = 20.0
    /// The number of moments with a signal that must precede a fall, and that it must last.
    static let length = 60 * momentsPerSecond
    /// The first moments of a card are not counted, because its level may still settle.
    static let settling = 4 * momentsPerSecond
    /// A fall that passed may come from a loose plug. Its level counts as one of the microphone only this long after it
    /// began.
    static let loose = Duration.seconds(60)
    /// A low level is at least this far below the lowest level, in dB. The self-noise of a microphone varies by less,
    /// even after a long loud sound.
    static let margin = 3.0
    /// This many consecutive moments that are not low end a fall.
    static let backAfter = 5 * momentsPerSecond
    /// After this many consecutive moments without a signal, the level is unknown. `SignalWatch` reports such a
    /// channel.
    static let silentAfter = 10 * momentsPerSecond

    /// The fall of a channel that stayed low, or nil if it did not fall, has recovered, or has no signal.
    var fall: Fall? {
        if case .fallen(let fall, back: _) = state { fall } else { nil }
    }

    /// Whether a fall has begun that is not judged yet.
    var isFalling: Bool {
        if case .falling = state { true } else { false }
    }

    /// Adds the next moment.
    mutating func add(_ moment: Moment) {
        silentMoments = moment.hasSignal ? 0 : silentMoments + 1
        guard silentMoments < Self.silentAfter else { return beginSilence() }
        switch state {
        case .usual(let last, let before):
            countPassed(moment.at)
            let from = [last, before].compactMap { $0?.dBFS }.max() ?? -.infinity
            if age >= Self.length, isLow(moment) ?? true, from - moment.dBFS >= Self.leastDecibels {
                let falling = Falling(from: from, at: moment.at, lowest: last?.ownLevel)
                return state = lasts(falling, moment)
            }
            note(last?.ownLevel)
            state = .usual(last: moment, before: last)
            if moment.hasSignal { age = min(age + 1, Self.length) }
        case .falling(let falling):
            if isLow(moment) ?? true {
                state = lasts(falling, moment)
            } else {
                pass(falling)
                state = .usual(last: moment, before: nil)
            }
        case .fallen(let fall, let back):
            guard let isLow = self.isLow(moment) else { return }
            if isLow {
                state = .fallen(fall, back: 0)
            } else if back + 1 < Self.backAfter {
                state = .fallen(fall, back: back + 1)
            } else {
                state = .usual(last: moment, before: nil)
            }
        case .silent(let fall, let isEnding):
            guard let isLow = self.isLow(moment) else { return state = .silent(after: fall, isEnding: false) }
            if !isEnding {
                state = .silent(after: fall, isEnding: true)
            } else if isLow, let fall {
                state = .fallen(fall, back: 0)
            } else {
                state = .usual(last: moment, before: nil)
            }
        }
    }

    /// The next moment does not follow the last one: the sound between them is unknown, or the kit played it.
    mutating func interrupt() {
        guard case .usual(let last, _) = state else { return }
        note(last?.ownLevel)
        state = .usual(last: nil, before: nil)
    }

    private mutating func beginSilence() {
        switch state {
        case .usual(let last, _):
            note(last?.ownLevel)
            state = .silent(after: nil, isEnding: false)
        case .falling(let falling):
            pass(falling)
            state = .silent(after: nil, isEnding: false)
        case .fallen(let fall, _): state = .silent(after: fall, isEnding: false)
        case .silent(let fall, _): state = .silent(after: fall, isEnding: false)
        }
    }

    private mutating func pass(_ falling: Falling) {
        guard let lowest = falling.lowest else { return }
        passed.append((lowest, falling.at))
    }

    /// Counts the levels of falls that passed and began long enough ago.
    private mutating func countPassed(_ now: Instant) {
        while let oldest = passed.first, now - oldest.at >= Self.loose {
            note(oldest.lowest)
            passed.removeFirst()
        }
    }

    private mutating func lasts(_ falling: Falling, _ moment: Moment) -> State {
        guard let level = moment.ownLevel else { return .falling(falling) }
        var falling = falling
        falling.moments += 1
        falling.sum += level
        falling.lowest = min(falling.lowest ?? level, level)
        guard falling.moments == Self.length else { return .falling(falling) }
        let mean = falling.sum / Double(Self.length)
        // The short falls before it came from the same plug.
        passed = []
        return .fallen(Fall(at: falling.at, decibels: falling.from - mean), back: 0)
    }

    /// Whether the level is lower than ever before, or nil for a moment without a signal, which has no level.
    private func isLow(_ moment: Moment) -> Bool? {
        guard let level = moment.ownLevel else { return nil }
        return lowest.map { level < $0 - Self.margin } ?? false
    }

    private mutating func note(_ level: Double?) {
        guard let level, age > Self.settling else { return }
        lowest = min(lowest ?? level, level)
    }
}

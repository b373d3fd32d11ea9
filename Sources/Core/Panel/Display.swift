public import Takes
import Transport

/// The lamps over time: the lit lamps at an instant, and the next change.
///
/// A pattern starts with its first segment when the lamp starts to show it, so that flashes can be counted from the
/// first round on. It keeps its rhythm while the lamp shows it.
public struct Display: Sendable {
    /// The lamps of the kit. Other lamps do not cause wake-ups.
    public let lamps: Set<Lamp>

    /// The layers of each lamp, topmost first. The last one never ends.
    private var layers: [Lamp: [Layer]]

    private struct Layer: Hashable {
        var pattern: BlinkPattern
        var since: Instant

        func isLit(at instant: Instant) -> Bool? {
            pattern.isLit(after: instant - since)
        }

        func border(after instant: Instant) -> Instant? {
            pattern.border(after: instant - since).map { since + $0 }
        }
    }

    public init(lamps: Set<Lamp> = [.record, .play, .upload, .fault]) {
        self.lamps = lamps
        layers = [:]
    }

    /// Shows an indication from `now` on.
    public mutating func show(_ indication: Indication, at now: Instant) {
        for lamp in lamps {
            let before = layers[lamp] ?? []
            layers[lamp] = Self.layers(of: lamp, indication, at: now).map { layer in
                guard layer.pattern.repeats, layer.since <= now else { return layer }
                return before.first { $0.pattern == layer.pattern && $0.since <= now }
                    ?? Layer(pattern: layer.pattern, since: now)
            }
        }
    }

    /// The lit lamps at `instant`, which must not be earlier than the last `show`.
    public func lit(at instant: Instant) -> Set<Lamp> {
        lamps.filter { isLit($0, at: instant) }
    }

    /// The time of the next change of any lamp, if no other indication is shown before, or nil if no lamp changes.
    public func nextChange(after instant: Instant) -> Instant? {
        lamps.compactMap { nextChange(of: $0, after: instant) }.min()
    }

    private func isLit(_ lamp: Lamp, at instant: Instant) -> Bool {
        layers[lamp]?.lazy.compactMap { $0.isLit(at: instant) }.first ?? false
    }

    private func nextChange(of lamp: Lamp, after instant: Instant) -> Instant? {
        let now = isLit(lamp, at: instant)
        var reached = instant
        while let border = layers[lamp]?.compactMap({ $0.border(after: reached) }).min() {
            if isLit(lamp, at: border) != now { return border }
            reached = border
        }
        return nil
    }

    private static func layers(of lamp: Lamp, _ indication: Indication, at now: Instant) -> [Layer] {
        switch lamp {
        case .record: record(indication, at: now)
        case .play: answer(indication) + [Layer(pattern: play(indication), since: now)]
        case .upload: [Layer(pattern: upload(indication), since: now)]
        case .fault: [Layer(pattern: fault(indication), since: now)]
        case .all: all(indication, at: now)
        }
    }

    private static func record(_ indication: Indication, at now: Instant) -> [Layer] {
        guard let recording = indication.recording else { return [Layer(pattern: .off, since: now)] }
        var layers = [Layer(pattern: .unsynced, since: recording.safeUntil + BlinkPattern.unsyncedAfter)]
        if let sync = recording.lastSync { layers.append(Layer(pattern: .syncWink, since: sync)) }
        return layers + [Layer(pattern: .solid, since: now)]
    }

    private static func answer(_ indication: Indication) -> [Layer] {
        guard let answer = indication.answer else { return [] }
        let pattern: BlinkPattern =
            switch answer.kind {
            case .selected: .selected
            case .atTheEnd: .atTheEnd
            case .refused: .refused
            case .locked, .unlocked: .lockChanged
            }
        return [Layer(pattern: pattern, since: answer.at)]
    }

    /// The pattern of an answer on a lit lamp, or nil if the lamp does not show this answer.
    private static func winks(_ answer: Indication.Answer.Kind) -> BlinkPattern? {
        switch answer {
        case .refused: .refusedWinks
        case .locked, .unlocked: .lockChangedWinks
        case .selected, .atTheEnd: nil
        }
    }

    private static func play(_ indication: Indication) -> BlinkPattern {
        guard indication.recording == nil else { return .off }
        switch indication.playback {
        case .playing: return .solid
        case .paused: return .paused
        case .stopped: return indication.isArmed ? .armed : .off
        }
    }

    private static func upload(_ indication: Indication) -> BlinkPattern {
        guard !indication.isPairing else { return .pairing }
        switch indication.upload {
        case .idle, .held, .refused: return .off
        case .sending: return .sending
        case .stickOffered: return .stickOffered
        case .safeToRemove: return .solid
        }
    }

    private static func fault(_ indication: Indication) -> BlinkPattern {
        indication.faults.min().map { .fault($0) } ?? .off
    }

    private static func all(_ indication: Indication, at now: Instant) -> [Layer] {
        if indication.recording != nil {
            var layers = record(indication, at: now)
            if let answer = indication.answer, let winks = winks(answer.kind) {
                layers.insert(Layer(pattern: winks, since: answer.at), at: 1)
            }
            return layers
        }
        guard indication.faults.isEmpty else { return [Layer(pattern: fault(indication), since: now)] }
        let play = indication.isPairing ? .off : play(indication)
        return answer(indication) + [Layer(pattern: play == .off ? upload(indication) : play, since: now)]
    }
}

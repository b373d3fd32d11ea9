import Takes

/// The lengths of a take's parts, for moving within it. The parts are played one right after the other.
struct PlayLengths: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        var frames: Int64
        var rateHz: Int
    }

    let parts: [Part]

    /// The place after the last frame.
    var end: PlayPosition { PlayPosition(part: parts.count - 1, frame: parts.last?.frames ?? 0) }

    /// The playing time up to a place.
    func seconds(at position: PlayPosition) -> Double {
        let before = parts.prefix(position.part).reduce(0) { $0 + Double($1.frames) / Double($1.rateHz) }
        return before + Double(position.frame) / Double(parts[position.part].rateHz)
    }

    /// The take's playing time.
    var seconds: Double { seconds(at: end) }

    /// Frames of all parts, counted at the rate of the first.
    var frames: Int64 {
        guard let rateHz = parts.first?.rateHz else { return 0 }
        return parts.reduce(0) { $0 + Sidecar.frames($1.frames, at: $1.rateHz, countedAt: rateHz) }
    }

    /// The place `seconds` later, or earlier if negative. It is clamped to the take.
    func moved(from position: PlayPosition, by seconds: Double) -> PlayPosition {
        seconds < 0 ? back(from: position, by: -seconds) : on(from: position, by: seconds)
    }

    private func on(from position: PlayPosition, by seconds: Double) -> PlayPosition {
        var place = position
        var left = seconds
        while true {
            let part = parts[place.part]
            let rate = Double(part.rateHz)
            let frame = Double(place.frame) + (left * rate).rounded()
            if frame < Double(part.frames) { return PlayPosition(part: place.part, frame: Int64(frame)) }
            guard place.part + 1 < parts.count else { return end }
            // Rates differ between parts, and so do the rounding errors.
            left = max(0, left - Double(part.frames - place.frame) / rate)
            place = PlayPosition(part: place.part + 1)
        }
    }

    private func back(from position: PlayPosition, by seconds: Double) -> PlayPosition {
        var place = position
        var left = seconds
        while true {
            let rate = Double(parts[place.part].rateHz)
            let frame = Double(place.frame) - (left * rate).rounded()
            if frame >= 0 { return PlayPosition(part: place.part, frame: Int64(frame)) }
            guard place.part > 0 else { return PlayPosition() }
            left = max(0, left - Double(place.frame) / rate)
            place = PlayPosition(part: place.part - 1, frame: parts[place.part - 1].frames)
        }
    }
}

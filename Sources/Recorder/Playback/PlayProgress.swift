package import Takes

/// The playback position: one or more lines from time to seconds of the take, the newest last.
package struct PlayProgress: Hashable, Sendable {
    /// From an instant on, the position moves at a constant speed.
    struct Line: Hashable, Sendable {
        var from: Instant
        /// Seconds into the take at that instant.
        var seconds: Double
        /// Seconds of the take per second; 0 while paused.
        var speed: Double
    }

    /// In the order of their instants, never empty.
    let lines: [Line]
    /// The take's length in seconds.
    let total: Double

    /// Seconds into the take. Before the first line this is the start of that line: after a jump, its target.
    package func seconds(at now: Instant) -> Double {
        let line = lines.last { $0.from <= now } ?? lines[0]
        let seconds = line.seconds + line.speed * max(0, (now - line.from).inSeconds)
        return max(0, min(total, seconds))
    }
}

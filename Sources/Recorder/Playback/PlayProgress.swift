package import Takes

/// Where the playing is: one or more lines from time to seconds of the take, the newest last.
package struct PlayProgress: Hashable, Sendable {
    /// From an instant on, the position moves on steadily.
    struct Line: Hashable, Sendable {
        var from: Instant
        /// Seconds into the take at that instant.
        var seconds: Double
        /// Seconds of the take for each second; 0 while paused.
        var speed: Double
    }

    /// In the order of their instants; never none.
    let lines: [Line]
    /// The take's length.
    let total: Double

    /// Seconds into the take. Before the first line this is where that begins: after a jump, its target.
    package func seconds(at now: Instant) -> Double {
        let line = lines.last { $0.from <= now } ?? lines[0]
        let seconds = line.seconds + line.speed * max(0, (now - line.from).inSeconds)
        return max(0, min(total, seconds))
    }
}

import Ring
import TakeFiles
import Takes

// What can be asked of a take that is played, and how its sound is cut for that.
extension PlayedTake {
    func pause() throws {
        switch state {
        case .playing, .ending:
            let cut = try cut()
            state = .pausing(end: cut.frame, at: cut.position)
        case .pausing, .paused, .stopping, .ended: break
        }
    }

    func resume(now: Instant) throws {
        switch state {
        case .pausing(_, let position):
            try takeBack()
            try go(to: position, now: now)
        case .paused(let position): try go(to: position, now: now)
        case .playing, .ending, .stopping, .ended: break
        }
    }

    /// Moves on by `seconds` of the take, or back; while paused, silently.
    func skip(bySeconds seconds: Double, now: Instant) throws {
        switch state {
        case .playing, .ending:
            let cut = try cut()
            try go(to: lengths.moved(from: cut.position, by: seconds), now: now)
        case .pausing(let end, let position):
            state = .pausing(end: end, at: lengths.moved(from: position, by: seconds))
        case .paused(let position):
            state = .paused(at: lengths.moved(from: position, by: seconds))
        case .stopping, .ended: break
        }
    }

    func setVolume(_ volume: Double) throws {
        self.volume = volume
        switch state {
        case .playing, .ending:
            try takeBack()
            queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: Self.volumeRamp))
        case .pausing, .paused, .stopping, .ended: break
        }
    }

    /// Plays on at another pitch or speed; while paused, from when it goes on.
    func tune(_ tuning: Tuning, now: Instant) throws {
        let isSame = tuning.resampling == self.tuning.resampling && tuning.tempo == self.tuning.tempo
        self.tuning = tuning
        guard !isSame else { return }
        switch state {
        case .playing, .ending:
            let cut = try cut()
            try go(to: cut.position, isJump: false, now: now)
        case .pausing, .paused, .stopping, .ended: break
        }
    }

    /// Ends it; `isEnded` once the sound has faded.
    func stop() throws {
        switch state {
        case .playing, .ending:
            let cut = try cut()
            state = .stopping(end: cut.frame, at: cut.position)
        case .pausing(let end, let position): state = .stopping(end: end, at: position)
        case .paused: close()
        case .stopping, .ended: break
        }
    }

    /// Takes back whatever the card need not play.
    private func takeBack() throws {
        let kept = Int(grant.format.frames(in: Self.kept))
        let queued = try sink.queuedFrames()
        guard queued > kept else { return }
        let back = try sink.takeBack(keeping: kept)
        if back > 0 {
            queue.takeBack(Int64(back))
        } else {
            // The card cannot. What it has is dropped, and given again as far as it is needed.
            sink.drop()
            queue.takeBack(Int64(queued))
        }
    }

    /// Cuts the sound off, faded.
    /// - Returns: the queue's first frame, and the take's, that is not played any more.
    private func cut() throws -> (frame: Int64, position: PlayPosition) {
        try takeBack()
        let length = min(grant.format.frames(in: Self.fade), queue.made - queue.given)
        let frame = queue.given + length
        let position = map.position(ofFrame: min(frame, end ?? .max))
        queue.fader.ramp(to: 0, at: queue.given, length: length)
        queue.drop(from: frame)
        queue.appendSilence(Int(grant.format.frames(in: Self.tail)))
        _ = try queue.give(to: sink, upTo: frame)
        return (frame, position)
    }

    /// Plays on from a place, faded in.
    /// - Parameter isJump: whether that is another place than the one where the sound was cut.
    private func go(to position: PlayPosition, isJump: Bool = true, now: Instant) throws {
        queue.drop(from: queue.given)
        guard audio.parts[position.part].format == source.format else {
            return try reopen(at: position, now: now)
        }
        if source.canJump(to: position, tuning) {
            try source.jump(to: position)
        } else {
            source = try PlaySource(audio, at: position, card: grant.format, tuning: tuning)
        }
        let segment = PlayMap.Segment(frame: queue.given, position: position, speed: tuning.speed)
        if isJump { map.jump(segment) } else { map.change(segment) }
        begin(now: now)
        fadeIn()
    }

    func fadeIn() {
        queue.fader = Fader(volume: 0)
        queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: Self.fade))
    }
}

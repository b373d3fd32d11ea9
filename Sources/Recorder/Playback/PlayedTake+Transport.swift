import Ring
import TakeFiles
import Takes

// The transport of a played take, and how it cuts the sound.
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

    /// Moves forward by `seconds` of the take, or back if negative. While paused, nothing is played.
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

    /// Continues at another pitch or speed. While paused, the change applies from resume on.
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

    /// Fades out and ends. `isEnded` is true once the sound has faded.
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

    /// Takes back all frames beyond `kept` that the card has not played yet.
    private func takeBack() throws {
        let kept = Int(grant.format.frames(in: Self.kept))
        let queued = try sink.queuedFrames()
        guard queued > kept else { return }
        let back = try sink.takeBack(keeping: kept)
        if back > 0 {
            queue.takeBack(Int64(back))
        } else {
            // The card cannot take frames back. So its queue is dropped, and the frames are given again as needed.
            sink.drop()
            queue.takeBack(Int64(queued))
        }
    }

    /// Fades out and cuts the sound.
    /// - Returns: the first frame of the queue, and of the take, that is not played.
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

    /// Continues from a place with a fade-in.
    /// - Parameter isJump: whether the place differs from the place of the cut.
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

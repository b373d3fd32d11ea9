import Live
import Recording
import Ring
import TakeFiles
import Takes
import Transport

// The position of the recorded take in the ring, for programs that set markers in live sound.
extension Deck {
    func noteLiveTake(_ progress: RecordingProgress) {
        guard let stem = transport.recordedTake?.stem, let next = progress.next, let ring = card.open?.ring else {
            return
        }
        let (rateHz, isFirst) = (ring.format.rateHz, recorded?.live?.stem != stem)
        if let live = recorded?.live, live.stem == stem, !live.isOver {
            let known = TakeAnchor(position: live.position, frame: live.frame)
            let frame = known.frame(at: next.position, rateHz: rateHz, takeRateHz: progress.rateHz)
            // Between two rates, places are rounded.
            guard abs(frame - next.frame) > (rateHz == progress.rateHz ? 0 : 1) else { return }
        }
        var live = LiveTake(stem: stem, rateHz: progress.rateHz, position: next.position, frame: next.frame)
        if isFirst, rateHz == progress.rateHz, next.position.count >= next.frame.count {
            (live.position, live.frame) = (next.position - next.frame.count, .first)
        }
        recorded?.live = live
        announce(.live(live))
    }

    /// - Parameter end: the frame after the last one, or nil if it is not known.
    func endLiveTake(_ name: TakeName, at end: TakeFrame?) {
        guard var live = recorded?.live, live.stem == name.stem, !live.isOver else { return }
        let rateHz = card.open?.ring.format.rateHz ?? live.rateHz
        let distance = (end ?? live.frame) - live.frame
        let frames = Sidecar.frames(abs(distance), at: live.rateHz, countedAt: rateHz)
        live.position = live.position + (distance < 0 ? -frames : frames)
        (live.frame, live.isOver) = (live.frame + distance, true)
        recorded?.live = live
        announce(.live(live))
    }
}

package import Takes

extension Sidecar {
    /// More frames than any take has.
    static let mostFrames = SidecarLimits.frames.upperBound
    /// No part begins later, so that positions after it cannot overflow.
    static let latestFrame = mostFrames / 2

    /// The frame of the take after a part's last frame. The part may have another rate than the take.
    package func end(of part: Part) -> TakeFrame {
        part.firstFrame + Sidecar.frames(part.frames, at: part.rateHz, countedAt: rateHz)
    }

    /// The frame after the last one. Gaps between parts count.
    package var end: TakeFrame { parts.last.map(end) ?? .first }

    /// Removes everything after the end of the last part.
    mutating func trim() {
        let end = end
        preRollFrames = min(preRollFrames, frames)
        endBeforeTimeAway(at: end)
        markers.removeAll { $0.atFrame > end }
        for index in markers.indices { markers[index].endRegion(before: end) }
        filter.removeAll { $0.atFrame > .first && $0.atFrame >= end }
        gain.removeAll { $0.atFrame > .first && $0.atFrame >= end }
        gaps.removeAll { $0.atFrame >= end }
        for index in gaps.indices { gaps[index].cut(at: end) }
        clockMap.removeAll { $0.atFrame > end }
        suspectedLosses.removeAll { $0.afterFrame >= end }
    }

    /// The format that the card delivered at the take's start.
    var streamFormat: StreamFormat {
        StreamFormat(
            rateHz: rateHz, channels: channels, sampleFormat: format,
            significantBits: parts.first { $0.format == format }?.significantBits)
    }

    /// Whether the sidecar names this take and a recorder could have written its figures. A sidecar that the disk
    /// corrupted is not credible.
    func isCredible(for name: TakeName) -> Bool {
        let frames = 0...Self.mostFrames
        return take == name.stem && streamFormat.canBeStored && WallTime(iso8601: started) != nil
            && frames.contains(self.frames)
            && parts.allSatisfy {
                (0...Self.latestFrame).contains($0.firstFrame.count) && frames.contains($0.frames)
                    && StreamFormat(rateHz: $0.rateHz, channels: channels, sampleFormat: $0.format).canBeStored
            }
    }
}

package import Takes

extension Sidecar {
    /// More frames than any take has.
    static let mostFrames = SidecarLimits.frames.upperBound
    /// No part begins later: what comes behind it has room.
    static let latestFrame = mostFrames / 2

    /// The frame of the take after a part's last; the part may have a rate of its own.
    package func end(of part: Part) -> TakeFrame {
        part.firstFrame + Sidecar.frames(part.frames, at: part.rateHz, countedAt: rateHz)
    }

    /// The frame behind the last one; gaps between its parts count.
    package var end: TakeFrame { parts.last.map(end) ?? .first }

    /// Takes out what lies beyond the end of the last part.
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

    /// What the card delivered at the take's start.
    var streamFormat: StreamFormat {
        StreamFormat(
            rateHz: rateHz, channels: channels, sampleFormat: format,
            significantBits: parts.first { $0.format == format }?.significantBits)
    }

    /// Whether it is that of `take` and its figures are such as a recorder writes: what a disk corrupted does not count.
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

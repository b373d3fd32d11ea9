import Takes

/// One part of a take that is being written: an audio file, and its unfiltered twin if there is one.
struct TakePart {
    /// 1, then up. Numbers of parts that had no frame are left out of the take.
    var number: Int
    /// As the card delivers it.
    var format: StreamFormat
    /// The card that delivers it; nil: that is not known.
    var card: CardPlace?
    /// Frames of all parts before it: what `SyncPoint.frames` counts.
    var framesBefore: Int64
    /// The filtered file, then the unfiltered one.
    var audio: [AudioFile]
    var frames: Int64 = 0
    /// Frames at its end that were written, and that another program removed with the file, or from it.
    var lostFrames: Int64 = 0
    /// Whole frames after which it is full.
    var capacityFrames: Int64
    /// The frames that the header on the disk reports; nil forces it to be written again.
    var reportedFrames: Int64? = 0

    /// A header is written over after this much sound: it is for those who find the file of a take that goes on. Recovery
    /// takes the length from the file, and needs to know only whether there was a sync.
    static let headerSeconds: Int64 = 10

    var firstFrame: TakeFrame { audio[0].firstFrame }
    /// Frames that its file holds.
    var keptFrames: Int64 { frames - lostFrames }

    /// Whether the unfiltered sound is written beside the filtered one.
    var writesTwin: Bool { audio.count > 1 && !audio[1].isFrozen }

    /// Whether the header is to be written with the next sync.
    var isHeaderDue: Bool {
        guard let reportedFrames else { return true }
        return frames > reportedFrames
            && (reportedFrames == 0 || frames - reportedFrames >= Self.headerSeconds * Int64(format.rateHz))
    }

    /// It is to have so many frames; those at its end are lost first.
    mutating func shorten(to count: Int64) {
        let kept = keptFrames
        frames = count
        lostFrames = count - min(count, kept)
    }

    /// One of its files is to have no more frames than the part; another program may have left fewer.
    mutating func cut(_ index: Int) {
        let bytes = frames * Int64(format.stored.bytesPerFrame)
        audio[index].dataBytes = min(audio[index].dataBytes, bytes)
    }

    /// How many of its frames are on the disk, if `frames` of the take are.
    func synced(of frames: Int64) -> Int64 { min(self.frames, max(0, frames - framesBefore)) }

    /// As the sidecar lists it.
    /// - Parameter isComplete: whether these are all of its frames; without that it has no fingerprint yet.
    func listed(isComplete: Bool) -> Sidecar.Part {
        var listed = Sidecar.Part(
            file: audio[0].name, unfilteredFile: audio.count > 1 ? audio[1].name : nil, firstFrame: firstFrame,
            frames: keptFrames, format: format)
        listed.place = card
        // Another program may have left less of one of the two.
        if audio.count > 1, audio[1].frames != keptFrames { listed.unfilteredFrames = audio[1].frames }
        guard isComplete else { return listed }
        let fingerprints = audio.map { $0.isTouched ? nil : $0.written.fingerprint(ofFirst: $0.dataBytes) }
        listed.soundSHA256 = fingerprints[0]
        if fingerprints.count > 1 { listed.unfilteredSoundSHA256 = fingerprints[1] }
        if fingerprints.contains(where: { $0 != nil }) { listed.fingerprint = .capture }
        return listed
    }
}

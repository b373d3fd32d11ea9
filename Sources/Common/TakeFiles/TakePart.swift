import Takes

/// One part of a take that is being written: an audio file, and its unfiltered twin if there is one.
struct TakePart {
    /// Counts from 1. The take skips the numbers of parts without a frame.
    var number: Int
    /// As the card delivers it.
    var format: StreamFormat
    /// The card that delivers it, or nil if unknown.
    var card: CardPlace?
    /// Frames of all earlier parts, as `SyncPoint.frames` counts them.
    var framesBefore: Int64
    /// The filtered file, then the unfiltered one.
    var audio: [AudioFile]
    var frames: Int64 = 0
    /// Frames at the part's end that were written and that another program removed, with the file or from it.
    var lostFrames: Int64 = 0
    /// The number of whole frames after which the part is full.
    var capacityFrames: Int64
    /// The frames that the header on the disk reports. Nil forces a rewrite.
    var reportedFrames: Int64? = 0

    /// The header is rewritten after this much sound, for other programs that open the file during recording. Recovery
    /// uses the length of the file, and only needs to know whether there was a sync.
    static let headerSeconds: Int64 = 10

    var firstFrame: TakeFrame { audio[0].firstFrame }
    /// Frames that its file contains.
    var keptFrames: Int64 { frames - lostFrames }

    /// Whether the unfiltered sound is written, too.
    var writesTwin: Bool { audio.count > 1 && !audio[1].isFrozen }

    /// Whether the next sync must write the header.
    var isHeaderDue: Bool {
        guard let reportedFrames else { return true }
        return frames > reportedFrames
            && (reportedFrames == 0 || frames - reportedFrames >= Self.headerSeconds * Int64(format.rateHz))
    }

    /// Sets the number of frames. The lost frames at the end are removed first.
    mutating func shorten(to count: Int64) {
        let kept = keptFrames
        frames = count
        lostFrames = count - min(count, kept)
    }

    /// Limits one of the files to the part's number of frames. Another program may have left fewer.
    mutating func cut(_ index: Int) {
        let bytes = frames * Int64(format.stored.bytesPerFrame)
        audio[index].dataBytes = min(audio[index].dataBytes, bytes)
    }

    /// How many of its frames are on the disk if `frames` of the take are.
    func synced(of frames: Int64) -> Int64 { min(self.frames, max(0, frames - framesBefore)) }

    /// The part's entry in the sidecar.
    /// - Parameter isComplete: whether these are all of its frames. An incomplete part has no fingerprint yet.
    func listed(isComplete: Bool) -> Sidecar.Part {
        var listed = Sidecar.Part(
            file: audio[0].name, unfilteredFile: audio.count > 1 ? audio[1].name : nil, firstFrame: firstFrame,
            frames: keptFrames, format: format)
        listed.place = card
        // Another program may have shortened one of the two files.
        if audio.count > 1, audio[1].frames != keptFrames { listed.unfilteredFrames = audio[1].frames }
        guard isComplete else { return listed }
        let fingerprints = audio.map { $0.isTouched ? nil : $0.written.fingerprint(ofFirst: $0.dataBytes) }
        listed.soundSHA256 = fingerprints[0]
        if fingerprints.count > 1 { listed.unfilteredSoundSHA256 = fingerprints[1] }
        if fingerprints.contains(where: { $0 != nil }) { listed.fingerprint = .capture }
        return listed
    }
}

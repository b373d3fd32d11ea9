import Takes

/// One part of a take that is being written: an audio file, and its unfiltered twin if there is one.
struct TakePart {
    /// 1, then up. Numbers of parts that had no frame are left out of the take.
    var number: Int
    /// As the card delivers it.
    var format: StreamFormat
    /// Frames of all parts before it: what `SyncPoint.frames` counts.
    var framesBefore: Int64
    /// The filtered file, then the unfiltered one.
    var audio: [AudioFile]
    var frames: Int64 = 0
    /// Whole frames after which it is full.
    var capacityFrames: Int64
    /// How many frames the header on the disk reports; nil: it is to be written again for another reason.
    var reportedFrames: Int64? = 0

    /// A header is written over after this much sound: it is for those who find the file of a take that goes on. Recovery
    /// takes the length from the file, and needs to know only whether there was a sync.
    static let headerSeconds: Int64 = 10

    var firstFrame: TakeFrame { audio[0].firstFrame }

    /// Whether the header is to be written with the next sync.
    var isHeaderDue: Bool {
        guard let reportedFrames else { return true }
        return frames > reportedFrames
            && (reportedFrames == 0 || frames - reportedFrames >= Self.headerSeconds * Int64(format.rateHz))
    }

    /// How many of its frames are on the disk, if `frames` of the take are.
    func synced(of frames: Int64) -> Int64 { min(self.frames, max(0, frames - framesBefore)) }

    /// As the sidecar lists it.
    var listed: Sidecar.Part {
        Sidecar.Part(
            file: audio[0].name, unfilteredFile: audio.count > 1 ? audio[1].name : nil, firstFrame: firstFrame,
            frames: frames, format: format)
    }
}

public import Files
import Glibc
import Takes

/// The second half of a sync. The writer makes it, and another thread runs it. The next one is made after the outcome
/// of this one was reported to `TakeOutput.synced`.
public struct SyncPoint: Sendable {
    /// Frames of the take that are on the disk after it has run.
    public let frames: Int64
    let site: TakeSite
    /// The audio files with frames that are not known to be on the disk.
    let audio: [AudioFile]
    /// The sidecar and the number of its last change, or nil if the take has a tail or is over.
    let sidecar: (Sidecar, change: Int)?
    let isSidecarDue: Bool
    /// The last change that was written over the draft because no other file could be made.
    let overwrittenChange: Int
    /// The attributes of the sidecar's draft after it was last written, if they could be read.
    let draft: FileAttributes?
    /// Whether the names of all audio files are on the disk. The name of a new part is there after the sidecar was
    /// replaced.
    let isNamed: Bool
    /// The audio files that were closed before.
    let closed: [AudioFile]
    /// A file that lost its name, and how much of it to copy at this sync.
    let rescue: (Rescue, byteCount: Int64, leastFree: Int64)?

    /// Syncs the audio, checks whether another program touched it, and then replaces the sidecar if that is due. It
    /// blocks while the storage works.
    public func run() -> Synced {
        var synced = Synced()
        var site = site
        var audio = audio
        do throws(FileError) {
            try site.perform(.sync, audio: &audio)
        } catch {
            synced.failure = error
            return synced
        }
        if let absence = site.absence {
            synced.failure = absence
            return synced
        }
        synced.strays = audio.compactMap(site.stray) + closed.compactMap(site.strayClosed)
        // The sound is safe now, even if the sidecar fails.
        let isSafe = synced.strays.isEmpty
        if isSafe, isNamed { synced.frames = frames }
        do throws(FileError) {
            try site.renewDay()
            synced.day = site.day
            try replaceSidecar(site, &synced)
            if isSafe { synced.frames = frames }
        } catch {
            synced.sidecarFailure = error
            // Without the sidecar, recovery finds the parts by their names.
            if isSafe, !isNamed, (try? site.syncNames()) != nil { synced.frames = frames }
        }
        advanceRescue(site, &synced)
        return synced
    }

    private func replaceSidecar(_ before: TakeSite, _ synced: inout Synced) throws(FileError) {
        guard let (sidecar, change) = sidecar else { return }
        var site = before
        let isLost = site.lostDraft(draft)
        guard isSidecarDue || isLost else { return }
        let content = SidecarFile.bytes(sidecar)
        do throws(FileError) {
            try site.perform(.replaceSidecar, content: content)
        } catch {
            // Each sync tries again. Until one succeeds, a power cut must not lose noted events.
            if error.code != EIO, change > overwrittenChange, (try? site.overwriteDraft(with: content)) != nil {
                synced.overwrittenChange = change
                synced.draft = site.draftOnDisk
                synced.hasNewDraft = true
            }
            throw error
        }
        synced.sidecarChange = change
        synced.draft = site.draftOnDisk
        synced.hasNewDraft = true
        synced.hadLostDraft = isLost
    }

    private func advanceRescue(_ before: TakeSite, _ synced: inout Synced) {
        guard let (begun, byteCount, leastFree) = rescue else { return }
        var (site, rescue) = (before, begun)
        do throws(FileError) {
            try site.advance(&rescue, copying: byteCount, leastFree: leastFree)
        } catch {
            synced.rescueFailure = error
        }
        synced.rescue = rescue
    }
}

/// The result of a sync.
public struct Synced: Sendable {
    /// Frames of the take that are on the disk; 0 if no more than before.
    public var frames: Int64
    /// The last change of the sidecar that is on the disk; 0 if no later one than before.
    public var sidecarChange: Int
    /// Why the sync failed, or nil if it did not.
    public var failure: FileError?
    /// Why the sidecar could not be replaced, or nil if it was replaced or not due. The sound is safe without it.
    public var sidecarFailure: FileError?
    /// The folder of the day. It was made again if another program had removed it.
    var day: OpenFile?
    /// Audio files that another program touched.
    var strays: [StrayFile] = []
    /// The change of the sidecar that was written over its draft; 0 if the draft was not overwritten.
    var overwrittenChange = 0
    /// The attributes of the sidecar's draft, if it was written.
    var draft: FileAttributes?
    var hasNewDraft = false
    /// Whether another program had removed or changed the draft.
    var hadLostDraft = false
    /// The progress of rescuing the file that lost its name.
    var rescue: Rescue?
    /// Why the rescue made no more progress.
    var rescueFailure: FileError?

    public init(frames: Int64 = 0, sidecarChange: Int = 0, failure: FileError? = nil) {
        self.frames = frames
        self.sidecarChange = sidecarChange
        self.failure = failure
    }
}

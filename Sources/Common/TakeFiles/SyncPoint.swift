import Glibc
import Takes

/// The second half of a sync: made by the writer, run by another thread. The next one is made when this one's outcome
/// was reported to `TakeOutput.synced`.
public struct SyncPoint: Sendable {
    /// Frames of the take that are on the disk once it has run.
    public let frames: Int64
    let site: TakeSite
    /// Those that hold frames which are not known to be on the disk.
    let audio: [AudioFile]
    /// The sidecar, and the number of its last change; nil: the take has a tail, or is over.
    let sidecar: (Sidecar, change: Int)?
    /// Whether it is to be written.
    let isSidecarDue: Bool
    /// The last change that was written over the draft, since no other file could be made.
    let overwrittenChange: Int
    /// The attributes of the sidecar's draft as it was written last, if they could be read.
    let draft: FileAttributes?
    /// Whether all of the audio files have their names on the disk. A new part's is there once the sidecar was replaced.
    let isNamed: Bool
    /// The audio files that were closed before.
    let closed: [AudioFile]
    /// A file that lost its name, and how much of it is copied at this sync.
    let rescue: (Rescue, byteCount: Int64, leastFree: Int64)?

    /// Syncs the audio, looks whether another program touched it, then replaces the sidecar if that is due. It takes as long as the
    /// storage does.
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
            // It is tried again at each sync; until then, a power cut is to cost nothing that was noted.
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

/// What a sync made safe.
public struct Synced: Sendable {
    /// Frames of the take that are on the disk; 0: no more than before.
    public var frames: Int64
    /// The last change of the sidecar that is on the disk; 0: no later one than before.
    public var sidecarChange: Int
    /// Why it did not make all of it safe; nil: it did.
    public var failure: FileError?
    /// Why the sidecar could not be replaced; nil: it was, or was not due. The sound is safe without it.
    public var sidecarFailure: FileError?
    /// The folder of the day: another program may have removed it, so that it was made again.
    var day: OpenFile?
    /// Audio files that another program touched.
    var strays: [StrayFile] = []
    /// The change of the sidecar that was written over its draft; 0: none was.
    var overwrittenChange = 0
    /// The sidecar's draft, if it was written.
    var draft: FileAttributes?
    var hasNewDraft = false
    /// Whether another program had removed or changed the draft.
    var hadLostDraft = false
    /// How far the file that lost its name is.
    var rescue: Rescue?
    /// Why it is no further.
    var rescueFailure: FileError?

    /// So much is safe.
    public init(frames: Int64 = 0, sidecarChange: Int = 0, failure: FileError? = nil) {
        self.frames = frames
        self.sidecarChange = sidecarChange
        self.failure = failure
    }
}

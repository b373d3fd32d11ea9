import Takes

/// The second half of a sync: made by the writer, run by another thread. The next one is made when this one's outcome
/// was reported to `TakeOutput.synced`.
public struct SyncPoint: Sendable {
    /// Frames of the take that are on the disk once it has run.
    public let frames: Int64
    let site: TakeSite
    /// Those that hold frames which are not known to be on the disk.
    let audio: [AudioFile]
    /// The sidecar, if it is to be written, and the number of its last change.
    let sidecar: (Sidecar, change: Int)?
    /// Whether all of the audio files have their names on the disk. A new part's is there once the sidecar was replaced.
    let isNamed: Bool

    /// Syncs the audio, then replaces the sidecar if that is due. It takes as long as the storage does.
    public func run() -> Synced {
        var synced = Synced()
        do throws(FileError) {
            var site = site
            var audio = audio
            try site.perform(.sync, audio: &audio)
            // The sound is safe now, even if the sidecar fails.
            if isNamed { synced.frames = frames }
            if let (sidecar, change) = sidecar {
                try site.perform(.replaceSidecar, content: SidecarFile.bytes(sidecar))
                synced.sidecarChange = change
            }
            synced.frames = frames
        } catch {
            synced.failure = error
        }
        return synced
    }
}

/// What a sync made safe.
public struct Synced: Sendable, Hashable {
    /// Frames of the take that are on the disk; 0: no more than before.
    public var frames: Int64
    /// The last change of the sidecar that is on the disk; 0: no later one than before.
    public var sidecarChange: Int
    /// Why it did not make all of it safe; nil: it did.
    public var failure: FileError?

    /// So much is safe.
    public init(frames: Int64 = 0, sidecarChange: Int = 0, failure: FileError? = nil) {
        self.frames = frames
        self.sidecarChange = sidecarChange
        self.failure = failure
    }
}

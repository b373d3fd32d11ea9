import Synchronization
import Takes

/// The second half of a sync: made by the writer, run by the sync thread. Several may wait; they are run in order.
public struct SyncPoint: Sendable {
    /// Frames of the take that are on the disk once it has run.
    public let frames: Int64
    var site: TakeSite
    /// Those that hold frames which are not known to be on the disk.
    var audio: [AudioFile]
    /// The sidecar, if it changed, and the number of the change.
    var sidecar: (Sidecar, change: Int)?
    /// Whether all of the audio files have their names on the disk. A new part's is there once the sidecar was replaced.
    let isNamed: Bool
    let progress: TakeProgress

    /// Syncs the audio, then replaces the sidecar if it changed.
    ///
    /// It takes as long as the storage does. Does nothing if the take has ended meanwhile.
    /// - Throws: `FileError`: the take is to be abandoned. Every later sync of the take throws the same.
    public func run() throws(FileError) {
        try progress.turn.withLock { _ throws(FileError) in
            let before = progress.now
            if before.isOver { return }
            if let failure = before.failure { throw failure }
            do throws(FileError) {
                var site = site
                var audio = audio
                try site.perform(.sync, audio: &audio)
                // The sound is safe now, whatever the sidecar takes.
                if isNamed { progress.didSync(frames: frames, sidecarChange: nil) }
                if let (sidecar, change) = sidecar, change > before.sidecarChange {
                    try site.perform(.replaceSidecar, content: SidecarFile.bytes(sidecar))
                }
            } catch {
                progress.didFail(error)
                throw error
            }
            progress.didSync(frames: frames, sidecarChange: sidecar?.change)
        }
    }
}

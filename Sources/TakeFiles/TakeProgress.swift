import Synchronization

/// How far a take is on the disk: shared by the writer, which appends, and the sync thread.
final class TakeProgress: Sendable {
    /// Held while the sync thread syncs, and while the take ends: they never do so at once.
    let turn = Mutex<Void>(())
    /// Held for an instant only, so that the writer never waits for the disk here.
    private let state = Mutex(State())

    struct State {
        /// Frames of the take that are on the disk.
        var syncedFrames: Int64 = 0
        /// The last change of the sidecar that is on the disk.
        var sidecarChange = 0
        /// The first sync that failed. None after it is believed: the kernel reports a lost write once, and then forgets it.
        var failure: FileError?
        /// Nothing is to be synced any more.
        var isOver = false
    }

    var now: State { state.withLock { $0 } }

    func didSync(frames: Int64, sidecarChange: Int?) {
        state.withLock {
            $0.syncedFrames = max($0.syncedFrames, frames)
            $0.sidecarChange = max($0.sidecarChange, sidecarChange ?? 0)
        }
    }

    func didFail(_ error: FileError) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    func end() {
        state.withLock { $0.isOver = true }
    }
}

import Glibc
import Takes

/// Waits for a PCM that another thread of this process has open for a moment, for example for a listing or a check-up.
/// Without the wait, the recording would find the card busy.
struct OwnUse {
    /// The longest wait for a PCM.
    static let patience = Duration.seconds(2)
    /// The time between two attempts.
    static let interval = Duration.milliseconds(20)

    /// The holder of a PCM.
    enum Holder { case none, thisProcess, another }

    /// Finds the holder of the PCM.
    var holder: () -> Holder
    /// Waits for `interval`.
    var wait: () -> Void = { usleep(useconds_t(OwnUse.interval.nanoseconds / 1000)) }

    /// Opens a PCM, and retries while it is busy because this process holds it.
    /// - Throws: the error of the last attempt.
    func open<PCM: ~Copyable>(_ attempt: () throws(SoundCardError) -> PCM) throws(SoundCardError) -> PCM {
        for _ in 0..<Int(Self.patience / Self.interval) {
            do throws(SoundCardError) {
                return try attempt()
            } catch {
                guard error.code == EBUSY else { throw error }
                switch holder() {
                case .thisProcess: wait()
                // The PCM may have been closed since the attempt.
                case .none: return try attempt()
                case .another: throw error
                }
            }
        }
        return try attempt()
    }
}

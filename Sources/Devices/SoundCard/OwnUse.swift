import Glibc
import Takes

/// Waits for a PCM that another thread of this process has open for a moment, as a listing or a check-up has: without it, the card
/// that is to record would be found busy.
struct OwnUse {
    /// How long a PCM is waited for.
    static let patience = Duration.seconds(2)
    /// How often it is tried.
    static let interval = Duration.milliseconds(20)

    /// Who holds a PCM.
    enum Holder { case none, thisProcess, another }

    /// Finds out who holds the PCM.
    var holder: () -> Holder
    /// Waits for `interval`.
    var wait: () -> Void = { usleep(useconds_t(OwnUse.interval.nanoseconds / 1000)) }

    /// Opens a PCM, again and again while it is busy because this process holds it.
    /// - Throws: the error of the last attempt.
    func open<PCM: ~Copyable>(_ attempt: () throws(SoundCardError) -> PCM) throws(SoundCardError) -> PCM {
        for _ in 0..<Int(Self.patience / Self.interval) {
            do throws(SoundCardError) {
                return try attempt()
            } catch {
                guard error.code == EBUSY else { throw error }
                switch holder() {
                case .thisProcess: wait()
                // It may have been closed since the attempt.
                case .none: return try attempt()
                case .another: throw error
                }
            }
        }
        return try attempt()
    }
}

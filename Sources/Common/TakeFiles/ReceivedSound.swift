import Takes

/// The sound that was received for takes that failing storage ended. Their audio files may not match it. May be used by
/// any thread.
final class ReceivedSound: Sendable {
    /// By audio file.
    private let takes = Locked<[TakeName: [String: WrittenSound]]>([:])

    func keep(_ audio: [AudioFile], of take: TakeName) {
        let sound = Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0.written) })
        takes.withLock { $0[take] = sound }
    }

    /// The sound of a take, by audio file. Empty if its audio files contain exactly what was received.
    func sound(of take: TakeName) -> [String: WrittenSound] { takes.withLock { $0[take] ?? [:] } }

    /// Forgets the sound of a recovered take.
    func discard(_ take: TakeName) { takes.withLock { $0[take] = nil } }
}

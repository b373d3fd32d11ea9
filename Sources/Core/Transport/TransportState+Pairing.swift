import Takes

// Play was held, alone or with stop. Its press has already acted.
extension TransportState {
    /// Opens pairing, and stops the sound that the press at `pressed` started, because the hold is meant for pairing,
    /// not for listening.
    mutating func pair(_ pressed: Instant) -> [TransportEffect] {
        isShuttingDown ? [] : silence(pressed) + [.pair]
    }

    /// Requests the kit's own access point. Physical access also grants pairing.
    func openAccess() -> [TransportEffect] { isShuttingDown ? [] : [.openAccess, .pair] }

    /// Adopts the inserted stick, so that takes are sent to it, and stops the sound that the press of play started.
    mutating func adoptStick(_ pressed: Instant) -> [TransportEffect] {
        isShuttingDown ? [] : silence(pressed) + [.adoptStick]
    }

    private mutating func silence(_ pressed: Instant) -> [TransportEffect] {
        switch phase {
        case .idle, .resting, .recording, .finishing: return []
        case .arming(var arming):
            arming.waiting.removeAll { $0 == .press(.play, at: pressed) }
            phase = .arming(arming)
            return []
        case .playing(var playing):
            guard playing.stage == .running else { return [] }
            switch playing.sounding {
            case .begun(by: pressed): return stop(playing, Finish())
            case .resumed(by: pressed):
                playing.sounding = .asBefore
                // A command may have paused it since.
                return playing.motion == .running ? change(playing, .pause, by: nil) : []
            case .asBefore, .begun, .resumed: return []
            }
        }
    }

    /// Whether the kit or the process is ending.
    private var isShuttingDown: Bool {
        switch phase {
        case .idle: false
        case .resting, .finishing: true
        case .arming(let arming): arming.waiting.contains(where: \.endsAll)
        case .recording(let recording): recording.stage.finish.endsAll
        case .playing(let playing): playing.stage.finish.endsAll
        }
    }
}

extension TransportEvent {
    /// Whether no further activity may follow the event.
    var endsAll: Bool {
        switch self {
        case .shutdown, .finish: true
        default: false
        }
    }
}

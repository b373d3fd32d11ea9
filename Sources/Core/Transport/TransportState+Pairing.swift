import Takes

// Play was held on, alone or with stop. It has acted at its press already.
extension TransportState {
    /// Opens pairing, and takes back what the press at `pressed` has made sound: the person wants to pair, not to listen.
    mutating func pair(_ pressed: Instant) -> [TransportEffect] {
        isShuttingDown ? [] : silence(pressed) + [.pair]
    }

    /// Asks for the kit's own access point. Who has hands on the kit, and wants to reach it, may pair too.
    func openAccess() -> [TransportEffect] { isShuttingDown ? [] : [.openAccess, .pair] }

    /// Has the stick that is in be one that takes are sent to, and takes back what the press of play has made sound.
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

    /// Whether the kit is to be switched off, or the process to end.
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
    /// Whether nothing is to follow it.
    var endsAll: Bool {
        switch self {
        case .shutdown, .finish: true
        default: false
        }
    }
}

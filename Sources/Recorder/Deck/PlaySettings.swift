import Playback
import Takes
import Transport

/// The settings for playback.
struct PlaySettings {
    var volume: Double
    var tuning: Tuning

    mutating func apply(_ change: PlayChange) {
        switch change {
        case .volume(let volume): self.volume = volume
        case .pitch(let cents): tuning.pitchCents = cents
        case .speed(let factor, let expands): (tuning.speed, tuning.expands) = (factor, expands)
        case .pause, .resume, .skip: break
        }
    }
}

struct Played {
    var facts: PlayFacts
    var progress: PlayProgress?
}

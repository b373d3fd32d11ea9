import Playback
import Recording
import Ring
import TakeFiles
import Takes
import Transport

// The log lines about cards and takes.
extension Report {
    static func opened(_ grant: CaptureGrant, _ ring: Ring) -> Report {
        Report(
            .info,
            "capture: \(grant.card): \(grant.name): \(grant.summary), period \(grant.periodFrames), "
                + "buffer \(grant.bufferFrames), ring \(ring.duration.inSeconds) s in \(ring.byteCount >> 10) KiB")
    }

    static func set(_ gain: CardGain, of grant: CaptureGrant) -> Report {
        let level = gain.gainDB.map { "gain \(decibelText($0)) dB" }
        let control = gain.agc.map { "automatic gain control \($0 ? "on" : "off")" }
        return Report(.info, "capture: \(grant.card): \([level, control].compactMap(\.self).joined(separator: ", "))")
    }

    static func moves(from grant: CaptureGrant, to better: CardReference) -> Report {
        Report(.notice, "capture: \(better): is better than \(grant.card), and takes its place")
    }

    static func brokenPromise(_ promise: Duration, kept: Duration) -> Report {
        Report(
            .warning,
            "takes.sync_seconds: \(promise.inSeconds) s cannot be kept with this card: up to \(kept.inSeconds) s are "
                + "not on disk")
    }

    /// - Parameter before: the grant of the take's card before the card went away, or nil if it is not known.
    static func goesOn(
        _ take: TakeName?, after away: Duration, with grant: CaptureGrant, insteadOf before: CaptureGrant?
    ) -> Report {
        let sentence =
            "record: \(take?.stem ?? "the take") goes on after \(seconds(away.inSeconds)) at \(grant.format.summary)"
        guard let before, before.place != grant.place else { return Report(.notice, sentence) }
        return Report(.warning, "\(sentence), with \(grant.place.summary) instead of \(before.place.summary)")
    }

    static func goesOnInAnother(
        _ take: TakeName?, with grant: CaptureGrant, insteadOf before: CaptureGrant
    ) -> Report {
        func channels(_ grant: CaptureGrant) -> String {
            "\(grant.format.channels) channel\(grant.format.channels == 1 ? "" : "s")"
        }
        return Report(
            .warning,
            "record: \(take?.stem ?? "the take") ends: \(grant.card) is back with \(channels(grant)) instead of "
                + "\(before.format.channels): the sound goes on in another take")
    }

    static func cardStaysAway(_ grant: CaptureGrant?) -> Report {
        let minutes = Int(TransportRules.cardPatience.inSeconds) / 60
        return Report(.error, "record: \(grant?.card ?? "the card"): away for \(minutes) min: the take ends")
    }

    static func ended(_ take: TakeName, _ sidecar: Sidecar) -> Report {
        Report(
            .info,
            "stop: \(take.stem): \(length(sidecar)), \(sidecar.gaps.count) gaps, ended by \(ending(sidecar))")
    }

    static func recovered(_ take: TakeName, _ sidecar: Sidecar) -> Report {
        Report(.notice, "recover: \(take.stem): \(length(sidecar)), ended by \(ending(sidecar))")
    }

    static func plays(_ take: TakeName, _ facts: PlayFacts) -> Report {
        Report(.info, "play: \(take.stem): \(seconds(facts.seconds)) on \(facts.summary)")
    }

    private static func length(_ sidecar: Sidecar) -> String {
        "\(sidecar.frames) frames, \(seconds(sidecar.durationSeconds))"
    }

    private static func ending(_ sidecar: Sidecar) -> String { sidecar.endedBy?.rawValue ?? "unknown" }
}

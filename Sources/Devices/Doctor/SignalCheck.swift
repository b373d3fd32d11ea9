import Filters
import Takes

/// Checks whether the card's sound comes from a working microphone.
struct SignalCheck {
    var card: String
    var summary: SignalSummary
    /// The numbers of the recorded channels on the card, or nil if all channels are recorded.
    var numbers: [Int]?

    /// At the usual gains a quiet room is between −70 and −50 dBFS, and an unconnected input is below.
    static let quietBelowDBFS = -70.0
    /// No working converter has an offset of more than a hundredth of full scale.
    static let mostOffset = 0.01

    var findings: [Finding] {
        let channels = summary.channels.indices
        let dead = channels.filter { summary.channels[$0].isDead(in: summary.format) }
        let alive = channels.filter { !dead.contains($0) }
        let clipped = alive.filter { summary.channels[$0].clippedFrames > 0 }
        let offset = alive.filter { summary.channels[$0].offset.magnitude > Self.mostOffset }
        let quiet = alive.filter { channel in
            !offset.contains(channel)
                && SignalSummary.dBFS(summary.channels[channel].alternatingRMS) ?? -.infinity < Self.quietBelowDBFS
        }
        var found: [Finding] = []
        if !dead.isEmpty { found.append(finding(ofDead: dead, areAll: alive.isEmpty)) }
        if !clipped.isEmpty {
            let list = each(clipped) { "\($0.clippedFrames) of \(summary.frameCount) samples at full scale" }
            found.append(.failure(.signal, "\(card): clips: \(list): turn the gain down", figures(clipped)))
        }
        if !offset.isEmpty {
            let list = each(offset) { channel in
                "\(rounded(100 * channel.offset)) % of full scale (\(decibels(channel.offset.magnitude)))"
            }
            found.append(
                .failure(
                    .signal,
                    "\(card): a DC offset: \(list): have the input repaired; until then set filter.high_pass_hz = 20",
                    figures(offset)))
        }
        if !quiet.isEmpty {
            let list = each(quiet) { "RMS \(decibels($0.alternatingRMS))" }
            found.append(
                .warning(
                    .signal,
                    "\(card): very quiet: \(list): speak, and run this again; if it stays so, check the microphone, its "
                        + "cable and the gain", figures(quiet)))
        }
        guard found.isEmpty else { return found }
        let list = each(Array(channels)) { "peak \(decibels($0.peak)), RMS \(decibels($0.alternatingRMS))" }
        return [.ok(.signal, "\(card): \(seconds) s sampled: \(list)", figures(Array(channels)))]
    }

    /// Many cards have an unconnected channel, so one dead channel among others is a warning and not a failure.
    private func finding(ofDead dead: [Int], areAll: Bool) -> Finding {
        let list = each(dead) { channel in
            if channel.peak == 0 { return "digital silence" }
            guard channel.offset.magnitude > ChannelSignal.leastRMS(summary.format) else {
                return "RMS \(decibels(channel.alternatingRMS))"
            }
            return "stuck at \(decibels(channel.offset.magnitude))"
        }
        guard !areAll else {
            return .failure(
                .signal,
                "\(card): dead: \(list): check the microphone, its cable and its power, and that the input is not "
                    + "switched off in the mixer", figures(dead))
        }
        return .warning(
            .signal,
            "\(card): dead on one side: \(list), while the rest has a signal: right if nothing is wired to it, else check "
                + "its microphone and cable", figures(dead))
    }

    private var seconds: String {
        rounded(Double(summary.frameCount) / Double(summary.format.rateHz))
    }

    private func each(_ channels: [Int], _ text: (ChannelSignal) -> String) -> String {
        channels.map { "channel \(number($0)): \(text(summary.channels[$0]))" }.joined(separator: "; ")
    }

    private func number(_ channel: Int) -> Int { numbers?[channel] ?? channel + 1 }

    private func decibels(_ part: Double) -> String {
        SignalSummary.dBFS(part).map { "\(rounded($0)) dBFS" } ?? "silence"
    }

    private func figures(_ channels: [Int]) -> [String: Figure] {
        var figures: [String: Figure] = [
            "frames": .count(summary.frameCount), "rate_hz": .count(summary.format.rateHz),
        ]
        for index in channels {
            let channel = summary.channels[index]
            let name = "channel_\(number(index))"
            figures["\(name)_peak_dbfs"] = SignalSummary.dBFS(channel.peak).map { .number($0) } ?? .unknown
            figures["\(name)_rms_dbfs"] = SignalSummary.dBFS(channel.alternatingRMS).map { .number($0) } ?? .unknown
            figures["\(name)_offset_percent"] = .number(100 * channel.offset)
            figures["\(name)_clipped_frames"] = .count(Int(channel.clippedFrames))
        }
        return figures
    }
}

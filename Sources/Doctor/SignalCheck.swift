import Takes

/// Whether what the card hears is a microphone that works.
struct SignalCheck {
    /// The stable id of the card.
    var card: String
    var summary: SignalSummary

    /// All samples within one step of 16 bits: no converter is that quiet with something plugged in.
    static let deadBelow = 3e-5
    /// A quiet room lies between −70 and −50 dBFS at the usual gains, an input with nothing plugged in below.
    static let quietBelowDBFS = -70.0
    /// More than a hundredth of full scale is no converter's own offset.
    static let mostOffset = 0.01

    var findings: [Finding] {
        let channels = summary.channels.indices
        let dead = channels.filter { isDead(summary.channels[$0]) }
        let alive = channels.filter { !dead.contains($0) }
        let clipped = alive.filter { summary.channels[$0].clipped > 0 }
        let offset = alive.filter { summary.channels[$0].offset.magnitude > Self.mostOffset }
        let quiet = alive.filter { channel in
            !offset.contains(channel)
                && SignalSummary.dBFS(summary.channels[channel].rms) ?? -.infinity < Self.quietBelowDBFS
        }
        var found: [Finding] = []
        if !dead.isEmpty { found.append(tellOfDead(dead, areAll: alive.isEmpty)) }
        if !clipped.isEmpty {
            let told = each(clipped) { "\($0.clipped) of \(summary.frameCount) samples at full scale" }
            found.append(.failure(.signal, "\(card): clips: \(told): turn the gain down", figures(clipped)))
        }
        if !offset.isEmpty {
            let told = each(offset) { channel in
                "\(rounded(100 * channel.offset)) % of full scale (\(decibels(channel.offset.magnitude)))"
            }
            found.append(
                .failure(
                    .signal,
                    "\(card): a DC offset: \(told): have the input looked at; until then set filter.high_pass_hz = 20",
                    figures(offset)))
        }
        if !quiet.isEmpty {
            let told = each(quiet) { "RMS \(decibels($0.rms))" }
            found.append(
                .warning(
                    .signal,
                    "\(card): very quiet: \(told): speak, and run this again; if it stays so, check the microphone, its "
                        + "cable and the gain", figures(quiet)))
        }
        guard found.isEmpty else { return found }
        let told = each(Array(channels)) { "peak \(decibels($0.peak)), RMS \(decibels($0.rms))" }
        return [.ok(.signal, "\(card): \(seconds) s heard: \(told)", figures(Array(channels)))]
    }

    private func isDead(_ channel: SignalSummary.Channel) -> Bool {
        channel.greatest - channel.least < Self.deadBelow
    }

    /// Many cards have a channel that nothing is wired to: it is told, and is no failure.
    private func tellOfDead(_ dead: [Int], areAll: Bool) -> Finding {
        let told = each(dead) { channel in
            channel.offset.magnitude < Self.deadBelow
                ? "digital silence" : "stuck at \(decibels(channel.offset.magnitude))"
        }
        guard !areAll else {
            return .failure(
                .signal,
                "\(card): dead: \(told): check the microphone, its cable and its power, and that the input is not "
                    + "switched off in the mixer", figures(dead))
        }
        return .warning(
            .signal,
            "\(card): dead on one side: \(told), while the rest is heard: right if nothing is wired to it, else check "
                + "its microphone and cable", figures(dead))
    }

    private var seconds: String {
        rounded(Double(summary.frameCount) / Double(summary.format.rateHz))
    }

    private func each(_ channels: [Int], _ tell: (SignalSummary.Channel) -> String) -> String {
        channels.map { "channel \($0 + 1): \(tell(summary.channels[$0]))" }.joined(separator: "; ")
    }

    private func decibels(_ part: Double) -> String {
        SignalSummary.dBFS(part).map { "\(rounded($0)) dBFS" } ?? "silence"
    }

    private func figures(_ channels: [Int]) -> [String: Figure] {
        var figures: [String: Figure] = [
            "frames": .count(summary.frameCount), "rate_hz": .count(summary.format.rateHz),
        ]
        for number in channels {
            let channel = summary.channels[number]
            let name = "channel_\(number + 1)"
            figures["\(name)_peak_dbfs"] = SignalSummary.dBFS(channel.peak).map { .number($0) } ?? .unknown
            figures["\(name)_rms_dbfs"] = SignalSummary.dBFS(channel.rms).map { .number($0) } ?? .unknown
            figures["\(name)_offset_percent"] = .number(100 * channel.offset)
            figures["\(name)_clipped_frames"] = .count(channel.clipped)
        }
        return figures
    }
}

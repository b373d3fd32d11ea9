import Filters
import Glibc
package import Takes
package import Transport

/// Whether each channel's microphone answers when it is tapped. Pure: the levels go in, the checks come out.
package struct MicrophoneTrial: Equatable, Sendable {
    /// What came of asking for a tap.
    package enum Tap: Equatable, Sendable {
        /// Something was loud, the greatest level of each channel.
        case levels([Level])
        /// The person did not want to, or could not be asked: why.
        case skipped(String)
    }

    /// The greatest levels of each channel before a tap, in dBFS.
    private(set) var quiet: [Level]
    private let format: StreamFormat
    private let numbers: [Int]

    /// How long the quiet is measured.
    package static let quietLength = Duration.seconds(3)
    /// How long a tap is waited for.
    package static let patience = Duration.seconds(20)
    /// What belongs to a tap after its first loud moment.
    package static let tapLength = Duration.milliseconds(500)
    /// A tap is so many dB above the quiet: it is so easily, and a voice some way off is not.
    static let leastRise = 12.0
    /// A quiet below this counts as this, in dBFS, so that a rise within the noise is none.
    static let leastQuiet = -70.0
    /// A neighbour that is so many dB louder than the microphone that was tapped was tapped itself.
    static let mostBehind = 6.0

    /// - Parameters:
    ///   - quiet: levels of the quiet, 0.1 s each.
    ///   - format: what the card delivers.
    ///   - numbers: of the card's channels that are measured; nil: all of them.
    package init(quiet: [[Level]], format: StreamFormat, numbers: [Int]? = nil) {
        self.quiet = Self.greatest(quiet, channels: format.channels)
        self.format = format
        self.numbers = numbers ?? Array(1...format.channels)
    }

    /// The greatest levels of each channel.
    package static func greatest(_ levels: [[Level]], channels: Int) -> [Level] {
        (0..<channels).map { channel in
            let own = levels.compactMap { $0.indices.contains(channel) ? $0[channel] : nil }
            return Level(peak: own.compactMap(\.peak).max(), rms: own.compactMap(\.rms).max())
        }
    }

    /// Whether any channel is as loud as a tap.
    package func isTap(_ levels: [Level]) -> Bool {
        quiet.indices.contains { rise(of: $0, in: levels) >= Self.leastRise }
    }

    /// The check of a report.
    /// - Parameter channel: whose microphone was to be tapped, from 0.
    package func check(_ channel: Int, _ tap: Tap) -> AcceptanceCheck {
        let name = "channel \(numbers[channel])"
        let levels: [Level]
        switch tap {
        case .levels(let sampled): levels = sampled
        case .skipped(let reason):
            return AcceptanceCheck(.microphone, name, .skipped, reason, figures(channel, nil))
        }
        let measured =
            "quiet at peak \(decibels(quiet[channel].peak)), RMS \(decibels(quiet[channel].rms)), tapped at peak "
            + decibels(levels.indices.contains(channel) ? levels[channel].peak : nil)
        func check(_ outcome: AcceptanceCheck.Outcome, _ end: String) -> AcceptanceCheck {
            AcceptanceCheck(.microphone, name, outcome, measured + end, figures(channel, levels))
        }
        let own = rise(of: channel, in: levels)
        let loudest = quiet.indices.max { (peak($0, levels), $1) < (peak($1, levels), $0) } ?? channel
        if own >= Self.leastRise {
            guard peak(loudest, levels) > peak(channel, levels) + Self.mostBehind else { return check(.ok, "") }
            return check(
                .failed,
                ": channel \(numbers[loudest]) was louder, at \(decibels(levels[loudest].peak)): the two microphones are interchanged, "
                    + "or the other one was tapped")
        }
        if isDead(channel, levels) {
            return check(
                .failed,
                ": the channel is dead: check its microphone, its cable and its power, and the mixer's switches")
        }
        if loudest != channel, rise(of: loudest, in: levels) >= Self.leastRise {
            return check(
                .failed,
                ": channel \(numbers[loudest]) answered instead, at \(decibels(levels[loudest].peak)): the two microphones are "
                    + "interchanged, or this one does not work")
        }
        return check(
            .failed,
            ": no tap was sampled, which is at least \(rounded(Self.leastRise)) dB above the quiet: check the microphone, its "
                + "cable and the gain")
    }

    private func peak(_ channel: Int, _ levels: [Level]) -> Double {
        guard levels.indices.contains(channel) else { return -.infinity }
        return levels[channel].peak ?? -.infinity
    }

    /// How much louder than the quiet a channel is, in dB.
    private func rise(of channel: Int, in levels: [Level]) -> Double {
        peak(channel, levels) - max(Self.leastQuiet, quiet[channel].peak ?? -.infinity)
    }

    /// Whether a channel has nothing but its own converter's noise, tapped or not.
    private func isDead(_ channel: Int, _ levels: [Level]) -> Bool {
        let least = 20 * log10(ChannelSignal.leastRMS(format))
        let rms = [quiet[channel].rms, levels.indices.contains(channel) ? levels[channel].rms : nil]
        return rms.allSatisfy { $0 ?? -.infinity < least }
    }

    private func figures(_ channel: Int, _ levels: [Level]?) -> [String: Figure] {
        func figure(_ value: Double?) -> Figure { value.map { .number($0) } ?? .unknown }
        var figures = [
            "quiet_peak_dbfs": figure(quiet[channel].peak), "quiet_rms_dbfs": figure(quiet[channel].rms),
        ]
        if let levels {
            for (number, level) in levels.enumerated() where numbers.indices.contains(number) {
                figures["tap_channel_\(numbers[number])_peak_dbfs"] = figure(level.peak)
            }
        }
        return figures
    }

    private func decibels(_ level: Double?) -> String { level.map { "\(rounded($0)) dBFS" } ?? "silence" }
}

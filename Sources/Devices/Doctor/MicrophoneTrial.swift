import Filters
import Glibc
package import Takes
package import Transport

/// Checks whether each channel's microphone responds to a tap. Pure: levels are the input, and checks are the output.
package struct MicrophoneTrial: Equatable, Sendable {
    /// The outcome of asking for a tap.
    package enum Tap: Equatable, Sendable {
        /// There was a loud sound. The greatest level of each channel.
        case levels([Level])
        /// The person refused, or could not be asked. The text is the reason.
        case skipped(String)
    }

    /// The greatest levels of each channel before a tap, in dBFS.
    private(set) var quiet: [Level]
    private let format: StreamFormat
    private let numbers: [Int]

    /// How long the quiet is measured.
    package static let quietLength = Duration.seconds(3)
    /// The longest wait for a tap.
    package static let patience = Duration.seconds(20)
    /// The length of a tap after its first loud moment.
    package static let tapLength = Duration.milliseconds(500)
    /// A tap is at least this many dB above the quiet. A tap easily exceeds this, and a distant voice does not.
    static let leastRise = 12.0
    /// A lower quiet level is replaced by this one, in dBFS, so that a rise within the noise does not count.
    static let leastQuiet = -70.0
    /// A neighbour that is louder than the tapped microphone by more than this, in dB, was itself tapped.
    static let mostBehind = 6.0

    /// - Parameters:
    ///   - quiet: levels of the quiet, 0.1 s each.
    ///   - format: the format that the card delivers.
    ///   - numbers: the numbers of the measured channels on the card, or nil if all are measured.
    package init(quiet: [[Level]], format: StreamFormat, numbers: [Int]? = nil) {
        self.quiet = Self.greatest(quiet, channels: format.channels)
        self.format = format
        self.numbers = numbers ?? Array(1...format.channels)
    }

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

    /// The check for the report.
    /// - Parameter channel: the channel whose microphone had to be tapped, from 0.
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

    /// Whether a channel contains only its own converter's noise, before and during the tap.
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

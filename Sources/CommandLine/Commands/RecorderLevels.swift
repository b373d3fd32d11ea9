import Control
import Doctor
import Ring
import Takes
import Transport

/// The levels of a card that the recorder has open.
final class RecorderLevels: LevelSource {
    private let client: ControlClient
    let card: String?
    let format: StreamFormat
    let channelNumbers: [Int]
    /// As of the start of watching.
    let rateComplaint: String?
    /// As of the start of watching.
    let fallComplaint: String?

    /// Starts watching the recorder.
    /// - Throws: why the levels are unavailable.
    init(_ client: ControlClient) throws(LevelFailure) {
        self.client = client
        let status: Status
        do throws(ControlError) {
            status = try client.askForStatus(.watch(peaks: false)).0
        } catch {
            throw LevelFailure("\(error)")
        }
        guard let rateHz = status.rateHz, let channels = status.channels, let format = status.format else {
            let fault = status.faults.first { $0.code == .noCard }
            throw LevelFailure(
                fault?.message
                    ?? "the recorder keeps the card closed while idle: stop it ('systemctl stop fieldfare-recorder') and run this "
                    + "again")
        }
        card = status.card
        let sentences = status.faults.map(\.message)
        rateComplaint = sentences.first(where: RateMeasure.isComplaint)
        let falls = sentences.filter(SignalFall.isComplaint)
        fallComplaint = falls.isEmpty ? nil : falls.joined(separator: "; ")
        channelNumbers = status.channelsOfCard ?? Array(1...max(1, channels))
        self.format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: format)
    }

    func next(until limit: Instant) throws(LevelFailure) -> [Level]? {
        do throws(ControlError) {
            while let (event, _) = try client.nextEvent(until: limit) {
                if case .level(let level) = event { return level.levelDBFS }
            }
            return nil
        } catch {
            throw LevelFailure("\(error)")
        }
    }
}

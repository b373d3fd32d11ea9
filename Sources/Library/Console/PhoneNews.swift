import Control
import Logging
import Takes
import Transport

/// Records events about phones in the log and in the kit's history.
struct PhoneNews: Sendable {
    let recorder: RecorderDesk
    let log: Logger

    /// Reports an event. Without the recorder, which keeps the history, only the log has it.
    func report(_ event: PhoneEvent, from address: BrowserAddress? = nil) async {
        log.notice("console: \(Self.sentence(event))\(address.map { ", from \($0)" } ?? "")")
        do {
            _ = try await recorder.ask(.phone(event), patience: PairingDesk.patience)
        } catch {
            log.warning("console: the history does not have that: \(error)")
        }
    }

    /// Reports a wrong code. The recorder counts them.
    func reportWrongCode(from address: BrowserAddress) {
        log.warning("console: a wrong pairing code came from \(address)")
    }

    static func sentence(_ event: PhoneEvent) -> String {
        let (phone, by) = (event.phone ?? "", event.by.map { "the phone \($0)" } ?? "a phone that is not paired")
        return switch event.what {
        case .paired: "the phone \(phone) was paired"
        case .renamed: "\(by) was renamed to \(phone)"
        case .removed: "the phone \(phone) was removed by \(event.phone == event.by ? "itself" : by)"
        case .settings: "the settings were changed by \(by): \((event.keys ?? []).joined(separator: ", "))"
        case .stick: "the stick that is in was adopted by \(by)"
        case .wrongCodes: "pairing was ended by wrong codes"
        }
    }
}

import Takes
package import Transport

/// The outcome of asking a person to press a button.
package enum ButtonTrial: Equatable, Sendable {
    case seen(after: Duration)
    /// Another button was pressed instead.
    case other(Button)
    /// No button was pressed within `patience`.
    case unseen
    /// The button was already down before the request.
    case heldDown
    /// The button's line is not open. The text is one sentence.
    case failed(String)
    /// The person refused, or could not be asked. The text is the reason.
    case skipped(String)

    /// The longest wait for a press.
    package static let patience = Duration.seconds(20)

    /// The check for the report.
    /// - Parameter line: the button's line and its chip, in words for people.
    package func check(_ button: Button, line: String) -> AcceptanceCheck {
        let name = button.rawValue
        func failed(_ message: String) -> AcceptanceCheck {
            AcceptanceCheck(.buttons, name, .failed, message, ["line": .text(line)])
        }
        switch self {
        case .seen(let duration):
            let seconds = duration.inSeconds
            return AcceptanceCheck(
                .buttons, name, .ok, "\(line): seen after \(rounded(seconds)) s",
                ["line": .text(line), "seconds": .number(seconds)])
        case .other(let other):
            return failed(
                "\(line): \(name) was asked for, and \(other.rawValue) was seen: if \(name) was pressed, its wire and that of "
                    + "\(other.rawValue) are interchanged, or their lines in the settings")
        case .unseen:
            return failed(
                "\(line): no press was seen in \(Self.patience.components.seconds) s: check its wire and its ground, the pin, and "
                    + "line, pull and active_low in the settings")
        case .heldDown:
            return failed(
                "\(line): is held down, or shorted, or wired the other way round: release it, check its wire, active_low and pull"
            )
        case .failed(let sentence): return failed(sentence)
        case .skipped(let reason): return AcceptanceCheck(.buttons, name, .skipped, reason)
        }
    }
}

/// The source of the panel's button presses.
package protocol PressSource: AnyObject {
    /// Readable when there may be a press. If it is negative, the source must be polled from time to time.
    var fileDescriptor: Int32 { get }
    /// Buttons that were down from the start.
    var heldDown: Set<Button> { get }
    /// Why presses of a button cannot be detected, in one sentence, or nil if they can.
    func problem(of button: Button) -> String?
    /// The presses since the last call, in order.
    func presses() -> [Button]
}

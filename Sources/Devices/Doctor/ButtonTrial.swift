import Takes
package import Transport

/// What came of asking a person for a button.
package enum ButtonTrial: Equatable, Sendable {
    /// The button was seen.
    case seen(after: Duration)
    /// Another one was seen instead.
    case other(Button)
    /// None was seen in `patience`.
    case unseen
    /// It was down before it was asked for.
    case heldDown
    /// Its line is not open: a sentence.
    case failed(String)
    /// The person did not want to, or could not be asked: why.
    case skipped(String)

    /// How long a press is waited for.
    package static let patience = Duration.seconds(20)

    /// The check of a report.
    /// - Parameter line: the button's line and its chip, as a person finds them.
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

/// Where the presses of the panel's buttons come from.
package protocol PressSource: AnyObject {
    /// Readable when there may be a press; negative: it is to be asked from time to time.
    var fileDescriptor: Int32 { get }
    /// Buttons that were down from the start.
    var heldDown: Set<Button> { get }
    /// Why no press of a button can be seen, a sentence; nil: it can.
    func problem(of button: Button) -> String?
    /// The presses since the last call, in their order.
    func presses() -> [Button]
}

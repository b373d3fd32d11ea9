public import Ring
public import Takes
public import Transport

/// What happens at the deck that a kit's history keeps.
public enum DeckEvent: Sendable {
    /// A button was pressed, or held: its name, or what was held.
    case pressed(String)
    /// A take began.
    case began(TakeName)
    /// The take that is recorded was ordered to end.
    case ending(TakeEnding)
    /// A take was finished, or recovered.
    case finished(Sidecar)
    /// These are all faults from here on.
    case faults([Fault])
    /// A card was opened that is another than before, or delivers something else.
    case opened(CaptureGrant)
    /// A phone was paired or removed, or changed the settings.
    case phone(PhoneEvent)
}

extension TransportEvent {
    /// The button that was pressed, or what buttons were held for; nil: it is no event of the panel.
    var press: String? {
        switch self {
        case .press(let button, _): button.rawValue
        case .lock: "lock"
        case .eject: "eject"
        case .shutdown(_, .hold): "shutdown"
        case .pair: "pair"
        case .openAccess: "access"
        case .adoptStick: "stick"
        default: nil
        }
    }
}

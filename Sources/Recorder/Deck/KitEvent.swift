public import Ring
public import Takes
public import Transport

/// An event that the kit's history keeps.
public enum KitEvent: Sendable {
    /// The name of the button that was pressed, or of the action that buttons were held for.
    case pressed(String)
    case began(TakeName)
    /// The take in progress was ordered to end.
    case ending(TakeEnding)
    /// A take was finished or recovered.
    case finished(Sidecar)
    /// The complete list of faults from now on.
    case faults([Fault])
    /// Another card was opened, or the card with another grant than before.
    case opened(CaptureGrant)
    /// A phone was paired or removed, or changed the settings.
    case phone(PhoneEvent)
}

extension TransportEvent {
    /// The button that was pressed, or the action that buttons were held for. Nil if it is not an event of the panel.
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

public import Live
public import Transport

/// The deck's events. The deck does not go on until the receiver has handled an event.
public enum DeckEvent: Sendable {
    /// The lamps or the status may have changed.
    case changed
    /// A take will be recorded or played. Nothing is done for it yet.
    case takeAhead
    /// A take was finished, revised or deleted on disk.
    case takeChanged(TakeChange)
    /// The position of a take in the ring is known, it has changed, or the take has ended.
    case live(LiveTake)
    /// The library must carry out a request that was made at the buttons.
    case wish(PanelWish)
    /// The stick's folder is closed for an eject, and the stick must be unmounted.
    case eject
    /// A person asked for the kit's own access point.
    case openAccess
    /// The kit must be switched off. No take is being recorded.
    case powerOff
    case happened(KitEvent)
}

/// The receiver of the deck's events. Events wait until there is one.
enum EventOutlet {
    case waiting([DeckEvent])
    case open((DeckEvent) -> Void)
}

extension Deck {
    /// Sets the receiver of the events. It gets the events from before at once.
    public func deliverEvents(to receiver: @escaping (DeckEvent) -> Void) {
        let before = outlet
        outlet = .open(receiver)
        if case .waiting(let events) = before { events.forEach(receiver) }
    }

    func announce(_ event: DeckEvent) {
        switch outlet {
        case .waiting(let events): outlet = .waiting(events + [event])
        case .open(let receiver): receiver(event)
        }
    }
}

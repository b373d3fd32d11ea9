import Takes

// What the deck does when the date is set.
extension Deck {
    /// The date was set, or it became known where it comes from: the takes of this boot are dated by it, and the fault is
    /// judged anew.
    public func clockChanged() {
        nextTick = clock.now()
        if case .recording = phase {
            writer.orders.post(.date(trueStart))
            // It may be too late for that.
            isDatingDue = true
        }
        dateTakes()
    }

    func dateTakes() {
        archivist.orders.post(.date(trueStart, kit: options.kit))
    }

    /// By what the takes of this boot are dated now.
    var trueStart: TrueStart {
        TrueStart(
            bootID: options.bootID, offset: clock.offset(), origin: originOfClock(selection.takes.last?.day))
    }
}

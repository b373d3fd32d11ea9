import Takes
public import Transport

// The pairing of phones.
extension Deck {
    public var isPairing: Bool { pairing.isOpen(at: clock.now()) }

    /// Called when play was held, or when an access point was requested.
    func openPairing() {
        pairing.open(at: clock.now())
        report(Report(.notice, "pairing: phones may pair for \(PairingWindow.length.components.seconds) s"))
    }

    /// Takes the code of a phone. The answer says whether the phone may pair, and whether others still may.
    public func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer {
        let answer = pairing.take(codeThatIsRight: isRight, at: clock.now())
        switch answer {
        case .accepted:
            report(Report(.notice, "pairing: a code was right: no other phone may pair until play is held again"))
        case .wrong(let left): report(Report(.warning, "pairing: a code was wrong: \(left) more end pairing"))
        case .lastWrong:
            report(
                Report(
                    .warning,
                    "pairing: \(PairingWindow.mostWrongCodes) codes were wrong: no phone may pair until play is held again"
                ))
            note(PhoneEvent(.wrongCodes))
        case .closed: break
        }
        announce(.changed)
        return answer
    }

    /// Keeps an event of a phone in the history.
    public func note(_ event: PhoneEvent) { announce(.happened(.phone(event))) }
}

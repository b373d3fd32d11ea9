import Takes
public import Transport

// Phones that are paired, and what they do with that right.
extension Deck {
    /// Whether phones may be paired.
    public var isPairing: Bool { pairing.isOpen(at: clock.now()) }

    /// Play was held, or an access point asked for.
    func openPairing() {
        pairing.open(at: clock.now())
        report(Report(.notice, "pairing: phones may pair for \(PairingWindow.length.components.seconds) s"))
    }

    /// A phone that wants to be paired gave a code: whether it may be paired, and whether others still may.
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
        onChange()
        return answer
    }

    /// Keeps in the history what happened with a phone.
    public func note(_ event: PhoneEvent) { onEvent(.phone(event)) }
}

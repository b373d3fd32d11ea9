public import Takes
public import Transport

/// Who carries out what peers ask: the recorder. All calls come from the thread that serves.
public protocol ControlHandler: AnyObject {
    /// The recorder, now.
    var status: Status { get }

    /// Carries out a command, and answers when it is done, now or later: `record` when the take has begun, `stop`
    /// when the take is finished on disk, with a status whose `take` names it.
    func perform(_ command: Command, answer: Answer)

    /// Lists what the kit has, and answers now or later.
    func list(_ inventory: Inventory, answer: Answer)

    /// Lights a lamp for a moment, and answers once it is lit: that of the next request only when this one's time is over.
    func light(_ lamp: String, answer: Answer)

    /// Sets the clock of the kit, and answers once it is set, with a status that shows it.
    func setClock(to time: WallTime, answer: Answer)

    /// A phone that wants to be paired gave a code, right or wrong: whether it may be paired, and whether others still may.
    func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer

    /// Keeps in the history what happened with a phone.
    func note(_ event: PhoneEvent)

    /// What the library does with takes has changed; nil: no connection reports it any more.
    func indicate(_ state: UploadState?)

    /// The library reports takes that are damaged, as the sentence of a fault; nil: it reports none any more.
    func indicate(damage: String?)
}

extension ControlHandler {
    /// Shows nothing.
    public func indicate(damage: String?) {}
    /// Pairs no phone.
    public func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer { .closed }
    /// Keeps nothing.
    public func note(_ event: PhoneEvent) {}
}

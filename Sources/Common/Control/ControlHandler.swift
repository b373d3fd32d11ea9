public import Takes
public import Transport

/// Carries out the requests of peers: the recorder. All calls come from the thread that serves.
public protocol ControlHandler: AnyObject {
    var status: Status { get }

    /// Carries out a command and answers when it is done, possibly later: `record` when the take has begun, `stop` when
    /// the take is finished on disk, with a status whose `take` names it.
    func perform(_ command: Command, answer: Answer)

    /// Lists an inventory and answers, possibly later.
    func list(_ inventory: Inventory, answer: Answer)

    /// Lights a lamp for a moment and answers once it is lit. The next request is answered only when this lamp's time
    /// is over.
    func light(_ lamp: String, answer: Answer)

    /// Sets the kit's clock and answers once it is set, with a status that shows it.
    func setClock(to time: WallTime, answer: Answer)

    /// Reports that a phone sent a pairing code. The answer says whether this phone is paired, and whether others may
    /// still pair.
    func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer

    /// Records a phone event in the history.
    func note(_ event: PhoneEvent)

    /// Shows what the library does with takes, or nil when no connection reports it any more.
    func indicate(_ state: UploadState?)

    /// Shows the library's report of damaged takes, the sentence of a fault, or nil when it reports none.
    func indicate(damage: String?)
}

extension ControlHandler {
    public func indicate(damage: String?) {}
    public func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer { .closed }
    public func note(_ event: PhoneEvent) {}
}

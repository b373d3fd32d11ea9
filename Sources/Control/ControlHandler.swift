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

    /// What the library does with takes has changed; nil: no connection reports it any more.
    func indicate(_ state: UploadState?)
}

/// The answer that a peer waits for. The first call counts; if there was none, the peer is answered when this is released.
public final class Answer {
    private var deliver: ((Reply) -> Void)?

    init(_ deliver: @escaping (Reply) -> Void) {
        self.deliver = deliver
    }

    /// The command was carried out, and this is how the recorder is now.
    public func succeed(_ status: Status) {
        send(.status(status))
    }

    /// The list that was asked for.
    public func succeed(_ inventory: Inventory, _ list: [JSONValue]) {
        send(.list(inventory.rawValue, .array(list)))
    }

    /// The list that was asked for.
    public func succeed(_ inventory: Inventory, _ list: [some Encodable]) {
        do {
            succeed(inventory, try list.map { try JSONValue(encoding: $0) })
        } catch {
            refuse(Refusal(.internal, "\(inventory.rawValue): the list cannot be written: \(error)"))
        }
    }

    /// It was done, and there is nothing to say of it.
    public func succeed() {
        send(.done)
    }

    /// The command was not carried out.
    public func refuse(_ refusal: Refusal) {
        send(.refused(refusal))
    }

    private func send(_ reply: Reply) {
        let deliver = deliver
        self.deliver = nil
        deliver?(reply)
    }

    deinit {
        deliver?(.refused(Refusal(.internal, "control: the recorder gave no answer")))
    }
}

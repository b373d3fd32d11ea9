public import Transport

/// The answer that a peer waits for. The first call counts; if there was none, the peer is answered when this is released.
public final class Answer {
    private let service: Service
    private var deliver: ((Reply) -> Void)?

    init(of service: Service = .recorder, _ deliver: @escaping (Reply) -> Void) {
        self.service = service
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

    /// It was done, and these are the keys of the reply.
    /// - Parameter object: what is an object in JSON, such as a dictionary; else the peer is refused.
    public func succeed(object: some Encodable) {
        send(.object(jsonText(object) ?? ""))
    }

    /// The same, for an object that is written already.
    /// - Parameter text: JSON, on any number of lines.
    public func succeed(json text: String) {
        send(.object(text))
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
        deliver?(.refused(Refusal(.internal, "control: the \(service.rawValue) gave no answer")))
    }
}

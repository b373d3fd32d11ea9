public import Transport

/// The pending answer to a peer's request. Only the first call counts. If it is released unanswered, the peer gets a
/// refusal.
public final class Answer {
    private let service: Service
    private var deliver: ((Reply) -> Void)?

    init(of service: Service = .recorder, _ deliver: @escaping (Reply) -> Void) {
        self.service = service
        self.deliver = deliver
    }

    /// Answers with the recorder's status after the command.
    public func succeed(_ status: Status) {
        send(.status(status))
    }

    public func succeed(_ inventory: Inventory, _ list: [JSONValue]) {
        send(.list(inventory.rawValue, .array(list)))
    }

    public func succeed(_ inventory: Inventory, _ list: [some Encodable]) {
        do {
            succeed(inventory, try list.map { try JSONValue(encoding: $0) })
        } catch {
            refuse(Refusal(.internal, "\(inventory.rawValue): the list cannot be written: \(error)"))
        }
    }

    /// Answers with the keys of an object.
    /// - Parameter object: a value that JSON encodes as an object, such as a dictionary. For any other value the peer
    ///   is refused.
    public func succeed(object: some Encodable) {
        send(.object(jsonText(object) ?? ""))
    }

    /// Answers with the keys of an object that is already JSON.
    /// - Parameter text: JSON, on any number of lines.
    public func succeed(json text: String) {
        send(.object(text))
    }

    /// Answers without any keys.
    public func succeed() {
        send(.done)
    }

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

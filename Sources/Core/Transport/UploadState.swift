/// What the library does with finished takes, as it reports over the control socket.
public enum UploadState: Hashable, Sendable {
    /// There is nothing to send.
    case idle
    case sending
    /// There is something to send, and it cannot be sent now: no network, for instance.
    case held
    /// The store refuses takes: fault 6 with this sentence.
    case refused(message: String)
    /// The stick may be pulled out.
    case safeToRemove
    /// A stick is in that the kit does not know: a person may make it one that takes are sent to.
    case stickOffered

    /// The names of the states on the control socket.
    public enum Name: String, CaseIterable, Sendable {
        case sending, idle, held, refused
        case safeToRemove = "safe-to-remove"
        case stickOffered = "stick-offered"
    }

    /// The state's name.
    public var name: Name {
        switch self {
        case .idle: .idle
        case .sending: .sending
        case .held: .held
        case .refused: .refused
        case .safeToRemove: .safeToRemove
        case .stickOffered: .stickOffered
        }
    }
}

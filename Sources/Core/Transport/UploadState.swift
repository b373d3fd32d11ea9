/// The library's work on finished takes, as reported over the control socket.
public enum UploadState: Hashable, Sendable {
    /// Nothing waits for upload.
    case idle
    case sending
    /// Something waits, but cannot be sent now, for example without a network.
    case held
    /// The store refuses takes: fault 6 with this sentence.
    case refused(message: String)
    /// The stick may be pulled out.
    case safeToRemove
    /// An unknown stick is inserted. A person may adopt it, so that takes are sent to it.
    case stickOffered

    /// The names of the states on the control socket.
    public enum Name: String, CaseIterable, Sendable {
        case sending, idle, held, refused
        case safeToRemove = "safe-to-remove"
        case stickOffered = "stick-offered"
    }

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

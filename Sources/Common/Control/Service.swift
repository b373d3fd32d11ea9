/// A service of a kit that listens at a socket.
public enum Service: String, Hashable, Sendable {
    /// Owns the devices.
    case recorder
    /// Owns the catalog.
    case library
}

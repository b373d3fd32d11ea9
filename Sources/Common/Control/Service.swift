/// A service of the kit that listens at a socket.
public enum Service: String, Hashable, Sendable {
    /// Owns the devices.
    case recorder
    /// Owns the catalog.
    case library
}

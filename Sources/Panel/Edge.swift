public import Takes
public import Transport

/// A change of a button's level, as the kernel saw it.
public struct Edge: Hashable, Sendable {
    /// The button.
    public var button: Button
    /// Whether the button is down from here on.
    public var isDown: Bool
    /// The kernel's timestamp.
    public var at: Instant

    /// The button goes down or up at an instant.
    public init(_ button: Button, isDown: Bool, at: Instant) {
        self.button = button
        self.isDown = isDown
        self.at = at
    }
}

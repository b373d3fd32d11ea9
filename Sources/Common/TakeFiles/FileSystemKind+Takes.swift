public import Files

extension FileSystemKind {
    /// A sentence about `path` that says why takes are not safe on it at all, or nil if they are or that is unknown.
    public func volatility(at path: String) -> String? {
        guard case .volatile(let name) = self else { return nil }
        return
            "\(path): is on \(name), which is kept in memory: all takes are lost with the power: name a directory on a card or "
            + "disk under [takes]"
    }
}

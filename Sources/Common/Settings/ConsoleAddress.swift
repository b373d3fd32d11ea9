extension Settings.Console {
    /// The address of the page for browsers, or nil if it is off. Avahi announces the host's name.
    public func address(hostName: String) -> String? {
        guard let listen else { return nil }
        return "http://" + host(hostName: hostName) + (listen.port == 80 ? "" : ":\(listen.port)")
    }

    /// The host in that address.
    public func host(hostName: String) -> String {
        guard let host = listen?.host, !["0.0.0.0", "::"].contains(host) else { return "\(hostName).local" }
        return host.contains(":") ? "[\(host)]" : host
    }
}

import Settings
public import Takes
public import Transport

extension LocalZone {
    /// The time zone that a request names. It reads a file.
    /// - Parameters:
    ///   - name: such as `Europe/Berlin`, or nil for the kit's.
    ///   - request: the request's name, with which a refusal begins.
    public init(named name: String?, for request: String) throws(Refusal) {
        guard let name else {
            self = .kit
            return
        }
        guard let zone = LocalZone(named: name) else {
            throw Refusal(.zoneUnknown(command: request, zone: name))
        }
        self = zone
    }
}

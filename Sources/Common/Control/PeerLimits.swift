/// Limits for all peers of a service together.
enum PeerLimits {
    static let mostConnections = 32
    /// Connections that are reserved for root and the service's own user, so that other users cannot shut them out.
    static let keptConnections = 4
    /// The most requests of one peer before the others get their turn.
    static let mostRequestsPerTurn = 16
    /// How long `serve` may keep starting requests. Peers that are left waiting come first next time. Afterwards it
    /// rests twice as long as it worked, so that peers use at most a third of the caller's time.
    static let longestTurn = Duration.milliseconds(10)
    /// The same limit for one peer, so that most peers get a turn each time.
    static let longestPeerTurn = Duration.milliseconds(1)
    /// The longest rest. One slow request, such as a list of cards, is not a flood.
    static let longestRest = Duration.milliseconds(100)
}

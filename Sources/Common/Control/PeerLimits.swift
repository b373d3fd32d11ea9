/// What all peers of a service together may cost.
enum PeerLimits {
    /// The most peers at a time.
    static let mostConnections = 32
    /// Places that are kept for root and the service's own user, so that no other can shut them out.
    static let keptConnections = 4
    /// The most requests of one peer before the others have their turn.
    static let mostRequestsPerTurn = 16
    /// How long `serve` goes on to begin with requests, whichever peers wait: the others come first the next time. It rests twice as
    /// long as it took then, so that peers have a third of the caller's time at most.
    static let longestTurn = Duration.milliseconds(10)
    /// The same for one peer, so that most have a turn each time.
    static let longestPeerTurn = Duration.milliseconds(1)
    /// No rest is longer: one request that takes long, such as a list of cards, is no flood.
    static let longestRest = Duration.milliseconds(100)
}

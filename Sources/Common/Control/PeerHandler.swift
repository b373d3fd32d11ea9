/// Carries out the requests of a service's peers. All calls come from the thread that serves.
package protocol PeerHandler<Message>: AnyObject {
    associatedtype Message: PeerMessage

    /// Carries out a request and answers, possibly later.
    func carryOut(_ message: Message, of peer: PeerID, answer: Answer)

    /// Peers were served, and some may have gone. `PeerServer.has` says which.
    func peersMayHaveGone()
}

extension PeerHandler {
    /// Does nothing: most requests have no effect beyond their answer.
    package func peersMayHaveGone() {}
}

/// Identifies a peer of a server until its connection ends.
package struct PeerID: Hashable {
    let key: UInt64
}

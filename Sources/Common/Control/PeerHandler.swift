/// Who carries out what peers ask of a service. All calls come from the thread that serves.
package protocol PeerHandler<Message>: AnyObject {
    /// What peers ask.
    associatedtype Message: PeerMessage

    /// Carries out a request, and answers now or later.
    func carryOut(_ message: Message, of peer: PeerID, answer: Answer)

    /// Peers were served, and some may have gone: `PeerServer.has` says which.
    func peersMayHaveGone()
}

extension PeerHandler {
    /// Does nothing: no request is of use beyond its answer.
    package func peersMayHaveGone() {}
}

/// A peer of a server, which is gone when its connection ends.
package struct PeerID: Hashable {
    let key: UInt64
}

import Sockets
import Takes

extension Connection {
    /// Queues a reply of any length and sends as much as the socket accepts.
    func reply(_ reply: Reply, id: JSONValue, now: Instant) {
        self.reply(reply.line(id: id, isFirst: !hasReplied), now: now)
    }
}

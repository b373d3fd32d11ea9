import Takes
import Transport

/// Takes that somebody sends or deletes now, on the kit or at a store. One deletes a take at a time, and nobody sends it meanwhile: a copy
/// that one relies on must not be what another deletes.
final class TakesInHand: Sendable {
    private struct Hands {
        /// To how many stores a take is being sent.
        var sending: [TakeIdentity: Int] = [:]
        var deleting: Set<TakeIdentity> = []
        var freed: @Sendable () -> Void = {}

        func isSent(_ take: TakeIdentity) -> Bool { sending.keys.contains(where: take.mayBe) }
        func isDeleted(_ take: TakeIdentity) -> Bool { deleting.contains(where: take.mayBe) }
    }

    private let hands = Locked(Hands())

    /// Has something called whenever a take is deleted by nobody any more: it may be one that is to be sent.
    func onFree(_ freed: @escaping @Sendable () -> Void) { hands.withLock { $0.freed = freed } }

    /// - Returns: false: somebody deletes it.
    func beginSending(_ take: TakeIdentity) -> Bool {
        hands.withLock { hands in
            guard !hands.isDeleted(take) else { return false }
            hands.sending[take, default: 0] += 1
            return true
        }
    }

    /// Ends what `beginSending` began.
    func endSending(_ take: TakeIdentity) {
        hands.withLock { hands in
            hands.sending[take, default: 1] -= 1
            if hands.sending[take] == 0 { hands.sending[take] = nil }
        }
    }

    /// - Parameter besideSending: whether it may be sent meanwhile: only by who deletes nothing at a store, and relies on none.
    /// - Throws: why it must not be deleted now.
    func beginDeleting(_ take: TakeIdentity, besideSending: Bool = false) throws(Refusal) {
        let refusal: Refusal? = hands.withLock { hands in
            guard besideSending || !hands.isSent(take) else {
                return Refusal(.busy, "delete: \(take.stem): it is being sent: wait until it is there")
            }
            guard !hands.isDeleted(take) else { return Self.isDeleted(take) }
            hands.deleting.insert(take)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Ends what `beginDeleting` began.
    func endDeleting(_ take: TakeIdentity) {
        let freed = hands.withLock { hands in
            hands.deleting.remove(take)
            return hands.freed
        }
        freed()
    }

    /// - Throws: that somebody deletes it.
    func checkNotDeleted(_ take: TakeIdentity) throws(Refusal) {
        guard !hands.withLock({ $0.isDeleted(take) }) else { throw Self.isDeleted(take) }
    }

    private static func isDeleted(_ take: TakeIdentity) -> Refusal {
        Refusal(.busy, "delete: \(take.stem): it is being deleted: look again in a moment")
    }
}

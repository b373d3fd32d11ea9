import Takes
import Transport

/// Takes that somebody sends or deletes now, on the kit or at a store. One deletes a take at a time, and nobody sends it meanwhile: a copy
/// that one relies on must not be what another deletes.
final class TakesInHand: Sendable {
    private struct Hands {
        /// To how many stores a take is being sent.
        var sending: [String: Int] = [:]
        var deleting: Set<String> = []
        var freed: @Sendable () -> Void = {}
    }

    private let hands = Locked(Hands())

    /// Has something called whenever a take is deleted by nobody any more: it may be one that is to be sent.
    func onFree(_ freed: @escaping @Sendable () -> Void) { hands.withLock { $0.freed = freed } }

    /// - Returns: false: somebody deletes it.
    func beginSending(_ stem: String) -> Bool {
        hands.withLock { hands in
            guard !hands.deleting.contains(stem) else { return false }
            hands.sending[stem, default: 0] += 1
            return true
        }
    }

    /// Ends what `beginSending` began.
    func endSending(_ stem: String) {
        hands.withLock { hands in
            hands.sending[stem, default: 1] -= 1
            if hands.sending[stem] == 0 { hands.sending[stem] = nil }
        }
    }

    /// - Parameter besideSending: whether it may be sent meanwhile: only by who deletes nothing at a store, and relies on none.
    /// - Throws: why it must not be deleted now.
    func beginDeleting(_ stem: String, besideSending: Bool = false) throws(Refusal) {
        let refusal: Refusal? = hands.withLock { hands in
            guard besideSending || hands.sending[stem] == nil else {
                return Refusal(.busy, "delete: \(stem): it is being sent: wait until it is there")
            }
            guard hands.deleting.insert(stem).inserted else { return Self.isDeleted(stem) }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Ends what `beginDeleting` began.
    func endDeleting(_ stem: String) {
        let freed = hands.withLock { hands in
            hands.deleting.remove(stem)
            return hands.freed
        }
        freed()
    }

    /// - Throws: that somebody deletes it.
    func checkNotDeleted(_ stem: String) throws(Refusal) {
        guard !hands.withLock({ $0.deleting.contains(stem) }) else { throw Self.isDeleted(stem) }
    }

    private static func isDeleted(_ stem: String) -> Refusal {
        Refusal(.busy, "delete: \(stem): it is being deleted: look again in a moment")
    }
}

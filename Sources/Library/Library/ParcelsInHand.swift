import Catalog
import Takes
import Transport

/// Parcels that somebody sends or deletes now, on the kit or at a store. One deletes a parcel at a time, and nobody sends it meanwhile: a
/// copy that one relies on must not be what another deletes.
final class ParcelsInHand: Sendable {
    private struct Hands {
        /// To how many stores a parcel is being sent.
        var sending: [ParcelID: Int] = [:]
        var deleting: Set<ParcelID> = []
        var freed: @Sendable () -> Void = {}

        func isSent(_ parcel: ParcelID) -> Bool { sending.keys.contains(where: parcel.mayBe) }
        func isDeleted(_ parcel: ParcelID) -> Bool { deleting.contains(where: parcel.mayBe) }
    }

    private let hands = Locked(Hands())

    /// Has something called whenever a parcel is deleted by nobody any more: it may be one that is to be sent.
    func onFree(_ freed: @escaping @Sendable () -> Void) { hands.withLock { $0.freed = freed } }

    /// - Returns: false: somebody deletes it.
    func beginSending(_ parcel: ParcelID) -> Bool {
        hands.withLock { hands in
            guard !hands.isDeleted(parcel) else { return false }
            hands.sending[parcel, default: 0] += 1
            return true
        }
    }

    /// Ends what `beginSending` began.
    func endSending(_ parcel: ParcelID) {
        hands.withLock { hands in
            hands.sending[parcel, default: 1] -= 1
            if hands.sending[parcel] == 0 { hands.sending[parcel] = nil }
        }
    }

    /// - Parameter besideSending: whether it may be sent meanwhile: only by who deletes nothing at a store, and relies on none.
    /// - Throws: why it must not be deleted now.
    func beginDeleting(_ parcel: ParcelID, besideSending: Bool = false) throws(Refusal) {
        let refusal: Refusal? = hands.withLock { hands in
            guard besideSending || !hands.isSent(parcel) else {
                return Refusal(.busy, "delete: \(parcel.stem): it is being sent: wait until it is there")
            }
            guard !hands.isDeleted(parcel) else { return Self.isDeleted(parcel) }
            hands.deleting.insert(parcel)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Ends what `beginDeleting` began.
    func endDeleting(_ parcel: ParcelID) {
        let freed = hands.withLock { hands in
            hands.deleting.remove(parcel)
            return hands.freed
        }
        freed()
    }

    /// - Throws: that somebody deletes it.
    func checkNotDeleted(_ parcel: ParcelID) throws(Refusal) {
        guard !hands.withLock({ $0.isDeleted(parcel) }) else { throw Self.isDeleted(parcel) }
    }

    private static func isDeleted(_ parcel: ParcelID) -> Refusal {
        Refusal(.busy, "delete: \(parcel.stem): it is being deleted: look again in a moment")
    }
}

import Catalog
import Takes
import Transport

/// Parcels that are being sent or deleted now, on the kit or at a store. Only one caller at a time deletes a parcel,
/// and it is not sent during that time: a copy that one caller relies on must not be deleted by another.
final class ParcelsInHand: Sendable {
    private struct Hands {
        /// The number of stores to which a parcel is being sent.
        var sending: [ParcelID: Int] = [:]
        var deleting: Set<ParcelID> = []
        var freed: @Sendable () -> Void = {}

        func isSent(_ parcel: ParcelID) -> Bool { sending.keys.contains(where: parcel.mayBe) }
        func isDeleted(_ parcel: ParcelID) -> Bool { deleting.contains(where: parcel.mayBe) }
    }

    private let hands = Locked(Hands())

    /// Sets a callback for the end of each deletion, because the parcel may be waiting to be sent.
    func onFree(_ freed: @escaping @Sendable () -> Void) { hands.withLock { $0.freed = freed } }

    /// - Returns: false if the parcel is being deleted.
    func beginSending(_ parcel: ParcelID) -> Bool {
        hands.withLock { hands in
            guard !hands.isDeleted(parcel) else { return false }
            hands.sending[parcel, default: 0] += 1
            return true
        }
    }

    /// Ends a `beginSending`.
    func endSending(_ parcel: ParcelID) {
        hands.withLock { hands in
            hands.sending[parcel, default: 1] -= 1
            if hands.sending[parcel] == 0 { hands.sending[parcel] = nil }
        }
    }

    /// - Parameter besideSending: whether the parcel may be sent at the same time. Allowed only if the caller neither
    ///   deletes at a store nor relies on a store's copy.
    /// - Throws: why it must not be deleted now.
    func beginDeleting(_ parcel: ParcelID, besideSending: Bool = false) throws(Refusal) {
        let refusal: Refusal? = hands.withLock { hands in
            guard besideSending || !hands.isSent(parcel) else {
                return Refusal(.beingSent(stem: parcel.stem))
            }
            guard !hands.isDeleted(parcel) else { return Self.isDeleted(parcel) }
            hands.deleting.insert(parcel)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Ends a `beginDeleting`.
    func endDeleting(_ parcel: ParcelID) {
        let freed = hands.withLock { hands in
            hands.deleting.remove(parcel)
            return hands.freed
        }
        freed()
    }

    /// - Throws: `Refusal` if the parcel is being deleted.
    func checkNotDeleted(_ parcel: ParcelID) throws(Refusal) {
        guard !hands.withLock({ $0.isDeleted(parcel) }) else { throw Self.isDeleted(parcel) }
    }

    private static func isDeleted(_ parcel: ParcelID) -> Refusal {
        Refusal(.beingDeleted(stem: parcel.stem))
    }
}

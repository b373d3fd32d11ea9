public import Takes

/// A fault that the history says was shown.
public struct PastFault: Hashable, Sendable {
    /// The number of flashes of the fault lamp.
    public var code: Int
    /// Empty if the history does not have its beginning.
    public var message: String
    public var from: WallTime
    /// Nil if the history does not have its end, as while it is still shown.
    public var until: WallTime?
}

extension PastFault {
    /// The faults in records, which are in the order in which they were written. Sorted by their beginnings.
    public static func all(in records: [HistoryRecord]) -> [PastFault] {
        var ended: [PastFault] = []
        var shown: [PastFault] = []
        func endAll(at time: WallTime) {
            for fault in shown {
                var fault = fault
                fault.until = max(fault.from, time)
                ended.append(fault)
            }
            shown = []
        }
        var last: WallTime?
        for record in records {
            switch record.event {
            case .faultBegan(let fault):
                shown.append(PastFault(code: fault.code, message: fault.message, from: record.at))
            case .faultEnded(let end):
                // Faults with the same code may be shown at the same time.
                // A damaged number must not overflow.
                let from = record.at - .seconds(min(max(0, end.seconds), 1e9))
                let index = shown.indices.filter { shown[$0].code == end.code }.min { first, second in
                    shown[first].from.distance(to: from) < shown[second].from.distance(to: from)
                }
                var fault = index.map { shown.remove(at: $0) } ?? PastFault(code: end.code, message: "", from: from)
                // The clock may have been set back meanwhile.
                fault.until = max(fault.from, record.at)
                ended.append(fault)
            // A recorder that ends does not write that its faults end.
            case .ended: endAll(at: record.at)
            case .started: endAll(at: last ?? record.at)
            case .pressed, .takeBegan, .takeEnded, .card, .clock, .measured, .phone, .leftOut: break
            }
            last = record.at
        }
        return (ended + shown).sorted { ($0.from, $0.code) < ($1.from, $1.code) }
    }
}

extension WallTime {
    /// The time between this and another time, whichever is earlier.
    fileprivate func distance(to other: WallTime) -> Duration { self < other ? other - self : self - other }
}

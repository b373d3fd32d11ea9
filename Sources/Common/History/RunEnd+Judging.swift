extension RunEnd {
    /// Determines how the previous run ended.
    ///
    /// - Parameters:
    ///   - records: the history until now, or the end of it, or nil if it cannot be read.
    ///   - bootID: the kernel's id of this boot.
    ///   - wasReset: whether the watchdog reset the machine before this boot.
    public init(before records: [HistoryRecord]?, bootID: String, wasReset: Bool) {
        guard let records else {
            self = .unknown
            return
        }
        let lastStart = records.lastIndex { record in
            if case .started = record.event { true } else { false }
        }
        guard let lastStart, case .started(let start) = records[lastStart].event else {
            self = .none
            return
        }
        let end = records[lastStart...].lazy.compactMap { record -> HistoryEvent.RecorderEnd.Cause? in
            if case .ended(let end) = record.event { end.by } else { nil }
        }.first
        self =
            switch end {
            case .signal: .signal
            case .person: .person
            case .battery: .battery
            case .schedule: .schedule
            case nil: start.bootID == bootID ? .crash : wasReset ? .watchdog : .powerCut
            }
    }
}

/// `clock_map` on one calendar: the calendar as it was last set.
extension Sidecar {
    /// Converts all points of `clock_map` to the calendar with this offset. The points stay unchanged if all are on one
    /// calendar that differs from this one by less than `TrueStart.tolerance`, like the take's start.
    ///
    /// A point that notes its instant is dated by that instant. Sidecars of older versions note no instants. Their
    /// points are moved by the same step as the take's start, or placed relative to the nearest point by
    /// `CLOCK_MONOTONIC_RAW`. In the second case the error grows by the possible difference of the two clocks.
    /// - Parameter start: the start of the take by the calendar that dated it so far, if that is known.
    public mutating func dateClockMap(by offset: ClockOffset, before start: WallTime? = nil) {
        dateNotedInstants(by: offset)
        dateOthers(by: offset, before: start)
    }

    private mutating func dateNotedInstants(by offset: ClockOffset) {
        let noted = clockMap.filter { $0.instant != nil }
        let calendars = noted.compactMap(\.calendar)
        guard let first = calendars.first ?? (noted.isEmpty ? offset : nil) else { return setNotedInstants(by: offset) }
        let isRight =
            calendars.count == noted.count
            && calendars.allSatisfy {
                $0.distance(to: first) < ClockRecord.jitter && $0.distance(to: offset) < TrueStart.tolerance
            }
        if !isRight { setNotedInstants(by: offset) }
    }

    private mutating func setNotedInstants(by offset: ClockOffset) {
        for index in clockMap.indices {
            if let instant = clockMap[index].instant { clockMap[index].utc = offset.wallTime(at: instant).iso8601 }
        }
    }

    /// Dates the points of sidecars that do not note instants.
    private mutating func dateOthers(by offset: ClockOffset, before start: WallTime?) {
        let others = clockMap.indices.filter { clockMap[$0].monotonicNs == nil }
        guard !others.isEmpty, let first = clockMap.first else { return }
        let truth = offset.wallTime(at: Instant(nanoseconds: startedMonotonicNs))
        // The raw clock's value when the take's first frame was sampled.
        let pace = 1e9 / Double(max(1, rateHz)) / (1 + (clockDriftPPM ?? 0) / 1e6)
        let origin = Double(first.rawNs) - Double(first.atFrame.count) * pace
        func expected(_ point: ClockPoint) -> Int64 {
            truth.microseconds + Int64((Double(point.rawNs) - origin) / 1000)
        }
        func isRight(_ point: ClockPoint) -> Bool {
            guard let utc = point.wallTime else { return false }
            let elapsed = abs(Double(point.rawNs) - origin) / 1000
            let allowed =
                ClockRecord.mostSlew * elapsed + Double(TrueStart.tolerance.nanoseconds / 1000) + Double(point.errorUs)
            return abs(Double(utc.microseconds - expected(point))) <= allowed
        }
        // Moves each point by the step of the start: a point of the previous calendar is then on this one, to the
        // microsecond.
        let step = start.map { truth.microseconds - $0.microseconds } ?? 0
        if abs(step) >= TrueStart.tolerance.nanoseconds / 1000 {
            for index in others {
                guard let utc = clockMap[index].wallTime else { continue }
                var moved = clockMap[index]
                moved.utc = WallTime(microseconds: utc.microseconds + step).iso8601
                let away = abs(utc.microseconds - expected(moved))
                if isRight(moved), abs(utc.microseconds + step - expected(moved)) < away { clockMap[index] = moved }
            }
        }
        guard others.contains(where: { !isRight(clockMap[$0]) }) else { return }
        let known = clockMap.indices.filter { isRight(clockMap[$0]) }
        for index in others where !known.contains(index) {
            let point = clockMap[index]
            let nearest = known.min { abs(clockMap[$0].rawNs - point.rawNs) < abs(clockMap[$1].rawNs - point.rawNs) }
            let beside = nearest.map { clockMap[$0] }
            let away = beside.map { Double(point.rawNs - $0.rawNs) } ?? (Double(point.rawNs) - origin)
            let utc = beside?.wallTime.map { $0.microseconds + Int64(away / 1000) } ?? expected(point)
            clockMap[index].utc = WallTime(microseconds: utc).iso8601
            clockMap[index].errorUs += (beside?.errorUs ?? 0) + Int64(ClockRecord.mostSlew * abs(away) / 1000)
        }
    }

    /// Takes over the calendar of a finished take that was dated after its end.
    public mutating func adoptCalendar(of finished: Sidecar) {
        startedCorrected = finished.startedCorrected
        for point in finished.clockMap.reversed() {
            guard let utc = point.wallTime, let instant = point.instant else { continue }
            return dateClockMap(by: ClockOffset(utc, at: instant))
        }
        guard let begun = finished.begun, !finished.clockMap.isEmpty else { return }
        dateClockMap(by: ClockOffset(begun, at: Instant(nanoseconds: finished.startedMonotonicNs)))
    }
}

extension Sidecar.ClockPoint {
    /// The instant at which the frame was sampled, if the point notes it.
    fileprivate var instant: Instant? { monotonicNs.map { Instant(nanoseconds: $0) } }

    /// The calendar time of the frame, or nil if the clock was not set or the text is not a time.
    fileprivate var wallTime: WallTime? { utc.flatMap { WallTime(iso8601: $0) } }

    /// The calendar that dated the point, if its time and its instant are known.
    fileprivate var calendar: ClockOffset? {
        guard let wallTime, let instant else { return nil }
        return ClockOffset(wallTime, at: instant)
    }
}

extension TrueStart {
    /// Dates a take of this boot: its start, and all points of its clock map. With a calendar of unknown origin it
    /// changes nothing.
    public func date(_ sidecar: inout Sidecar) {
        guard origin != .unset, covers(sidecar) else { return }
        let before = sidecar.begun
        sidecar.startedCorrected = corrected(sidecar)
        sidecar.dateClockMap(by: offset, before: before)
    }
}

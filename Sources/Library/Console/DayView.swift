import Catalog
import History
import Settings
import Takes

/// The takes, markers, faults and planned hours of a day. All times are seconds since the day began.
struct DayView: Encodable {
    var takes: [Take]
    var markers: [Marker] = []
    /// The planned hours of recording, or nil without a plan.
    var planned: [Stretch]?
    var faults: [Fault]
    /// At most `mostMeasurements`.
    var measured: [Measured]

    static let mostMeasurements = 300

    struct Take: Encodable, Hashable {
        var take: String
        var number: Int
        var title: String?
        /// Less than 0 if it began before the day.
        var startSeconds: Double
        /// From its first frame to its last, with the time between its parts.
        var seconds: Double

        enum CodingKeys: String, CodingKey {
            case take, number, title, seconds
            case startSeconds = "start_seconds"
        }
    }

    struct Marker: Encodable, Hashable {
        var take: String
        var atSeconds: Double
        /// The label of a marker without a note; null if it has neither.
        @ExplicitNull var note: String?

        enum CodingKeys: String, CodingKey {
            case take, note
            case atSeconds = "at_seconds"
        }
    }

    struct Stretch: Encodable, Hashable {
        var from: Double
        var until: Double
    }

    struct Fault: Encodable, Hashable {
        /// Less than 0 if it began before the day.
        var atSeconds: Double
        var code: Int
        var message: String
        /// Nil if its end is not known, as while it is still shown.
        var untilSeconds: Double?

        enum CodingKeys: String, CodingKey {
            case code, message
            case atSeconds = "at_seconds"
            case untilSeconds = "until_seconds"
        }
    }

    struct Measured: Encodable, Hashable {
        var atSeconds: Double
        var batteryVolts: Double?
        /// The temperature of the hottest sensor.
        var temperatureC: Double?

        enum CodingKeys: String, CodingKey {
            case atSeconds = "at_seconds"
            case batteryVolts = "battery_volts"
            case temperatureC = "temperature_c"
        }
    }

    /// - Parameters:
    ///   - day: from its beginning to its end.
    ///   - takes: those that were recorded on the day, also in part.
    ///   - hours: the hours of each day in which the kit records.
    ///   - records: of the history.
    init(
        of day: Range<WallTime>, takes: [Catalog.TimedTake], hours: [HoursOfDay], records: [HistoryRecord],
        now: WallTime
    ) {
        func seconds(_ time: WallTime) -> Double { Self.seconds(from: day.lowerBound, to: time) }
        self.takes = takes.map { take in
            Take(
                take: take.identity.stem, number: take.number, title: take.title, startSeconds: seconds(take.started),
                seconds: take.spanSeconds)
        }
        planned = Self.planned(hours, on: day)
        // A recorder that loses its power does not write that its faults end.
        let silent = records.last.flatMap { last in
            last.at + HistorySummary.longestSilence < min(now, day.upperBound) ? last.at : nil
        }
        faults = PastFault.all(in: records).map { fault in
            var fault = fault
            fault.until = fault.until ?? silent.map { max(fault.from, $0) }
            return fault
        }.filter { $0.isShown(in: day) }.map { fault in
            Fault(
                atSeconds: seconds(fault.from), code: fault.code, message: fault.message,
                untilSeconds: fault.until.map(seconds))
        }
        let found = records.compactMap { record -> Measured? in
            guard day.contains(record.at), case .measured(let measurement) = record.event else { return nil }
            let (volts, degrees) = (measurement.supplyVolts, measurement.temperatures?.values.max())
            guard volts != nil || degrees != nil else { return nil }
            return Measured(atSeconds: seconds(record.at), batteryVolts: volts, temperatureC: degrees)
        }
        let count = min(found.count, Self.mostMeasurements)
        measured = (0..<count).map { found[$0 * found.count / count] }
    }

    /// Adds markers of a take that lie on the day.
    mutating func add(_ markers: [Sidecar.Marker], of take: Catalog.TimedTake, on day: Range<WallTime>) {
        for marker in markers {
            let time = take.time(at: Double(marker.atFrame.count) / Double(max(1, take.rateHz)))
            guard day.contains(time) else { continue }
            let at = Self.seconds(from: day.lowerBound, to: time)
            self.markers.append(
                Marker(take: take.identity.stem, atSeconds: at, note: marker.note ?? marker.label))
        }
    }

    static func seconds(from start: WallTime, to time: WallTime) -> Double {
        Double(time.microseconds - start.microseconds) / 1e6
    }

    private static func planned(_ hours: [HoursOfDay], on day: Range<WallTime>) -> [Stretch]? {
        guard !hours.isEmpty else { return nil }
        // The hours are those of the kit's days, of which several may touch a day of another zone.
        let first = LocalDay(of: day.lowerBound)
        let spans = (-1...2).flatMap { days in hours.compactMap { $0.span(days, from: first) } }
        return spans.map { $0.clamped(to: day) }.filter { !$0.isEmpty }
            .map { span in
                Stretch(
                    from: seconds(from: day.lowerBound, to: span.lowerBound),
                    until: seconds(from: day.lowerBound, to: span.upperBound))
            }.sorted { ($0.from, $0.until) < ($1.from, $1.until) }
    }
}

extension PastFault {
    fileprivate func isShown(in day: Range<WallTime>) -> Bool {
        from < day.upperBound && (until.map { $0 > day.lowerBound } ?? true)
    }
}

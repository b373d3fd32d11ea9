import Catalog
import Control
import Exports
import Files
import HTTPTypes
import History
import Hummingbird
import HummingbirdCore
import Library
import NIOCore
import NIOPosix
import Settings
import Takes
import Transport

/// The days of the kit: what was recorded, what was wrong, and how it sounded. Days are those of the time zone that the
/// browser names.
struct DayRoutes: Sendable {
    let library: LibraryDesk
    let history: HistoryFolder
    let pyramid: WaveformPyramid
    /// Threads that may wait for the disk.
    let disk: NIOThreadPool
    /// One thread, because a picture of a day may read the files of a thousand takes.
    let drawing: NIOThreadPool
    let now: @Sendable () -> WallTime

    /// Eight of the longest answers.
    private let room = AnswerRoom(4 << 20)

    private static let usualColumns: Int64 = 1440
    /// A day may have 25 hours.
    private static let mostSeconds: Int64 = 25 * 3600
    /// The takes whose columns are computed next while somebody looks at their day.
    private static let mostLooks = 4
    private static let computed = HTTPField.Name("Fieldfare-Computed")!

    var routes: [Route] {
        [
            Route(.get, "/api/days", for: .look, query: ["month", "zone"]) { _, context in
                let query = context.query
                return Response(json: try await disk.runIfActive { try month(query["month"], zone: query["zone"]) })
            },
            Route(.get, "/api/days/{date}", for: .look, query: ["zone"]) { _, context in
                let (date, zone, channel) = (context.parameter("date"), context.query["zone"], context.channel)
                return Response(json: try await disk.runIfActive { try view(of: day(date, zone), for: channel) })
            },
            Route(.get, "/api/days/{date}/spectrum", for: .look, query: ["columns", "from", "until", "zone"]) {
                _, context in
                let wanted = try columns(context.query)
                let (date, zone, channel) = (context.parameter("date"), context.query["zone"], context.channel)
                let made = try await drawing.runIfActive {
                    try ExportRoutes.refused { try picture(of: day(date, zone), wanted, for: channel) }
                }
                return answer(made)
            },
            Route(.get, "/api/days/{date}/waveform", for: .look, query: ["columns", "from", "until", "zone"]) {
                _, context in
                let wanted = try columns(context.query)
                let (date, zone, channel) = (context.parameter("date"), context.query["zone"], context.channel)
                let found = try await drawing.runIfActive {
                    try ExportRoutes.refused { try peaks(of: day(date, zone), wanted, for: channel) }
                }
                return Response(json: Peaks(peaks: found.peaks))
            },
        ]
    }

    struct Month: Encodable {
        /// The days on which anything was recorded, or a fault began.
        var days: [Day]

        struct Day: Encodable {
            /// `2026-11-27`.
            var date: String
            /// The takes that began on the day.
            var takes: Int
            /// The sum of their lengths.
            var seconds: Double
            /// The faults that began on the day.
            var faults: Int
        }
    }

    private struct Peaks: Encodable {
        var peaks: [Double?]
    }

    // MARK: - Days

    /// - Parameter date: `2026-11-27`.
    private func day(_ date: String, _ zone: String?) throws -> Range<WallTime> {
        let zone = try LocalZone(named: zone, for: "day")
        guard let day = CalendarDay(date) else {
            throw Problem(
                .badRequest, .usage,
                "day: found \(JSONValue.string(date).excerpt), allowed is a day such as 2026-11-27")
        }
        return zone.span(of: day)
    }

    /// - Parameter text: `2026-11`, or nil for this month.
    func month(_ text: String?, zone: String?) throws -> Month {
        let zone = try LocalZone(named: zone, for: "days")
        let today = zone.day(of: now())
        let month = text ?? String("\(today)".prefix(7))
        guard month.utf8.count == 7, let first = CalendarDay("\(month)-01") else {
            throw Problem(
                .badRequest, .usage,
                "days: month: found \(JSONValue.string(month).excerpt), allowed is a month such as 2026-11")
        }
        let days = (0..<31).map { first + $0 }.filter { $0.month == first.month }
        let spans = days.map { zone.span(of: $0) }
        let counts = try library.counts(in: spans)
        let records = try records(around: spans[0].lowerBound..<spans[spans.count - 1].upperBound)
        let begun = PastFault.all(in: records).map(\.from)
        let found = zip(zip(days, spans), counts).map { day, count in
            let faults = begun.count { day.1.contains($0) }
            return Month.Day(date: "\(day.0)", takes: count.takes, seconds: count.seconds, faults: faults)
        }
        return Month(days: found.filter { $0.takes > 0 || $0.faults > 0 })
    }

    private func view(of day: Range<WallTime>, for channel: any Channel) throws -> DayView {
        let takes = try library.takes(in: day)
        var view = DayView(
            of: day, takes: takes, hours: library.settings.schedule.record, records: try records(around: day),
            now: now())
        for take in takes {
            try channel.checkBrowser()
            // One take whose notes cannot be read must not hide the rest of the day.
            view.add((try? library.markers(of: take)) ?? [], of: take, on: day)
        }
        return view
    }

    private func records(around stretch: Range<WallTime>) throws -> [HistoryRecord] {
        do {
            return try history.records(around: stretch).records
        } catch {
            throw Problem(.historyUnreadable(fact: error.fact))
        }
    }

    // MARK: - Pictures

    /// The columns that a query asks for.
    private func columns(_ query: QueryItems) throws(Problem) -> DayColumns {
        let count = try query.count("columns") ?? Self.usualColumns
        guard (1...Int64(DayColumns.most)).contains(count) else {
            throw Problem(
                .badRequest, .usage,
                "day: columns: found \(count), allowed is a number from 1 to \(DayColumns.most)")
        }
        let from = try query.count("from") ?? 0
        let until = try query.count("until") ?? 86_400
        guard from < until, until <= Self.mostSeconds else {
            throw Problem(
                .badRequest, .usage,
                "day: from \(from) until \(until): allowed are seconds of the day up to \(Self.mostSeconds), the later one as until"
            )
        }
        return DayColumns(Int(count), of: Double(from)..<Double(until))
    }

    /// The takes in the columns, with when they began.
    private func takes(
        of day: Range<WallTime>, in columns: DayColumns
    ) throws -> [(take: Catalog.TimedTake, start: Double)] {
        let begin = day.lowerBound + .seconds(columns.stretch.lowerBound)
        let end = day.lowerBound + .seconds(columns.stretch.upperBound)
        return try library.takes(in: begin..<end).map { take in
            (take, DayView.seconds(from: day.lowerBound, to: take.started))
        }
    }

    private struct Picture: Sendable {
        var picture: DayPicture
        var share: AnswerRoom.Share
    }

    private func picture(
        of day: Range<WallTime>, _ columns: DayColumns, for channel: any Channel
    ) throws -> Picture {
        try channel.checkBrowser()
        guard let share = room.take(columns.count * DayPicture.rows) else {
            throw Problem(.picturesInTransit)
        }
        // All pictures of a day have the same rows.
        let rateHz = DayPicture.rateHz(of: try library.takes(in: day).map(\.rateHz))
        var picture = try DayPicture(columns, rateHz: rateHz)
        var incomplete: [Sidecar] = []
        for (take, start) in try takes(of: day, in: columns) {
            try channel.checkBrowser()
            guard let sidecar = try? library.sidecar(of: take) else { continue }
            let readers = (try? library.columns(of: sidecar))?.readers ?? sidecar.parts.map { _ in nil }
            let lacks = picture.add(sidecar, at: start, readers)
            if lacks, take.folder != nil, incomplete.count < Self.mostLooks { incomplete.append(sidecar) }
        }
        for sidecar in incomplete { library.waitForColumns(of: sidecar) }
        return Picture(picture: picture, share: share)
    }

    private func peaks(of day: Range<WallTime>, _ columns: DayColumns, for channel: any Channel) throws -> DayPeaks {
        var peaks = DayPeaks(columns)
        for (take, start) in try takes(of: day, in: columns) {
            try channel.checkBrowser()
            guard let sidecar = try? library.sidecar(of: take) else { continue }
            peaks.add(sidecar, at: start, in: take.folder, pyramid)
        }
        return peaks
    }

    private func answer(_ found: Picture) -> Response {
        let bytes = ByteBuffer(bytes: found.picture.bytes)
        let share = found.share
        // Rounded down: 1 means that nothing is missing.
        let computed = (found.picture.computed * 1000).rounded(.down) / 1000
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream", .cacheControl: "private, no-cache",
                Self.computed: "\(computed)",
            ],
            body: ResponseBody(contentLength: bytes.readableBytes) { writer in
                try await writer.write(bytes)
                try await writer.finish(nil)
                // The network has the bytes.
                withExtendedLifetime(share) {}
            })
    }
}

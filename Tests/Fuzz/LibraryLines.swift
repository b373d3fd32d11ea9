import Control
import Takes
import Transport

/// Lines that the library may receive over its socket.
enum LibraryLines {
    static let seeds = [
        #"{"id":1,"command":"takes","text":"wren dawn","tag":"river","starred":true,"limit":200,"after":"1 2"}"#,
        #"{"id":2,"command":"takes","since":"2026-11-21T06:18:11Z","until":"2026-11-22 07:18:11+01","marker":""}"#,
        #"{"id":3,"command":"takes","least_seconds":1.5,"most_seconds":60,"place":"here","order":"size","descending":false}"#,
        #"{"id":4,"command":"show","take":"heron07-0042-061811Z"}"#,
        #"{"id":5,"command":"memo","take":42,"memo":"a wren\nat dawn"}"#,
        #"{"id":6,"command":"memo","take":"last","memo":null}"#,
        #"{"id":7,"command":"tag","take":42,"add":["river"," dawn "],"remove":["draft"]}"#,
        #"{"id":8,"command":"star","take":42,"starred":true}"#,
        #"{"id":9,"command":"delete","take":"heron07-0042-061811Z","where":"here","left":"home"}"#,
        #"{"id":9,"command":"outbox","limit":20}"#,
        #"{"id":10,"command":"outbox-pause"}"#,
        #"{"id":11,"command":"outbox-hold","take":"last"}"#,
        #"{"id":12,"command":"takes","upload":"not-done","kit":"heron07"}"#,
        #"{"id":12,"command":"takes","q":"27 Nov","zone":"Europe/Berlin","hour_from":22,"hour_to":4.5,"sort":"loudest"}"#,
        #"{"id":12,"command":"takes","label":"wren","longer":5,"shorter":60,"louder":-30.5,"counted":true}"#,
        #"{"id":13,"command":"markers","take":42,"set":[{"at_frame":48000,"note":"wren"},{"at_frame":7}],"remove":[0]}"#,
        #"{"id":13,"command":"markers","take":42,"set":[{"at_frame":7,"end_frame":9,"low_hz":1.5e3,"high_hz":8000},{"at_frame":8,"end_frame":null}]}"#,
        #"{"id":14,"command":"title","take":42,"title":" Dawn at the weir "}"#,
        #"{"id":14,"command":"accept-damaged","take":"heron07-0042-061811Z"}"#,
        #"{"id":15,"command":"delete","take":"heron07-0042-061811Z","where":"here","now":true}"#,
    ]

    /// Parses each line as the library would. The result must be within the library's limits, and survive a round trip.
    static func check(_ input: [UInt8]) throws {
        for line in input.split(separator: UInt8(ascii: "\n")).prefix(100) where line.count <= 64 << 10 {
            let request: Request<LibraryMessage>
            do throws(RequestError) {
                request = try Request.read(line)
            } catch {
                let message = error.refusal.message
                try hold(!message.isEmpty && message.utf8.count <= 2000, "a refusal of \(message.utf8.count) bytes")
                continue
            }
            try check(request.message)
            let again = try? Request<LibraryMessage>.read(Array(request.line.utf8)[...])
            try hold(again == request, "it is read as another one: \(request.line.prefix(500))")
        }
    }

    private static func check(_ message: LibraryMessage) throws {
        switch message {
        case .status, .show, .outboxWish, .outboxDecision, .remote(.next), .pairingCode, .adoptStick: break
        case .remote(.list(let store)): try check(store, nil)
        case .remote(.sent(let store, let path)): try check(store, path)
        case .remote(.get(let store, let path)), .remote(.delete(let store, let path)): try check(store, path)
        case .delete(let stem, let deletion):
            try hold(TakeName(stem: stem, day: "") != nil, "\(stem) is deleted")
            try hold(!deletion.onlyIfHome || deletion.place == .here, "a condition for \(deletion.place)")
        case .acceptDamaged(let stem): try hold(TakeName(stem: stem, day: "") != nil, "\(stem) is accepted")
        case .outbox(let limit):
            try hold((1...TakeQuery.mostTakes).contains(limit), "a limit of \(limit)")
        case .takes(let query):
            try hold((1...TakeQuery.mostTakes).contains(query.limit), "a limit of \(query.limit)")
            let lengths = [query.leastSeconds, query.mostSeconds].compactMap(\.self)
            try hold(lengths.allSatisfy { $0 >= 0 && $0.isFinite }, "lengths of \(lengths)")
            let hours = [query.fromHour, query.toHour].compactMap(\.self)
            try hold(hours.allSatisfy { (0...24).contains($0) }, "hours of \(hours)")
            try hold((query.zone?.utf8.count ?? 1) <= 64, "a zone \(query.zone ?? "")")
            _ = query.typed.map { TypedSearch($0) }
            try hold((query.after?.utf8.count ?? 0) <= 200, "after is \(query.after ?? "")")
            try hold(query.tag.map { TakeNotes.tag($0) == $0 } ?? true, "a tag \(query.tag ?? "")")
        case .change(_, let change): try check(change)
        }
    }

    private static func check(_ change: NotesChange) throws {
        switch change {
        case .starred, .title(nil): break
        case .title(let title?): try hold(TakeNotes.title(title) == title, "a title \(title)")
        case .memo(let memo, _):
            try hold((memo?.utf8.count ?? 1) <= TakeNotes.longestMemo, "a memo of \(memo?.utf8.count ?? 0) bytes")
        case .markers(let setting, let removing):
            try hold(!setting.isEmpty || !removing.isEmpty, "nothing is set or removed")
            try hold(max(setting.count, removing.count) <= TakeNotes.mostMarkerChanges, "\(setting.count) markers")
            try hold((setting.map(\.atFrame) + removing).allSatisfy { $0 >= .first }, "a marker before the take")
            try hold(
                setting.allSatisfy { ($0.note?.utf8.count ?? 1) <= TakeNotes.longestMarkerNote },
                "a note that is too long")
            for marker in setting {
                guard case .set(let region) = marker.region else { continue }
                try hold(region.end > marker.atFrame && region.end <= .last, "a region that ends at \(region.end)")
                let edges = region.band.map { $0.lowHz >= 0 && $0.lowHz < $0.highHz && $0.highHz.isFinite } ?? true
                try hold(edges, "a band of \(String(describing: region.band))")
                _ = region.problem(inTakeUpTo: .last, rateHz: 48_000)
            }
        case .tags(let adding, let removing):
            let tags = adding + removing
            try hold(!tags.isEmpty && tags.count <= 2 * TakeNotes.mostTags, "\(tags.count) tags")
            for tag in tags { try hold(TakeNotes.tag(tag) == tag, "a tag \(tag)") }
        }
    }

    private static func check(_ store: String?, _ path: String?) throws {
        try hold(
            (store?.utf8.count ?? 1) <= 1000 && (path?.utf8.count ?? 1) <= 200, "a store or a path that is too long")
    }
}

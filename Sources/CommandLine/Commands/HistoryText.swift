import History
import Takes
import Transport

/// An event of the history as one line for a person.
enum HistoryText {
    /// `2026-11-21 06:18:11  0:04:12.3  record pressed`.
    static func line(_ record: HistoryRecord, showsUnicode: Bool) -> String {
        let uptime = Figures.time(record.uptime)
        return "\(record.at.date) \(record.at.timeOfDay)  \(uptime)  \(text(record.event, showsUnicode: showsUnicode))"
    }

    private static func text(_ event: HistoryEvent, showsUnicode: Bool) -> String {
        switch event {
        case .started(let start): "recorder \(start.version.printable) started\(ending(start.before))"
        case .ended(let end): "recorder ended\(cause(end.by))"
        case .pressed(let press): pressed(press.button.printable)
        case .takeBegan(let take): "take \(take.take.printable) began"
        case .takeEnded(let take): ended(take)
        case .faultBegan(let fault): "fault \(fault.code) began: \(fault.message.printable)"
        case .faultEnded(let fault): "fault \(fault.code) ended after \(Figures.time(fault.seconds))"
        case .card(let card):
            "card \(CardPlace(card: card.card, port: card.port).summary.printable): \(card.format.printable)"
        case .clock(let clock) where clock.origin == .unset: "clock unset: nothing vouches for the date any more"
        case .clock(let clock): "clock set by: \(clock.origin.rawValue)"
        case .measured(let measurement): measured(measurement, degree: showsUnicode ? "\u{b0}C" : "C")
        case .phone(let event): phone(event)
        case .leftOut(let some): "\(some.count) events left out: too many came in an hour"
        }
    }

    private static func ending(_ before: RunEnd) -> String {
        switch before {
        case .none: ", for the first time"
        case .unknown: ", after something that cannot be read in the history"
        case .signal: ", after it was ended by the system"
        case .person: ", after a person switched the kit off"
        case .battery: ", after it switched itself off: the battery was nearly empty"
        case .schedule: ", after it switched itself off between the hours of its schedule"
        case .crash: ", after it crashed, or was killed"
        case .powerCut: ", after the power was cut, or the system crashed"
        case .watchdog: ", after the watchdog reset the kit"
        }
    }

    private static func cause(_ cause: HistoryEvent.RecorderEnd.Cause) -> String {
        switch cause {
        case .signal: ": by the system"
        case .person: ": a person switched the kit off"
        case .battery: ": the battery was nearly empty"
        case .schedule: ": nothing is scheduled for a while"
        }
    }

    private static func pressed(_ button: String) -> String {
        switch button {
        case "lock": "back and stop held: the panel is locked, or unlocked"
        case "eject": "stop held: eject"
        case "shutdown": "stop held: shut down"
        case "pair": "play held: phones may pair"
        case "access": "back and forward held: access point"
        case "stick": "stop and play held: adopt the stick"
        default: "\(button) pressed"
        }
    }

    private static func phone(_ event: PhoneEvent) -> String {
        let by = event.by.map { "by \($0.printable)" } ?? "by a phone that is not paired"
        let phone = event.phone?.printable ?? ""
        return switch event.what {
        case .paired: "phone \(phone) paired"
        case .renamed: "phone renamed to \(phone) \(by)"
        case .removed: event.phone == event.by ? "phone \(phone) removed by itself" : "phone \(phone) removed \(by)"
        case .settings: "settings changed \(by): \((event.keys ?? []).map(\.printable).joined(separator: ", "))"
        case .stick: "the stick that is in was adopted \(by)"
        case .wrongCodes: "pairing ended by \(PairingWindow.mostWrongCodes) wrong codes"
        }
    }

    private static func ended(_ take: HistoryEvent.TakeEnding) -> String {
        var text =
            "take \(take.take.printable) ended by \(take.endedBy?.rawValue ?? "unknown"): \(Figures.time(take.seconds))"
        if take.gaps > 0 { text += take.gaps == 1 ? ", 1 gap" : ", \(take.gaps) gaps" }
        if let drift = take.clockDriftPPM { text += ", clock \(Figures.short(drift, digits: 1)) ppm" }
        return text
    }

    private static func measured(_ measurement: Measurement, degree: String) -> String {
        var parts = (measurement.temperatures ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key.printable) \(Figures.decimal($0.value, digits: 1)) \(degree)"
        }
        if let volts = measurement.supplyVolts { parts.append("supply \(Figures.short(volts)) V") }
        if measurement.underVoltage == true { parts.append("under-voltage") }
        if let flags = measurement.throttled, flags != 0 { parts.append("throttled 0x\(String(flags, radix: 16))") }
        if let free = measurement.freeBytes { parts.append("\(Figures.size(free)) free") }
        for (disk, percent) in (measurement.storageWear ?? [:]).sorted(by: { $0.key < $1.key }) {
            parts.append("\(disk.printable) \(percent) % used")
        }
        for (disk, state) in (measurement.preEndOfLife ?? [:]).sorted(by: { $0.key < $1.key }) where state > 1 {
            parts.append("\(disk.printable) reserve \(state == 2 ? "low" : "nearly gone")")
        }
        for (disk, isHealthy) in (measurement.isHealthy ?? [:]).sorted(by: { $0.key < $1.key }) where !isHealthy {
            parts.append("\(disk.printable) says that it fails")
        }
        return parts.joined(separator: ", ")
    }
}

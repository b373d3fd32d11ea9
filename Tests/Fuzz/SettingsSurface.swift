import Filters
import Foundation
import Settings
import Takes

struct SettingsSurface: Surface {
    static let name = "settings"
    let mutator: Mutator
    private let path: String

    init(scratch: String) throws {
        path = "\(scratch)/fieldfare.toml"
        let example = try String(contentsOfFile: Self.examplePath, encoding: .utf8)
        let sections = example.components(separatedBy: "\n\n").map { Array($0.utf8) }
        let words = example.split { " \t\n=".contains($0) }.map(String.init)
        mutator = Mutator(
            seeds: [Array(example.utf8)] + sections,
            words: Set(words).sorted() + [
                "[panel.leds]\nall = { line = \"GPIO5\" }\n", "= { led = \"ACT\", active_low = true }", "[a.b.c.d.e]\n",
                "a.b.c = 1\n",
                "\"\"\"", "'''", "0x7fffffffffffffff", "1979-05-27T07:32:00Z", "usb:0d8c:0014:\u{1f3b5}", "pcm:null",
                "path:../../x", "store = \"s3\"\n", "pre_roll_seconds = 30\nstandby = \"closed\"\n", "+inf", "1_0",
            ])
    }

    private static let examplePath =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/deploy/fieldfare.example.toml"

    mutating func take(_ input: [UInt8]) throws {
        try Data(input).write(to: URL(filePath: path))
        let (settings, problems) = Settings.load(from: path)
        try hold(problems.count <= 101, "\(problems.count) problems")
        for problem in problems {
            let text = problem.description
            try hold(text.isOneLine, "a problem of more than a line: \(text.debugDescription)")
            try hold(text.utf8.count <= 2000, "a problem of \(text.utf8.count) bytes: \(text)")
        }
        try check(settings)
    }

    /// Compares settings with the ranges in the example file and `SettingsSchema`.
    private func check(_ settings: Settings) throws {
        let capture = settings.capture
        try hold(capture.rateHz.map((4000...768_000).contains) ?? true, "rate_hz \(capture.rateHz ?? 0)")
        switch capture.channels {
        case .first(let count): try hold((1...32).contains(count), "channels \(count)")
        case .numbered(let numbers):
            let isEachOnce = !numbers.isEmpty && Set(numbers).count == numbers.count
            try hold(isEachOnce && numbers.allSatisfy((1...64).contains), "channels \(numbers)")
        case .layout(let layout): try hold(false, "channels \(layout)")
        case .live, nil: break
        }
        try hold((.zero ... .seconds(30)).contains(capture.preRoll), "pre_roll_seconds \(capture.preRoll)")
        try hold(capture.preRoll == .zero || capture.standby == .listening, "a pre-roll of a closed card")
        try hold(capture.gainDB.map((-150...150).contains) ?? true, "gain_db \(capture.gainDB ?? 0)")
        let filter = settings.filter.request
        for asked in [filter.lowPass, filter.highPass] {
            guard case .hertz(let cutoff) = asked else { continue }
            try hold((20...345_600).contains(cutoff), "a cutoff of \(cutoff) Hz")
        }
        try hold([12, 24, 36, 48].contains(filter.slopeDBPerOctave), "a slope of \(filter.slopeDBPerOctave)")
        for rate in [8000, 48000, 192_000] { _ = try? FilterDesign(filter, rateHz: rate) }
        let takes = settings.takes
        try hold((.milliseconds(250) ... .seconds(10)).contains(takes.sync), "sync_seconds \(takes.sync)")
        try hold((64...4000).contains(takes.splitMiB), "split_mib \(takes.splitMiB)")
        try hold((16...1_000_000).contains(takes.reserveMiB), "reserve_mib \(takes.reserveMiB)")
        try hold((0...1).contains(settings.playback.volume), "volume \(settings.playback.volume)")
        try hold(
            (.milliseconds(100) ... .seconds(3600)).contains(settings.playback.skip), "skip \(settings.playback.skip)")
        let tuning = settings.playback.tuning
        try hold(Tuning.pitchRange.contains(tuning.pitchCents), "pitch_cents \(tuning.pitchCents)")
        try hold(Tuning.speedRange.contains(tuning.speed), "speed \(tuning.speed)")
        try hold((.zero ... .seconds(600)).contains(takes.rejoin), "rejoin_seconds \(takes.rejoin)")
        try hold(takes.longest >= .zero && takes.newTakeEvery >= .zero, "a take of \(takes.longest)")
        try hold(settings.console.listen.map { (1...65535).contains($0.port) } ?? true, "console.listen")
        let panel = settings.panel
        try hold((.zero ... .milliseconds(500)).contains(panel.debounce), "debounce \(panel.debounce)")
        try hold((.milliseconds(100) ... .seconds(10)).contains(panel.hold), "hold \(panel.hold)")
        try hold((.seconds(1) ... .seconds(60)).contains(panel.shutdownHold), "shutdown_hold \(panel.shutdownHold)")
        try hold(panel.hold < panel.shutdownHold, "hold \(panel.hold), shutdown_hold \(panel.shutdownHold)")
        let outbox = settings.outbox
        let paths = [
            takes.directory, settings.control.socket, settings.library.socket, settings.library.directory,
            outbox.s3.credentialsFile, outbox.firebase.serviceAccountFile, outbox.webdav.credentialsFile,
            outbox.rclone.config, outbox.sftp.keyFile, outbox.sftp.knownHostsFile,
        ]
        for path in paths {
            try hold(path.hasPrefix("/") && path.isOneLine && path.utf8.count < 4096, "a path: \(path)")
        }
        try hold((0...10_000_000).contains(outbox.limitKbitPerSecond), "limit \(outbox.limitKbitPerSecond)")
        try hold(settings.kit.name.map { (1...64).contains($0.utf8.count) } ?? true, "kit.name")
    }
}

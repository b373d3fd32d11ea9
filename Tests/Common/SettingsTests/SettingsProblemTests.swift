import Takes
import Testing

@testable import Settings

struct SettingsProblemTests {
    /// A line of a file below its section, and its problem.
    static let sentences: [(text: String, sentence: String)] = [
        // Wrong type.
        (
            "[capture]\nrate_hz = \"fast\"",
            #"f:2: capture.rate_hz: found "fast" (a string): allowed are "native" or a rate from 4000 to 768000"#
        ),
        (
            "[capture]\nrate_hz = 48000.0",
            #"f:2: capture.rate_hz: found 48000.0 (a real number): allowed are "native" or a rate from 4000 to 768000"#
        ),
        ("[capture]\nagc = 1", "f:2: capture.agc: found 1 (a whole number): allowed are true or false"),
        ("[takes]\nformat = [\"wav\"]", #"f:2: takes.format: found an array: allowed are "wav" or "flac""#),
        (
            "[takes]\ndirectory = 1979-05-27",
            "f:2: takes.directory: found a date or a time: allowed is an absolute path, \"stick\" or \"stick-or-internal\""
        ),
        ("[playback.volume]", "f:1: playback.volume: found an empty table: allowed is a number from 0 to 1"),
        ("capture = true", "f:1: capture: found true (a boolean): allowed is a section, [capture]"),
        ("[[panel.leds]]", "f:1: panel.leds: found an array: allowed is a section, [panel.leds]"),
        // A secret that stands there by mistake is not shown.
        (
            "[outbox.webdav]\nurl = \"kit:Zugvogel@cloud.example.org/x\"",
            #"f:2: outbox.webdav.url: found "kit:…@cloud.example.org/x" (a string): allowed is a URL that begins with "#
                + "https:// or http://"
        ),
        (
            "[outbox.sftp]\nurl = \"ssh://kit:Zugvogel@h/x\"",
            #"f:2: outbox.sftp.url: found "ssh://kit:…@h/x" (a string): allowed is a URL such as "#
                + #""sftp://kit@archive.example.org/recordings""#
        ),
        (
            "[outbox.rclone]\nremote = \":webdav,pass=Zugvogel:a\"",
            #"f:2: outbox.rclone.remote: found ":webdav,pass=…" (a string): allowed is a remote and its path, such as "#
                + #""dropbox:recordings""#
        ),
        (
            "[outbox.s3]\ncredentials_file = \"Zugvogel\"",
            "f:2: outbox.s3.credentials_file: found a string: allowed is an absolute path"
        ),
        // Out of range.
        (
            "[capture]\nchannels = 33",
            #"f:2: capture.channels: found 33 (a whole number): allowed are "native", "live", a number from 1 to 32 or "#
                + "an array of channels such as [2] or [1, 3]"
        ),
        (
            "[capture]\nchannels = \"some\"",
            #"f:2: capture.channels: found "some" (a string): allowed are "native", "live", a number from 1 to 32 or "#
                + "an array of channels such as [2] or [1, 3]"
        ),
        (
            "[capture]\nchannels = []",
            "f:2: capture.channels: found an empty array: allowed is at least one channel, such as [2]"
        ),
        (
            "[capture]\nchannels = [0]",
            "f:2: capture.channels: found an array with 0 (a whole number): allowed are channel numbers from 1 to 64"
        ),
        (
            "[capture]\nchannels = [2, \"live\"]",
            #"f:2: capture.channels: found an array with "live" (a string): allowed are channel numbers from 1 to 64"#
        ),
        (
            "[capture]\nchannels = [2, 1, 2]",
            "f:2: capture.channels: found an array with channel 2 twice: allowed is each channel once"
        ),
        (
            "[capture]\nchannels = [\((1...300).map(String.init).joined(separator: ",\n"))]",
            "f:2: capture.channels: found an array with 65 (a whole number): allowed are channel numbers from 1 to 64"
        ),
        (
            "[capture]\npre_roll_seconds = 30.5",
            "f:2: capture.pre_roll_seconds: found 30.5 (a real number): allowed is a number from 0 to 30"
        ),
        (
            "[capture]\ngain_db = nan",
            #"f:2: capture.gain_db: found nan (a real number): allowed are "keep" or a number from -150 to 150"#
        ),
        (
            "[filter]\nlow_pass_hz = 19",
            #"f:2: filter.low_pass_hz: found 19 (a whole number): allowed are "auto", "off" or a cutoff from 20 to 345600"#
        ),
        (
            "[filter]\nhigh_pass_hz = \"auto\"",
            #"f:2: filter.high_pass_hz: found "auto" (a string): allowed are "off" or a cutoff from 20 to 345600"#
        ),
        (
            "[filter]\nslope_db_per_octave = 18",
            "f:2: filter.slope_db_per_octave: found 18 (a whole number): allowed are 12, 24, 36 or 48"
        ),
        (
            "[takes]\nsplit_mib = 4001",
            "f:2: takes.split_mib: found 4001 (a whole number): allowed is a whole number from 64 to 4000"
        ),
        (
            "[takes]\nsync_seconds = 0",
            "f:2: takes.sync_seconds: found 0 (a whole number): allowed is a number from 0.25 to 10"
        ),
        (
            "[playback]\nvolume = 80",
            "f:2: playback.volume: found 80 (a whole number): allowed is a number from 0 to 1"
        ),
        (
            "[playback]\npitch_cents = -1200.5",
            "f:2: playback.pitch_cents: found -1200.5 (a real number): allowed is a whole number from -2400 to 2400"
        ),
        (
            "[playback]\nspeed = 0.04",
            "f:2: playback.speed: found 0.04 (a real number): allowed is a number from 0.05 to 2"
        ),
        (
            "[playback]\nmonitor = true",
            #"f:2: playback.monitor: found true (a boolean): allowed are "off", "recording" or "always""#
        ),
        (
            "[takes]\nrejoin_seconds = 601",
            "f:2: takes.rejoin_seconds: found 601 (a whole number): allowed is a number from 0 to 600"
        ),
        (
            "[takes]\nlongest_minutes = 60\nnew_take_every_minutes = 60",
            "f:3: takes.new_take_every_minutes: found 60 (a whole number): allowed is takes.new_take_every_minutes "
                + "below takes.longest_minutes, or one of them 0"
        ),
        (
            "[console]\nlisten = \"80\"",
            #"f:2: console.listen: found "80" (a string): allowed are "off" or "#
                + #"an address and a port such as "0.0.0.0:80" or "[::]:80""#
        ),
        (
            "[takes]\ndirectory = \"sticks\"",
            #"f:2: takes.directory: found "sticks" (a string): allowed is an absolute path, "stick" or "stick-or-internal""#
        ),
        // Malformed.
        (
            "[kit]\nname = \"Heron 7\"",
            #"f:2: kit.name: found "Heron 7" (a string): allowed is a name of a-z, 0-9 and '-', at most 64 characters long"#
        ),
        (
            "[capture]\ncard = \"hw:1\"",
            #"f:2: capture.card: found "hw:1" (a string): allowed are "auto", "usb:VID:PID[:SERIAL]", "#
                + #""path:USB-PATH", "card:ALSA-ID" or "pcm:ANY-ALSA-NAME""#
        ),
        (
            "[takes]\ndirectory = \"takes\"",
            #"f:2: takes.directory: found "takes" (a string): allowed is an absolute path, "stick" or "stick-or-internal""#
        ),
        (
            "[takes]\ndirectory = \"/t\\u0000\\u001b[2J\"",
            #"f:2: takes.directory: found "/t\u{0}\u{1b}[2J" (a string): allowed is an absolute path, "stick" or "stick-or-internal""#
        ),
        (
            "[outbox]\nwindow = \"22:00-25:00\"",
            #"f:2: outbox.window: found "22:00-25:00" (a string): "#
                + #"allowed are "always" or two different times such as "22:00-06:00""#
        ),
        (
            "[outbox]\nstore = \"ftp\"",
            #"f:2: outbox.store: found "ftp" (a string): "#
                + #"allowed are "auto", "none", "s3", "firebase", "webdav", "sftp", "folder", "rclone" or an array of these"#
        ),
        (
            "[outbox]\nstore = [\"folder\", \"folder\"]",
            #"f:2: outbox.store: found an array: "#
                + #"allowed are "auto", "none", "s3", "firebase", "webdav", "sftp", "folder", "rclone" or an array of these"#
        ),
        (
            "[outbox.webdav]\nurl = \"cloud.example.org\"",
            #"f:2: outbox.webdav.url: found "cloud.example.org" (a string): "#
                + "allowed is a URL that begins with https:// or http://"
        ),
        (
            "[outbox.sftp]\nurl = \"archive.example.org:/recordings\"",
            #"f:2: outbox.sftp.url: found "archive.example.org:/recordings" (a string): "#
                + #"allowed is a URL such as "sftp://kit@archive.example.org/recordings""#
        ),
        (
            "[outbox]\nstore = [\"auto\", \"sftp\"]",
            #"f:2: outbox.store: found an array: allowed is "sftp" only with outbox.sftp.url"#
        ),
        (
            "[outbox.rclone]\nremote = \"dropbox\"",
            #"f:2: outbox.rclone.remote: found "dropbox" (a string): "#
                + #"allowed is a remote and its path, such as "dropbox:recordings""#
        ),
        // Unknown.
        (
            "[capture]\nrate = 48000",
            "f:2: capture.rate: found an unknown key: allowed are card, rate_hz, channels, standby, pre_roll_seconds, "
                + "gain_db or agc; did you mean 'rate_hz'?"
        ),
        (
            "[playback]\nvolumne = 1",
            "f:2: playback.volumne: found an unknown key: allowed are card, volume, skip_seconds, "
                + "pitch_cents, speed, expand or monitor; "
                + "did you mean 'volume'?"
        ),
        (
            "[playback]\ndebounce_milliseconds = 1",
            "f:2: playback.debounce_milliseconds: found an unknown key: allowed are card, volume, skip_seconds, "
                + "pitch_cents, speed, expand or monitor; "
                + "did you mean 'panel.debounce_milliseconds'?"
        ),
        (
            "[kit]\n\"a.b\\n\" = 1",
            #"f:2: kit."a.b\u{a}": found an unknown key: allowed are name or time_zone"#
        ),
        (
            "[play_back]",
            "f:1: play_back: found an unknown section: allowed are kit, capture, filter, takes, playback, panel, schedule, "
                + "power, control, library, console or outbox; did you mean 'playback'?"
        ),
        (
            "[panel.leds]\nrecord = { line = \"A\", pull = \"up\" }",
            "f:2: panel.leds.record.pull: found an unknown key: allowed are line, chip, offset, active_low or led"
        ),
        // Together.
        (
            "[capture]\nstandby = \"closed\"\npre_roll_seconds = 2",
            "f:3: capture.pre_roll_seconds: found 2 (a whole number): "
                + #"allowed above 0 only with capture.standby = "listening""#
        ),
        (
            "[filter]\nlow_pass_hz = 100\nhigh_pass_hz = 200",
            "f:3: filter.high_pass_hz: found 200 (a whole number): allowed is filter.high_pass_hz below "
                + "filter.low_pass_hz"
        ),
        (
            "[panel]\nhold_seconds = 4",
            "f:2: panel.hold_seconds: found 4 (a whole number): allowed is panel.shutdown_hold_seconds above "
                + "panel.hold_seconds"
        ),
        (
            "[outbox]\nstore = \"s3\"",
            #"f:2: outbox.store: found "s3" (a string): allowed is "s3" only with outbox.s3.bucket"#
        ),
    ]

    @Test(arguments: sentences) func `a problem is one sentence, and the key has its default`(
        _ text: String, _ sentence: String
    ) {
        let (settings, problems) = Settings.parse(text, file: "f")
        #expect(problems.map(\.description) == [sentence])
        var expected = Settings()
        if text.contains("closed") { expected.capture.standby = .closed }
        // The stores that are not used because of this problem.
        expected.outbox.unclear = settings.outbox.unclear.mapValues { _ in sentence }
        if text.contains("low_pass_hz = 100") { expected.filter.request.lowPass = .hertz(100) }
        if text.contains("longest_minutes") { expected.takes.longest = .seconds(3600) }
        if text.contains("panel.leds") && !text.contains("[[") { expected.panel.leds.record = nil }
        #expect(settings == expected)
    }

    @Test(arguments: [("07:00-08:00", true), ("07:30-08:00", false), ("always", true)])
    func `a kit that is off between its hours may send within them`(window: String, isKept: Bool) {
        let text = """
            [outbox]
            window = "\(window)"
            [schedule]
            record = ["05:00-07:30"]
            off_between = true
            """
        let (settings, problems) = Settings.parse(text, file: "f")
        #expect(settings.schedule.isOffBetween == isKept)
        let sentence =
            "f:5: schedule.off_between: found true (a boolean): allowed is true only if outbox.window and "
            + "schedule.record overlap: otherwise the kit is off when it may send"
        #expect(problems.map(\.description) == (isKept ? [] : [sentence]))
    }

    static let unreadable: [(text: String, sentence: String)] = [
        (
            "[takes]\nsplit_mib = 64\nsplit_mib = 65\n",
            "f:3: cannot be read: error while parsing key-value pair: cannot redefine existing integer 'split_mib'; "
                + "until that is corrected all settings have their defaults"
        ),
        (
            "[kit]\nname = heron\n",
            "f:2: cannot be read: error while parsing value: could not determine value type; "
                + "until that is corrected all settings have their defaults"
        ),
        (
            "[k\u{fc}t]\n",
            "f:1: cannot be read: error while parsing table header: expected ']', saw '\u{fc}'; "
                + "until that is corrected all settings have their defaults"
        ),
        (
            "\n" + String(repeating: "#", count: 1001) + "\n",
            "f:2: cannot be read: a line of 1001 bytes, but at most 1000 are allowed; "
                + "until that is corrected all settings have their defaults"
        ),
    ]

    @Test(arguments: unreadable) func `a file that is not TOML is one problem`(_ text: String, _ sentence: String) {
        let (settings, problems) = Settings.parse(text, file: "f")
        #expect(problems.map(\.description) == [sentence])
        #expect(settings == Settings())
    }

    @Test func `a file that is too large is one problem`() {
        let (settings, problems) = Settings.parse(String(repeating: "# a comment\n", count: 5462), file: "f")
        let sentence =
            "f:1: cannot be read: a file of 65544 bytes, but at most 65536 are allowed; "
            + "until that is corrected all settings have their defaults"
        #expect(problems.map(\.description) == [sentence])
        #expect(settings == Settings())
    }

    @Test func `bytes that are not UTF-8 are named by their line`() {
        let bytes = Array("[kit]\n# é\nname = \"h".utf8) + [0xff] + Array("\"\n".utf8)
        let (settings, problems) = Settings.parse(bytes, file: "f")
        let expected = SettingsProblem(
            file: "f", line: 3, column: 10,
            message:
                "cannot be read: bytes that are not UTF-8; until that is corrected all settings have their defaults")
        #expect(problems == [expected])
        #expect(settings == Settings())
    }

    @Test func `all problems are reported at once, in the order of the file, and what is right stays in force`() {
        let text = """
            [takes]
            split_mib = 1
            format = "flac"
            sync = 1
            [outbox]
            store = "folder"
            window = "never"
            [outbox.folder]
            path = "relative"
            [capture]
            rate_hz = 96000
            gain_db = true
            """
        let (settings, problems) = Settings.parse(text, file: "f")
        #expect(
            problems.map { "\($0.line ?? 0):\($0.column ?? 0) \($0.key ?? "")" } == [
                "2:1 takes.split_mib", "4:1 takes.sync", "6:1 outbox.store", "7:1 outbox.window",
                "9:1 outbox.folder.path", "12:1 capture.gain_db",
            ])
        var expected = Settings()
        expected.takes.format = .flac
        expected.capture.rateHz = 96000
        expected.outbox.unclear = [.folder: problems[4].description]
        #expect(settings == expected)
    }

    @Test func `two keys that stay wrong together both take their defaults`() {
        let (settings, problems) = Settings.parse(
            "panel = { hold_seconds = 5, shutdown_hold_seconds = 4 }", file: "f")
        #expect(problems.map(\.key) == ["panel.shutdown_hold_seconds"])
        #expect(settings == Settings())
    }

    @Test(
        "a folder that takes are sent to is apart from the takes",
        arguments: [
            ("/srv/takes", "/srv/takes/home", false), ("/srv/takes", "/srv", false),
            ("/srv/takes", "/srv//takes/", false),
            ("/srv/takes", "/srv/./takes", false), ("/srv/takes", "/srv/takes-home", true),
            ("/srv/takes", "/srv/home", true),
        ])
    func folderApart(takes: String, home: String, isAllowed: Bool) {
        let text = "takes.directory = \"\(takes)\"\noutbox.store = \"folder\"\noutbox.folder.path = \"\(home)\"\n"
        let (settings, problems) = Settings.parse(text, file: "f")
        let sentence =
            "f:2: outbox.store: found \"folder\" (a string): allowed is \"folder\" only with outbox.folder.path apart from "
            + "takes.directory: neither may lie in the other"
        #expect(problems.map { "\($0)" } == (isAllowed ? [] : [sentence]))
        #expect(settings.outbox.stores == (isAllowed ? [.folder] : Settings().outbox.stores))
    }
}

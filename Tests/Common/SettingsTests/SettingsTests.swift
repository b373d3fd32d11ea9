import Takes
import Testing

@testable import Settings

struct SettingsTests {
    @Test func `the shipped file has no problem`() {
        let (settings, problems) = Settings.load(from: ExampleFile.path)
        #expect(problems.map(\.description) == [])
        var expected = Settings()
        expected.kit.name = "heron07"
        expected.outbox.s3 = .init(
            endpoint: "https://s3.example.org", region: "us-east-1", bucket: "recordings", prefix: "heron07/",
            credentialsFile: "/etc/fieldfare/s3.credentials")
        expected.outbox.firebase = .init(
            bucket: "project.appspot.com", prefix: "recordings/",
            serviceAccountFile: "/etc/fieldfare/service-account.json", endpoint: "https://storage.googleapis.com")
        expected.outbox.webdav = .init(
            url: "https://cloud.example.org/remote.php/dav/files/kit/recordings/",
            credentialsFile: "/etc/fieldfare/webdav.credentials")
        expected.outbox.sftp = .init(
            url: "sftp://kit@archive.example.org/recordings", keyFile: "/etc/fieldfare/sftp.key",
            knownHostsFile: "/etc/fieldfare/sftp.known_hosts")
        expected.outbox.folder = .init(path: "/media/usb/recordings")
        expected.outbox.rclone = .init(remote: "dropbox:recordings", config: "/etc/fieldfare/rclone.conf")
        #expect(settings == expected)
    }

    @Test func `each default in the shipped file is the default`() {
        let (settings, problems) = Settings.parse(ExampleFile.defaultsAlone, file: "f")
        #expect(problems.map(\.description) == [])
        #expect(settings == Settings())
    }

    @Test func `every key reaches its own place`() throws {
        let text = """
            kit.name = "k"
            filter = { low_pass_hz = 8000, slope_db_per_octave = 48, high_pass_hz = 40.5, keep_unfiltered = true }
            [capture]
            card = "usb:0D8C:0014"
            rate_hz = 44100
            channels = 2
            pre_roll_seconds = 2.5
            gain_db = -6
            agc = true
            [takes]
            directory = "/t"
            format = "flac"
            sync_seconds = 0.25
            split_mib = 64
            reserve_mib = 100
            rejoin_seconds = 0
            longest_minutes = 480
            new_take_every_minutes = 0.5
            [playback]
            card = "card:DAC"
            volume = 1
            skip_seconds = 10
            pitch_cents = -1200
            speed = 0.1
            expand = true
            monitor = "recording"
            [panel]
            debounce_milliseconds = 20
            hold_seconds = 1
            shutdown_hold_seconds = 5
            lock = false
            buttons.record = { chip = "gpiochip0", offset = 17, active_low = false, pull = "none" }
            buttons.back = "none"
            leds.record = { line = "RED", active_low = true }
            leds.fault = { led = "ACT" }
            leds.upload = "none"
            [schedule]
            record = ["05:00-07:30", "22:00-02:00"]
            off_between = true
            [power]
            low_battery = { line = "LBO", active_low = false }
            supply = "/sys/class/power_supply/battery/voltage_now"
            supply_ratio = 3
            low_volts = 3.3
            governor = "powersave"
            wifi = "off"
            hdmi = "on"
            [control]
            socket = "/c"
            [library]
            socket = "/l"
            directory = "/d"
            [console]
            listen = "[::1]:8080"
            access = "read-only"
            live_listening = false
            [outbox]
            store = "none"
            keep_local = "always"
            window = "22:00-06:00"
            limit_kbit_per_second = 100
            [outbox.sftp]
            url = "sftp://kit@archive.example.org:2222/recordings"
            key_file = "/k"
            known_hosts_file = "/h"
            """
        let (settings, problems) = Settings.parse(text, file: "f")
        #expect(problems.map(\.description) == [])
        var expected = Settings()
        expected.kit.name = "k"
        expected.filter.request = FilterRequest(lowPass: .hertz(8000), slopeDBPerOctave: 48, highPass: .hertz(40.5))
        expected.filter.keepUnfiltered = true
        expected.capture.card = .usb(vendor: "0d8c", product: "0014", serial: nil)
        expected.capture.rateHz = 44100
        expected.capture.channels = 2
        expected.capture.preRoll = .milliseconds(2500)
        expected.capture.gainDB = -6
        expected.capture.agc = true
        expected.takes = .init(
            directory: "/t", format: .flac, sync: .milliseconds(250), splitMiB: 64, reserveMiB: 100, rejoin: .zero,
            longest: .seconds(480 * 60), newTakeEvery: .seconds(30))
        expected.playback = .init(
            card: .cardID("DAC"), volume: 1, skip: .seconds(10),
            tuning: Tuning(pitchCents: -1200, speed: 0.1, expands: true), monitor: .recording)
        expected.panel.debounce = .milliseconds(20)
        expected.panel.hold = .seconds(1)
        expected.panel.shutdownHold = .seconds(5)
        expected.panel.lock = false
        expected.panel.buttons.record = .init(.offset(chip: "gpiochip0", offset: 17), isActiveLow: false, pull: .off)
        expected.panel.buttons.back = nil
        expected.panel.leds.record = .line(.name("RED"), isActiveLow: true)
        expected.panel.leds.fault = .led("ACT")
        expected.panel.leds.upload = nil
        expected.schedule = .init(
            record: try ["05:00-07:30", "22:00-02:00"].map { try #require(HoursOfDay($0)) }, isOffBetween: true)
        expected.power = .init(
            lowBattery: .init(.name("LBO"), isActiveLow: false), supply: "/sys/class/power_supply/battery/voltage_now",
            supplyRatio: 3, lowVolts: 3.3, governor: .powersave, hasWiFi: false, hasHDMI: true)
        expected.control.socket = "/c"
        expected.library = .init(socket: "/l", directory: "/d")
        expected.console = .init(
            listen: ListenAddress(host: "::1", port: 8080), access: .readOnly, hasLiveListening: false)
        expected.outbox.stores = []
        expected.outbox.keepLocal = .always
        expected.outbox.window = .daily(try #require(HoursOfDay("22:00-06:00")))
        expected.outbox.limitKbitPerSecond = 100
        expected.outbox.sftp = .init(
            url: "sftp://kit@archive.example.org:2222/recordings", keyFile: "/k", knownHostsFile: "/h")
        #expect(settings == expected)
    }

    @Test(
        arguments: [
            ("\"native\"", nil), ("2", .first(2)), ("32", .first(32)), ("\"live\"", .live), ("[2]", .numbered([2])),
            ("[1, 3]", .numbered([1, 3])), ("[3, 1]", .numbered([3, 1])), ("[64]", .numbered([64])),
        ] as [(String, ChannelChoice?)])
    func `channels are a number, some of the card's, or those that are live`(value: String, choice: ChannelChoice?) {
        let (settings, problems) = Settings.parse("capture.channels = \(value)", file: "f")
        #expect(problems.map(\.description) == [])
        #expect(settings.capture.channels == choice)
    }

    @Test func `hours that are no array are refused`() {
        let (settings, problems) = Settings.parse("schedule.record = \"05:00-07:30\"", file: "f")
        #expect(settings.schedule.record.isEmpty && problems.count == 1)
        #expect(problems.first?.description.contains("an array of hours such as [\"05:00-07:30\"], at most 24") == true)
    }

    @Test(arguments: ["\"05:00\"", "\"05:00-05:00\"", "5", "\"24:00-05:00\"", "\"00:00-24:00\"", "\"5:00-7:00\""])
    func `of several hours those that can be read are in force`(value: String) {
        let (settings, problems) = Settings.parse("schedule.record = [\"22:00-24:00\", \(value)]", file: "f")
        #expect(settings.schedule.record == [HoursOfDay("22:00-00:00")])
        #expect(problems.count == 1)
        let sentence = problems.first?.description ?? ""
        #expect(sentence.contains("found \(value)") && sentence.contains("allowed are two different times such as"))
    }

    @Test(arguments: [
        ("/sys/bus/iio/devices/iio:device0/in_voltage0_raw", true), ("/sys/class/hwmon/hwmon0/in1_input", true),
        ("/sys/class/power_supply/battery/voltage_now", true), ("/sys/../tmp/in_voltage0_raw", false),
        ("/sys/bus/iio/devices/iio:device0/in_temp_raw", false), ("/sys/class/hwmon/hwmon0/temp1_input", false),
    ]) func `a file is a voltage's by its name`(path: String, isVoltage: Bool) {
        let settings = Settings.parse("power.supply = \"\(path)\"", file: "f").settings
        #expect(settings.power.supply == (isVoltage ? path : nil))
    }

    @Test func `a battery is watched by a line of its own, and by a voltage only where that is measured`() {
        let (settings, problems) = Settings.parse(
            "power = { low_battery = { line = \"GPIO17\" }, low_volts = 3.3, supply = \"/tmp/voltage_now\" }", file: "f"
        )
        #expect(settings.power.lowBattery != nil && settings.panel.buttons.record == nil)
        #expect(settings.power.supply == nil && settings.power.lowVolts == nil)
        let texts = problems.map(\.description).joined(separator: "\n")
        #expect(
            texts.contains(
                "allowed is a path below /sys that ends in in_voltageN_raw, in_voltageN_input, inN_input or voltage_now"
            ))
        let alone = Settings.parse("power.low_volts = 3.3", file: "f")
        #expect(
            alone.problems.map(\.description)
                == ["f:1: power.low_volts: found 3.3 (a real number): allowed is a voltage only with power.supply"])
        #expect(alone.settings.power == Settings().power)
    }

    @Test func `a card may stay closed when nothing is kept from before the press`() {
        let (settings, problems) = Settings.parse("capture = { standby = \"closed\" }", file: "f")
        #expect(problems == [])
        #expect(settings.capture.standby == .closed)
    }

    @Test func `the console may be off`() {
        let (settings, problems) = Settings.parse("console.listen = \"off\"", file: "f")
        #expect(problems == [])
        #expect(settings.console.listen == nil)
    }

    @Test(arguments: [
        "80", ":80", "0.0.0.0", "0.0.0.0:", "0.0.0.0:0", "0.0.0.0:65536", "0.0.0:80", "1.2.3.256:80", "1.2.3.4:+80",
        "localhost:80", "[::1", "[1:2]:80", "[::g]:80", "::1:80", "[]:80", "1.2.3.:80",
    ])
    func `what is no address and port is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func `an empty file is all defaults`() {
        for text in ["", "\n", "# nothing\n", "\u{feff}", "[capture]\r\n[panel.leds]\r\n"] {
            let (settings, problems) = Settings.parse(text, file: "f")
            #expect(problems == [])
            #expect(settings == Settings())
        }
    }
}

import Takes

/// All keys, in the layout of the settings file. No other place knows their names.
enum SettingsSchema {
    static let keys: [Key<Settings>] = file

    private typealias Section = Key<Settings>

    @KeyList<Settings> private static var file: [Key<Settings>] {
        Section("kit") {
            Key(
                "name", \.kit.name, .optional(.kitName),
                "The name that takes are filed under",
                default: .words("the host name and 4 characters of the machine's own"))
            Key(
                "time_zone", \.kit.timeZone, .optional(.timeZone),
                "The time zone in which hours of the day are meant",
                default: .words("the machine's own"))
        }
        Section("capture") {
            Key(
                "card", \.capture.card, .card,
                "The sound card that is recorded from; auto is the best that is there, USB before a HAT",
                default: "\"auto\"")
            Key(
                "rate_hz", \.capture.rateHz, .either("native", or: .integer(4000...768_000, "a rate")),
                "Samples a second", default: "\"native\"")
            Key(
                "channels", \.capture.channels, .either("native", or: .channels),
                "Which channels of the card are recorded; live leaves out those without a signal in the first second",
                default: "\"native\"")
            Key(
                "standby", \.capture.standby, .choice,
                "Whether the card stays open while nothing is recorded; closed saves power", default: "\"listening\"")
            Key(
                "pre_roll_seconds", \.capture.preRoll, .seconds(0...30),
                "Sound from before the press that a take begins with", default: "0")
            Key(
                "gain_db", \.capture.gainDB, .either("keep", or: .number(-150...150)),
                "The gain that is set whenever the card is opened; keep leaves it as it is", default: "\"keep\"")
            Key(
                "agc", \.capture.agc, .boolean,
                "Automatic gain control, on cards that offer it", default: "false")
        }
        Section("filter") {
            Key(
                "low_pass_hz", \.filter.request.lowPass, .automatic | .off | .hertz,
                "Where the low-pass filter begins to cut; auto is 0.45 of the rate, off changes no bit",
                default: "\"auto\""
            )
            Key(
                "slope_db_per_octave", \.filter.request.slopeDBPerOctave, .one(of: FilterRequest.slopes),
                "How steeply the filters cut", default: "24")
            Key(
                "high_pass_hz", \.filter.request.highPass, .off | .hertz,
                "Below which frequency sound is filtered away", default: "\"off\"")
            Key(
                "keep_unfiltered", \.filter.keepUnfiltered, .boolean,
                "Whether the unfiltered sound is kept as well", default: "false")
        }
        Section("takes") {
            Key(
                "directory", \.takes.directory, .takesFolder,
                "Where takes are kept: a folder, or the USB stick that is in", default: "\"/var/lib/fieldfare/takes\"",
                changed: .wordsFromPhone)
            Key(
                "name_time", \.takes.nameTime, .choice,
                "The time in the names of takes; local is that of the kit's time zone", default: "\"utc\"")
            Key(
                "format", \.takes.format, .choice,
                "The format of finished takes", default: "\"wav\"")
            Key(
                "sync_seconds", \.takes.sync, .seconds(0.25...10),
                "The most sound that a power cut costs, while the storage answers", default: "1")
            Key(
                "split_mib", \.takes.splitMiB, .integer(64...4000),
                "The most that one file of a take holds", default: "4000")
            Key(
                "reserve_mib", \.takes.reserveMiB, .integer(16...1_000_000),
                "A recording ends before less than this is free", default: "512")
            Key(
                "rejoin_seconds", \.takes.rejoin, .seconds(0...600),
                "Record pressed this soon after stop continues the same take; 0 is never", default: "60")
            Key(
                "longest_minutes", \.takes.longest, .minutes(0...100_000),
                "A take ends by itself after this; 0 is never", default: "0")
            Key(
                "new_take_every_minutes", \.takes.newTakeEvery, .minutes(0...100_000),
                "After this the next take follows without a missing frame; 0 is never", default: "0")
        }
        Section("playback") {
            Key(
                "card", \.playback.card, .card,
                "The sound card that plays takes", default: "\"auto\"")
            Key(
                "volume", \.playback.volume, .number(0...1),
                "Loudness of the playback", default: "0.8")
            Key(
                "skip_seconds", \.playback.skip, .seconds(0.1...3600),
                "How far back and forward go", default: "5")
            Key(
                "pitch_cents", \.playback.tuning.pitchCents, .integer(Tuning.pitchRange),
                "Pitch of the playback; 1200 is an octave", default: "0")
            Key(
                "speed", \.playback.tuning.speed, .number(Tuning.speedRange),
                "Speed of the playback", default: "1.0")
            Key(
                "expand", \.playback.tuning.expands, .boolean,
                "Whether the pitch follows the speed, as for bats", default: "false")
            Key(
                "monitor", \.playback.monitor, .choice,
                "When the microphone is played on the playback card", default: "\"off\"")
        }
        Section("panel") {
            Key(
                "debounce_milliseconds", \.panel.debounce, .milliseconds(0...500),
                "How long a button must be at rest to count", default: "15")
            Key(
                "hold_seconds", \.panel.hold, .seconds(0.1...10),
                "How long back and forward are held until they repeat", default: "0.6")
            Key(
                "shutdown_hold_seconds", \.panel.shutdownHold, .seconds(1...60),
                "How long stop is held to shut the kit down", default: "3")
            Key(
                "lock", \.panel.lock, .boolean,
                "Whether back and stop, held together, lock the panel", default: "true")
            Section("buttons") {
                Key(
                    "record", \.panel.buttons.record, .button,
                    "The line of the button record", default: "{ line = \"GPIO17\" }")
                Key(
                    "stop", \.panel.buttons.stop, .button,
                    "The line of the button stop", default: "{ line = \"GPIO27\" }")
                Key(
                    "play", \.panel.buttons.play, .button,
                    "The line of the button play", default: "{ line = \"GPIO22\" }")
                Key(
                    "back", \.panel.buttons.back, .button,
                    "The line of the button back", default: "{ line = \"GPIO23\" }")
                Key(
                    "forward", \.panel.buttons.forward, .button,
                    "The line of the button forward", default: "{ line = \"GPIO24\" }")
            }
            Section("leds") {
                Key(
                    "record", \.panel.leds.record, .lamp,
                    "The line of the lamp record", default: "{ line = \"GPIO12\" }")
                Key(
                    "play", \.panel.leds.play, .lamp,
                    "The line of the lamp play", default: "{ line = \"GPIO16\" }")
                Key(
                    "upload", \.panel.leds.upload, .lamp,
                    "The line of the lamp upload", default: "{ line = \"GPIO13\" }")
                Key(
                    "fault", \.panel.leds.fault, .lamp,
                    "The line of the lamp fault", default: "{ line = \"GPIO26\" }")
                Key(
                    "all", \.panel.leds.all, .lamp,
                    "The line of a single lamp that shows everything", default: .none)
            }
        }
        Section("schedule") {
            Key(
                "record", \.schedule.record, .hours,
                "The hours of each day, in local time, in which the kit records by itself", default: "[]")
            Key(
                "off_between", \.schedule.isOffBetween, .boolean,
                "Whether the kit is switched off between these hours, if its clock chip can switch it on again",
                default: "false"
            )
        }
        Section("power") {
            Key(
                "low_battery", \.power.lowBattery, .button,
                "A line by which a battery board says that the battery is low: the kit ends the take and switches off",
                default: .none
            )
            Key(
                "supply", \.power.supply, .optional(.voltageFile),
                "The kernel's file of the supply's voltage, which the history notes", default: .none)
            Key(
                "supply_ratio", \.power.supplyRatio, .number(0.01...1000),
                "The supply's volts for each volt at the sensor, where a divider is between them", default: "1.0")
            Key(
                "low_volts", \.power.lowVolts, .optional(.number(0.5...100)),
                "Below this voltage of the supply the kit ends the take and switches off", default: .none)
            Key(
                "governor", \.power.governor, .either("keep", or: .choice),
                "By what the kernel chooses the processor's clock; powersave: always the lowest", default: "\"keep\"")
            Key(
                "wifi", \.power.hasWiFi, .either("keep", or: .word("on", true) | .word("off", false)),
                "Whether the kit's Wi-Fi is on; back and forward held for 3 s open its own all the same",
                default: "\"keep\""
            )
            Key(
                "hdmi", \.power.hasHDMI, .either("keep", or: .word("on", true) | .word("off", false)),
                "Whether the kit's HDMI sockets have a picture", default: "\"keep\"")
        }
        Section("control") {
            Key(
                "socket", \.control.socket, .socketPath,
                "Where the recorder answers programs", default: "\"/run/fieldfare/recorder.sock\"", changed: .file)
        }
        Section("library") {
            Key(
                "socket", \.library.socket, .socketPath,
                "Where the library answers programs", default: "\"/run/fieldfare-library/library.sock\"", changed: .file
            )
            Key(
                "directory", \.library.directory, .path,
                "Where the library keeps its catalog, memos and receipts", default: "\"/var/lib/fieldfare-library\"",
                changed: .file)
        }
        Section("console") {
            Key(
                "listen", \.console.listen, .either("off", or: .listenAddress),
                "Where this page is served", default: "\"0.0.0.0:80\"")
            Key(
                "access", \.console.access, .choice,
                "Rights of phones that are not paired; paired gives them none", default: "\"paired\"")
            Key(
                "live_listening", \.console.hasLiveListening, .boolean,
                "Whether phones may receive the live sound of the microphone", default: "true")
        }
        Section("outbox") {
            Key(
                "store", \.outbox.stores, .choices(none: .nowhere),
                "Where takes are sent; auto is a USB stick with a folder named fieldfare", default: "\"auto\"")
            Key(
                "ca_file", \.outbox.authorities, .optional(.path),
                "Further certificates to trust", default: .none, changed: .file)
            Key(
                "keep_local", \.outbox.keepLocal, .choice,
                "How long takes that were sent stay on the kit", default: "\"until-needed\"")
            Key(
                "window", \.outbox.window, .window,
                "When takes are sent, in local time", default: "\"always\"")
            Key(
                "limit_kbit_per_second", \.outbox.limitKbitPerSecond, .integer(0...10_000_000),
                "The most that sending may use; 0 sets no limit", default: "0")
            Section("s3") {
                Key(
                    "endpoint", \.outbox.s3.endpoint, .optional(.url),
                    "The address of the S3 service", default: .none, changed: .file)
                Key(
                    "region", \.outbox.s3.region, .name("a region's name"),
                    "Its region", default: "\"us-east-1\"")
                Key(
                    "bucket", \.outbox.s3.bucket, .optional(.bucket),
                    "The bucket", default: .none, changed: .file)
                Key(
                    "prefix", \.outbox.s3.prefix, .prefix,
                    "Prefix of all objects' names", default: "\"\"")
                Key(
                    "credentials_file", \.outbox.s3.credentialsFile, .path,
                    "The file with the key", default: "\"/etc/fieldfare/s3.credentials\"", changed: .file)
            }
            Section("firebase") {
                Key(
                    "bucket", \.outbox.firebase.bucket, .optional(.bucket),
                    "The bucket of the Firebase project", default: .none, changed: .file)
                Key(
                    "prefix", \.outbox.firebase.prefix, .prefix,
                    "Prefix of all objects' names", default: "\"\"")
                Key(
                    "service_account_file", \.outbox.firebase.serviceAccountFile, .path,
                    "The file of the service account", default: "\"/etc/fieldfare/service-account.json\"",
                    changed: .file)
                Key(
                    "endpoint", \.outbox.firebase.endpoint, .url,
                    "The address of the service", default: "\"https://storage.googleapis.com\"", changed: .file)
            }
            Section("webdav") {
                Key(
                    "url", \.outbox.webdav.url, .optional(.url),
                    "The folder on the WebDAV server", default: .none, changed: .file)
                Key(
                    "credentials_file", \.outbox.webdav.credentialsFile, .path,
                    "The file with name and password", default: "\"/etc/fieldfare/webdav.credentials\"", changed: .file)
            }
            Section("sftp") {
                Key(
                    "url", \.outbox.sftp.url, .optional(.sftp),
                    "The folder on the SFTP server", default: .none, changed: .file)
                Key(
                    "key_file", \.outbox.sftp.keyFile, .path,
                    "The private key", default: "\"/etc/fieldfare/sftp.key\"", changed: .file)
                Key(
                    "known_hosts_file", \.outbox.sftp.knownHostsFile, .path,
                    "The host key of the server", default: "\"/etc/fieldfare/sftp.known_hosts\"", changed: .file)
            }
            Section("folder") {
                Key(
                    "path", \.outbox.folder.path, .optional(.path),
                    "A folder on a share", default: .none, changed: .file)
            }
            Section("rclone") {
                Key(
                    "remote", \.outbox.rclone.remote, .optional(.remote),
                    "A remote of rclone, and a folder there", default: .none, changed: .file)
                Key(
                    "config", \.outbox.rclone.config, .path,
                    "The file of rclone's remotes", default: "\"/etc/fieldfare/rclone.conf\"", changed: .file)
            }
        }
    }

    /// Every key that holds a value, with its dotted name.
    static let assignments = keys.flatMap { $0.assignments() }

    static func name(of path: AnyKeyPath) -> String {
        assignments.first { $0.assignment.path == path }?.name ?? "a key"
    }

    /// Sets a key to its default.
    static func reset(_ path: AnyKeyPath, in settings: inout Settings) {
        assignments.first { $0.assignment.path == path }?.assignment.copy(&settings, Settings())
    }

    /// The dotted name of a key that is known in another section.
    static func elsewhere(_ key: String) -> String? {
        assignments.first { $0.name.hasSuffix(".\(key)") }?.name
    }
}

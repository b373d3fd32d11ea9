import Takes

/// All keys there are. This is the only place that knows their names: it reads as the settings file does.
enum SettingsSchema {
    static let keys: [Key<Settings>] = file

    private typealias Section = Key<Settings>

    @KeyList<Settings> private static var file: [Key<Settings>] {
        Section("kit") {
            Key("name", \.kit.name, .optional(.kitName))
        }
        Section("capture") {
            Key("card", \.capture.card, .card)
            Key("rate_hz", \.capture.rateHz, .either("native", or: .integer(4000...768_000, "a rate")))
            Key("channels", \.capture.channels, .either("native", or: .integer(1...32, "a number")))
            Key("standby", \.capture.standby, .choice)
            Key("pre_roll_seconds", \.capture.preRoll, .seconds(0...30))
            Key("gain_db", \.capture.gainDB, .either("keep", or: .number(-150...150)))
            Key("agc", \.capture.agc, .boolean)
        }
        Section("filter") {
            Key("low_pass_hz", \.filter.request.lowPass, .automatic | .off | .hertz)
            Key("slope_db_per_octave", \.filter.request.slopeDBPerOctave, .one(of: FilterRequest.slopes))
            Key("high_pass_hz", \.filter.request.highPass, .off | .hertz)
            Key("keep_unfiltered", \.filter.keepUnfiltered, .boolean)
        }
        Section("takes") {
            Key("directory", \.takes.directory, .takesFolder)
            Key("format", \.takes.format, .choice)
            Key("sync_seconds", \.takes.sync, .seconds(0.25...10))
            Key("split_mib", \.takes.splitMiB, .integer(64...4000))
            Key("reserve_mib", \.takes.reserveMiB, .integer(16...1_000_000))
            Key("rejoin_seconds", \.takes.rejoin, .seconds(0...600))
            Key("longest_minutes", \.takes.longest, .minutes(0...100_000))
            Key("new_take_every_minutes", \.takes.newTakeEvery, .minutes(0...100_000))
        }
        Section("playback") {
            Key("card", \.playback.card, .card)
            Key("volume", \.playback.volume, .number(0...1))
            Key("skip_seconds", \.playback.skip, .seconds(0.1...3600))
            Key("pitch_cents", \.playback.tuning.pitchCents, .integer(Tuning.pitchRange))
            Key("speed", \.playback.tuning.speed, .number(Tuning.speedRange))
            Key("expand", \.playback.tuning.expands, .boolean)
            Key("monitor", \.playback.monitor, .choice)
        }
        Section("panel") {
            Key("debounce_milliseconds", \.panel.debounce, .milliseconds(0...500))
            Key("hold_seconds", \.panel.hold, .seconds(0.1...10))
            Key("shutdown_hold_seconds", \.panel.shutdownHold, .seconds(1...60))
            Key("lock", \.panel.lock, .boolean)
            Section("buttons") {
                Key("record", \.panel.buttons.record, .button)
                Key("stop", \.panel.buttons.stop, .button)
                Key("play", \.panel.buttons.play, .button)
                Key("back", \.panel.buttons.back, .button)
                Key("forward", \.panel.buttons.forward, .button)
            }
            Section("leds") {
                Key("record", \.panel.leds.record, .lamp)
                Key("play", \.panel.leds.play, .lamp)
                Key("upload", \.panel.leds.upload, .lamp)
                Key("fault", \.panel.leds.fault, .lamp)
                Key("all", \.panel.leds.all, .lamp)
            }
        }
        Section("control") {
            Key("socket", \.control.socket, .socketPath)
        }
        Section("library") {
            Key("socket", \.library.socket, .socketPath)
            Key("directory", \.library.directory, .path)
        }
        Section("console") {
            Key("listen", \.console.listen, .either("off", or: .listenAddress))
            Key("access", \.console.access, .choice)
            Key("live_listening", \.console.hasLiveListening, .boolean)
        }
        Section("outbox") {
            Key("store", \.outbox.stores, .choices(none: .nowhere))
            Key("ca_file", \.outbox.authorities, .optional(.path))
            Key("keep_local", \.outbox.keepLocal, .choice)
            Key("window", \.outbox.window, .window)
            Key("limit_kbit_per_second", \.outbox.limitKbitPerSecond, .integer(0...10_000_000))
            Section("s3") {
                Key("endpoint", \.outbox.s3.endpoint, .optional(.url))
                Key("region", \.outbox.s3.region, .name("a region's name"))
                Key("bucket", \.outbox.s3.bucket, .optional(.bucket))
                Key("prefix", \.outbox.s3.prefix, .prefix)
                Key("credentials_file", \.outbox.s3.credentialsFile, .path)
            }
            Section("firebase") {
                Key("bucket", \.outbox.firebase.bucket, .optional(.bucket))
                Key("prefix", \.outbox.firebase.prefix, .prefix)
                Key("service_account_file", \.outbox.firebase.serviceAccountFile, .path)
                Key("endpoint", \.outbox.firebase.endpoint, .url)
            }
            Section("webdav") {
                Key("url", \.outbox.webdav.url, .optional(.url))
                Key("credentials_file", \.outbox.webdav.credentialsFile, .path)
            }
            Section("sftp") {
                Key("url", \.outbox.sftp.url, .optional(.sftp))
                Key("key_file", \.outbox.sftp.keyFile, .path)
                Key("known_hosts_file", \.outbox.sftp.knownHostsFile, .path)
            }
            Section("folder") {
                Key("path", \.outbox.folder.path, .optional(.path))
            }
            Section("rclone") {
                Key("remote", \.outbox.rclone.remote, .optional(.remote))
                Key("config", \.outbox.rclone.config, .path)
            }
        }
    }

    /// Every key that holds a value, with its dotted name.
    static let assignments = keys.flatMap { $0.assignments() }

    /// A key's dotted name.
    static func name(of path: AnyKeyPath) -> String {
        assignments.first { $0.assignment.path == path }?.name ?? "a key"
    }

    /// Gives a key its default.
    static func reset(_ path: AnyKeyPath, in settings: inout Settings) {
        assignments.first { $0.assignment.path == path }?.assignment.copy(&settings, Settings())
    }

    /// The dotted name of a key that is known in another section.
    static func elsewhere(_ key: String) -> String? {
        assignments.first { $0.name.hasSuffix(".\(key)") }?.name
    }
}

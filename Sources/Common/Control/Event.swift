import FoundationEssentials
public import Transport

/// The current level and the progress of the take. Each watcher gets it ten times a second.
public struct LevelEvent: Codable, Equatable, Sendable {
    /// One entry per channel.
    public var levelDBFS: [Level]
    /// The frames of the take so far.
    public var frames: Int64
    /// `frames` in seconds.
    public var elapsedSeconds: Double
    /// How much of the take is safe on disk.
    public var syncedSeconds: Double
    /// The playback position, or null when nothing plays.
    public var positionSeconds: Double?

    public init(_ status: Status) {
        levelDBFS = status.levelDBFS.map(\.finite)
        frames = status.frames
        elapsedSeconds = status.elapsedSeconds
        syncedSeconds = status.syncedSeconds
        positionSeconds = status.positionSeconds
    }

    enum CodingKeys: String, CodingKey {
        case frames
        case levelDBFS = "level_dbfs"
        case elapsedSeconds = "elapsed_seconds"
        case syncedSeconds = "synced_seconds"
        case positionSeconds = "position_seconds"
    }
}

/// The waveform that the card delivers, after the active filter: the pixels since the last event.
public struct PeaksEvent: Codable, Equatable, Sendable {
    public var rateHz: Int
    public var channels: Int
    public var framesPerPixel: Int
    /// The number of pixels before these. 0 means that the card was opened, or `watch` began.
    public var firstPixel: Int
    /// Minimum and maximum sample of each channel in each pixel, in 1/128 of full scale, as in a take's `.dat`.
    public var data: [Int8]

    public init(rateHz: Int, channels: Int, framesPerPixel: Int, firstPixel: Int, data: [Int8]) {
        self.rateHz = rateHz
        self.channels = channels
        self.framesPerPixel = framesPerPixel
        self.firstPixel = firstPixel
        self.data = data
    }

    enum CodingKeys: String, CodingKey {
        case channels, data
        case rateHz = "rate_hz"
        case framesPerPixel = "frames_per_pixel"
        case firstPixel = "first_pixel"
    }
}

/// One line of the stream that follows `watch`.
public enum Event: Equatable, Sendable {
    case status(Status)
    /// Sent ten times a second.
    case level(LevelEvent)
    /// Sent with each level, to peers that asked for peaks.
    case peaks(PeaksEvent)
    case take(TakeChange)
    /// A request made at the buttons that the library must carry out.
    case panel(PanelWish)

    /// The line for the peer, without the newline, or nil if a number in it is not finite.
    public var line: String? {
        switch self {
        case .status(let status): status.json.map { "{\"event\":\"status\"," + $0.dropFirst() }
        case .level(let level): jsonText(level).map { "{\"event\":\"level\"," + $0.dropFirst() }
        case .peaks(let peaks): jsonText(peaks).map { "{\"event\":\"peaks\"," + $0.dropFirst() }
        case .take(let change): jsonText(change).map { "{\"event\":\"take\"," + $0.dropFirst() }
        case .panel(let wish): "{\"event\":\"panel\",\"what\":\"\(wish.rawValue)\"}"
        }
    }

    /// Reads a line, or returns nil if it is not one of these events.
    public init?(line: [UInt8]) {
        struct Name: Decodable { var event: String }
        struct Wish: Decodable { var what: PanelWish }
        let decoder = JSONDecoder()
        let data = Data(line)
        switch (try? decoder.decode(Name.self, from: data))?.event {
        case "status":
            guard let status = try? decoder.decode(Status.self, from: data) else { return nil }
            self = .status(status)
        case "level":
            guard let level = try? decoder.decode(LevelEvent.self, from: data) else { return nil }
            self = .level(level)
        case "peaks":
            guard let peaks = try? decoder.decode(PeaksEvent.self, from: data) else { return nil }
            self = .peaks(peaks)
        case "take":
            guard let change = try? decoder.decode(TakeChange.self, from: data) else { return nil }
            self = .take(change)
        case "panel":
            guard let wish = try? decoder.decode(Wish.self, from: data) else { return nil }
            self = .panel(wish.what)
        default: return nil
        }
    }
}

extension Status {
    /// The object of `fieldfare status --json` with its keys in order, or nil if a number in it is not finite.
    var json: String? {
        var status = self
        status.levelDBFS = levelDBFS.map(\.finite)
        return jsonText(status)
    }

    /// The status without the parts that change all the time. A change of the rest is worth an event.
    var withoutMotion: Status {
        var status = self
        status.frames = 0
        status.elapsedSeconds = 0
        status.syncedSeconds = 0
        status.positionSeconds = positionSeconds.map { _ in 0 }
        status.levelDBFS = []
        status.freeBytes = freeBytes.map { $0 >> 26 }
        status.timeLeftSeconds = timeLeftSeconds.map { _ in 0 }
        status.rejoinSecondsLeft = rejoinSecondsLeft.map { _ in 0 }
        return status
    }
}

extension Level {
    /// On the wire silence is null, because JSON has no infinity.
    fileprivate var finite: Level {
        Level(peak: peak.flatMap { $0.isFinite ? $0 : nil }, rms: rms.flatMap { $0.isFinite ? $0 : nil })
    }
}

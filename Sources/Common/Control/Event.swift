import FoundationEssentials
public import Transport

/// How loud it is now and how far the take has come: ten times a second to each watcher.
public struct LevelEvent: Codable, Equatable, Sendable {
    /// One entry a channel.
    public var levelDBFS: [Level]
    /// Frames of the take so far.
    public var frames: Int64
    /// `frames` in seconds.
    public var elapsedSeconds: Double
    /// How much of the take is safe on disk.
    public var syncedSeconds: Double
    /// Where playback is; null when nothing plays.
    public var positionSeconds: Double?

    /// The moving part of a status.
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

/// The waveform of what the card delivers, after the filter that is in force: the pixels since the last event.
public struct PeaksEvent: Codable, Equatable, Sendable {
    /// Of the card.
    public var rateHz: Int
    /// Of the card.
    public var channels: Int
    /// Frames of a pixel.
    public var framesPerPixel: Int
    /// How many pixels there were before; 0: the card was opened, or `watch` began.
    public var firstPixel: Int
    /// Least and greatest sample of each channel in each pixel, in 1/128 of full scale, as in a take's `.dat`.
    public var data: [Int8]

    /// Some pixels.
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

/// One line of the stream that follows a `watch`.
public enum Event: Equatable, Sendable {
    /// Something changed.
    case status(Status)
    /// Ten times a second.
    case level(LevelEvent)
    /// Beside each level, for those that asked.
    case peaks(PeaksEvent)
    /// A take was finished, revised or deleted.
    case take(TakeChange)
    /// A person asked for something at the buttons that the library has to do.
    case panel(PanelWish)

    /// The line for the peer, without the newline; nil if a figure in it is none.
    public var line: String? {
        switch self {
        case .status(let status): status.json.map { "{\"event\":\"status\"," + $0.dropFirst() }
        case .level(let level): jsonText(level).map { "{\"event\":\"level\"," + $0.dropFirst() }
        case .peaks(let peaks): jsonText(peaks).map { "{\"event\":\"peaks\"," + $0.dropFirst() }
        case .take(let change): jsonText(change).map { "{\"event\":\"take\"," + $0.dropFirst() }
        case .panel(let wish): "{\"event\":\"panel\",\"what\":\"\(wish.rawValue)\"}"
        }
    }

    /// Reads a line; nil if it is another event than these, or none.
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
    /// The object of `fieldfare status --json`, keys in order; nil if a figure in it is none.
    var json: String? {
        var status = self
        status.levelDBFS = levelDBFS.map(\.finite)
        return jsonText(status)
    }

    /// The status without what moves all the time: a change of the rest is worth an event.
    var withoutMotion: Status {
        var status = self
        status.frames = 0
        status.elapsedSeconds = 0
        status.syncedSeconds = 0
        status.positionSeconds = positionSeconds.map { _ in 0 }
        status.levelDBFS = []
        status.freeBytes = freeBytes.map { $0 >> 26 }
        status.timeLeftSeconds = timeLeftSeconds.map { _ in 0 }
        return status
    }
}

extension Level {
    /// Silence is null on the wire, whatever the meter calls it.
    fileprivate var finite: Level {
        Level(peak: peak.flatMap { $0.isFinite ? $0 : nil }, rms: rms.flatMap { $0.isFinite ? $0 : nil })
    }
}

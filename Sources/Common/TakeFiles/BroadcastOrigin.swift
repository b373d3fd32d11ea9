public import Takes

/// The recorder and the start time of an audio file: the content of a `bext` chunk, version 1 (EBU Tech 3285).
public struct BroadcastOrigin: Hashable, Sendable {
    /// The description of the content, at most 256 bytes.
    public var description: String
    /// At most 32 bytes.
    public var originator: String
    /// The originator's own name for the file, at most 32 bytes.
    public var reference: String
    /// When the file's first frame was sampled, in UTC, or nil if the clock was not set. Without it, no date is
    /// written.
    public var started: WallTime?
    /// The coding history in lines of EBU R 98, at most 1024 bytes.
    public var codingHistory: String

    public init(
        description: String, originator: String = "Fieldfare", reference: String, started: WallTime?,
        codingHistory: String
    ) {
        self.description = description
        self.originator = originator
        self.reference = reference
        self.started = started
        self.codingHistory = codingHistory
    }

    /// The origin of a part of a take.
    ///
    /// - Parameters:
    ///   - started: when the take's first frame was sampled.
    ///   - firstFrame: the part's first frame, counted from the take's first frame at the take's rate.
    ///   - format: the stored format.
    public init(sidecar: Sidecar, started: WallTime, firstFrame: Int64, format: StreamFormat, isUnfiltered: Bool) {
        let before = Duration.seconds(Double(firstFrame) / Double(max(1, sidecar.rateHz)))
        let mode =
            switch format.channels {
            case 1: ",M=mono"
            case 2: ",M=stereo"
            default: ""
            }
        // R 98 uses commas as separators and a line break at the end. A card's name may contain both.
        let card = sidecar.card.map { $0.isASCII && $0 != "," && !$0.isNewline ? $0 : " " }
        self.init(
            description: "Take \(sidecar.take), \(isUnfiltered ? "unfiltered, " : "")kit \(sidecar.kit)",
            reference: String(sidecar.take.suffix(32)),
            started: Self.isDated(sidecar) ? started + before : nil,
            codingHistory: "A=PCM,F=\(format.rateHz),W=\(format.sampleFormat.significantBits)\(mode)"
                + ",T=Fieldfare \(sidecar.version); \(String(card))\r\n")
    }

    /// Whether the take's name contains its start time; the names of version 0.1 always do.
    private static func isDated(_ sidecar: Sidecar) -> Bool { TakeName(stem: sidecar.take, day: "")?.start != .unset }

    /// Whether a recorder wrote the chunk for this take.
    func isOf(_ take: TakeName) -> Bool {
        originator == "Fieldfare" && reference == String(take.stem.suffix(32))
    }

    /// Frames since midnight, or 0 if the date is unknown.
    func timeReference(rateHz: Int) -> Int64 {
        // A day has 86.4e9 microseconds, so the product stays below 2^63 up to 100 MHz.
        (started?.microsecondsOfDay ?? 0) * Int64(rateHz) / 1_000_000
    }

    /// The chunk's content.
    ///
    /// - Parameter rateHz: the frame rate by which the time since midnight is counted.
    func bytes(rateHz: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(description, filling: 256)
        bytes.append(originator, filling: 32)
        bytes.append(reference, filling: 32)
        bytes.append(started?.date ?? "", filling: 10)
        bytes.append(started?.timeOfDay ?? "", filling: 8)
        bytes.append(littleEndian: UInt64(timeReference(rateHz: rateHz)))
        bytes.append(littleEndian: UInt16(1))
        // The unique material identifier (64 bytes, empty) and the fields of later versions (190 bytes).
        bytes += [UInt8](repeating: 0, count: 64 + 190)
        bytes += Array(codingHistory.utf8.prefix(1024))
        return bytes
    }
}

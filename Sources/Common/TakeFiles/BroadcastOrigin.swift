public import Takes

/// Who recorded an audio file and when: the content of a `bext` chunk, version 1 (EBU Tech 3285).
public struct BroadcastOrigin: Hashable, Sendable {
    /// What it is, at most 256 bytes.
    public var description: String
    /// Who made it, at most 32 bytes.
    public var originator: String
    /// The originator's own name for it, at most 32 bytes.
    public var reference: String
    /// When the file's first frame was sampled, UTC, or nil if the clock was not set: then no date is written.
    public var started: WallTime?
    /// How it was made, in lines of EBU R 98; at most 1024 bytes.
    public var codingHistory: String

    /// An origin.
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
    ///   - firstFrame: the part's first frame, counted from there at the take's rate.
    ///   - format: what is stored.
    public init(sidecar: Sidecar, started: WallTime, firstFrame: Int64, format: StreamFormat, isUnfiltered: Bool) {
        let before = Duration.seconds(Double(firstFrame) / Double(max(1, sidecar.rateHz)))
        let mode =
            switch format.channels {
            case 1: ",M=mono"
            case 2: ",M=stereo"
            default: ""
            }
        // R 98 separates by commas and ends with a line break; a card's name may have both.
        let card = sidecar.card.map { $0.isASCII && $0 != "," && !$0.isNewline ? $0 : " " }
        self.init(
            description: "Take \(sidecar.take), \(isUnfiltered ? "unfiltered, " : "")kit \(sidecar.kit)",
            reference: String(sidecar.take.suffix(32)),
            started: Self.isDated(sidecar) ? started + before : nil,
            codingHistory: "A=PCM,F=\(format.rateHz),W=\(format.sampleFormat.significantBits)\(mode)"
                + ",T=Fieldfare \(sidecar.version); \(String(card))\r\n")
    }

    /// Whether the take's name says when it began; the names of version 0.1 always do.
    private static func isDated(_ sidecar: Sidecar) -> Bool { TakeName(stem: sidecar.take, day: "")?.start != .unset }

    /// Whether a recorder wrote it for this take.
    func isOf(_ take: TakeName) -> Bool {
        originator == "Fieldfare" && reference == String(take.stem.suffix(32))
    }

    /// Frames since midnight, or 0 if no date is known.
    func timeReference(rateHz: Int) -> Int64 {
        // A day has 86.4e9 microseconds: the product stays below 2^63 up to 100 MHz.
        (started?.microsecondsOfDay ?? 0) * Int64(rateHz) / 1_000_000
    }

    /// The chunk's content.
    ///
    /// - Parameter rateHz: frames a second, in which the time since midnight is counted.
    func bytes(rateHz: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(description, filling: 256)
        bytes.append(originator, filling: 32)
        bytes.append(reference, filling: 32)
        bytes.append(started?.date ?? "", filling: 10)
        bytes.append(started?.timeOfDay ?? "", filling: 8)
        bytes.append(littleEndian: UInt64(timeReference(rateHz: rateHz)))
        bytes.append(littleEndian: UInt16(1))
        // The unique material identifier (64 bytes, none) and what later versions use (190 bytes).
        bytes += [UInt8](repeating: 0, count: 64 + 190)
        bytes += Array(codingHistory.utf8.prefix(1024))
        return bytes
    }
}

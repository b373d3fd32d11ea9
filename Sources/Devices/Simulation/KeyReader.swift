/// Decodes the bytes that a terminal sends into keys.
struct KeyReader {
    /// The beginning of an unfinished escape sequence.
    private var sequence: [UInt8] = []

    /// No terminal sends longer sequences; longer ones are noise.
    private static let longestSequence = 16

    /// The keys in `bytes`. An unfinished sequence is kept for the next call, and unknown keys are ignored.
    mutating func keys(in bytes: some Sequence<UInt8>) -> [PanelKey] {
        bytes.compactMap { take($0) }
    }

    private mutating func take(_ byte: UInt8) -> PanelKey? {
        let escape: UInt8 = 0x1b
        guard !sequence.isEmpty, byte != escape else {
            guard byte == escape else { return Self.key(byte) }
            sequence = [escape]
            return nil
        }
        sequence.append(byte)
        if sequence.count == 2 {
            // CSI and SS3 continue; anything else is a key that was pressed together with Alt.
            if byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") { sequence = [] }
            return nil
        }
        // A sequence ends with a letter or '~' (ECMA-48, 5.4).
        guard (0x40...0x7e).contains(byte) || sequence.count > Self.longestSequence else { return nil }
        sequence = []
        switch byte {
        case UInt8(ascii: "C"): return .forward
        case UInt8(ascii: "D"): return .back
        default: return nil
        }
    }

    private static func key(_ byte: UInt8) -> PanelKey? {
        switch byte | 0x20 {
        case UInt8(ascii: "r"): .record
        case UInt8(ascii: "s"): .stop
        case UInt8(ascii: "p"): .play
        case UInt8(ascii: "m"): .mark
        case UInt8(ascii: "q"): .quit
        default: nil
        }
    }
}

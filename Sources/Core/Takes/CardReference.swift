/// How the settings, the command line and a sidecar name a sound card. A reboot does not change the name.
public enum CardReference: Hashable, Sendable {
    /// The best card that is present: a USB capture card if there is one, then a HAT.
    case automatic
    /// `path:USB-PATH`: a USB port, such as `path:1-1.4`, or the name of a platform device.
    case path(String)
    /// `usb:VID:PID[:SERIAL]`, the numbers in lower-case hexadecimal. Without a serial number it names any card of that
    /// model.
    case usb(vendor: String, product: String, serial: String?)
    /// `card:ALSA-ID`, such as `card:Loopback`.
    case cardID(String)
    /// `pcm:NAME`: any PCM name that ALSA knows, including plug-ins.
    case pcm(String)

    /// Reads `auto`, `path:…`, `usb:VID:PID[:SERIAL]`, `card:…` or `pcm:…`. Returns nil for any other text.
    public init?(_ text: String) {
        guard text != "auto" else {
            self = .automatic
            return
        }
        // Searches scalars, not characters: a serial number that begins with a combining accent would merge with the
        // colon.
        let scalars = text.unicodeScalars
        guard let colon = scalars.firstIndex(of: ":") else { return nil }
        let rest = String(scalars[scalars.index(after: colon)...])
        guard !rest.isEmpty else { return nil }
        switch String(scalars[..<colon]) {
        case "path": self = .path(rest)
        case "card": self = .cardID(rest)
        case "pcm": self = .pcm(rest)
        case "usb":
            let fields = rest.unicodeScalars.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                .map(String.init)
            guard fields.count >= 2, Self.isUSBNumber(fields[0]), Self.isUSBNumber(fields[1]) else { return nil }
            guard fields.count == 2 || !fields[2].isEmpty else { return nil }
            self = .usb(
                vendor: fields[0].lowercased(), product: fields[1].lowercased(),
                serial: fields.count == 3 ? fields[2] : nil)
        default: return nil
        }
    }

    /// Whether this names every card that `other` names: `usb:VID:PID` covers the model with any serial number.
    public func covers(_ other: CardReference) -> Bool {
        if self == other { return true }
        guard case .usb(let vendor, let product, nil) = self, case .usb(vendor, product, _) = other else {
            return false
        }
        return true
    }

    private static func isUSBNumber(_ text: String) -> Bool {
        text.utf8.count == 4
            && text.utf8.allSatisfy { ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x66) || ($0 >= 0x30 && $0 <= 0x39) }
    }
}

extension CardReference: CustomStringConvertible {
    /// The text that the settings use.
    public var description: String {
        switch self {
        case .automatic: "auto"
        case .path(let path): "path:\(path)"
        case .usb(let vendor, let product, let serial): "usb:\(vendor):\(product)" + (serial.map { ":\($0)" } ?? "")
        case .cardID(let id): "card:\(id)"
        case .pcm(let name): "pcm:\(name)"
        }
    }
}

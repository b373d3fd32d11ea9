import Files
import Takes

/// The sound cards that the kernel lists in `/sys/class/sound` and `/proc/asound` below a root.
struct CardTree {
    /// Empty for the real system, or a folder in tests.
    var root: String

    /// The cards in ALSA's order. A card that is in only one of the two trees also counts.
    func cards() -> [CardDescription] {
        let names = SystemFile.names(in: "\(root)/sys/class/sound") + SystemFile.names(in: "\(root)/proc/asound")
        let indices = Set(names.compactMap { $0.hasPrefix("card") ? Self.index($0.dropFirst(4)) : nil })
        let titles = titles()
        return CardIdentity.settle(indices.sorted().map { card($0, title: titles[$0], classNames: names) })
    }

    /// The number of a card or a device, which in the kernel has at most four digits.
    private static func index(_ text: some StringProtocol) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// The id of a card, or nil if the text is not an id. ALSA uses only letters, digits, '_' and '-'.
    private static func id(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count) else { return nil }
        let isID = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20) || $0 == 0x5f || $0 == 0x2d
        }
        return isID ? text : nil
    }

    private func card(_ index: Int, title: Title?, classNames: [String]) -> CardDescription {
        let sys = "\(root)/sys/class/sound/card\(index)"
        let proc = "\(root)/proc/asound/card\(index)"
        let ids = [SystemFile.text("\(sys)/id"), SystemFile.text("\(proc)/id"), title?.id]
        let id = ids.lazy.compactMap(Self.id).first ?? "\(index)"
        let bus = SystemFile.linkedName("\(sys)/device/subsystem")
        let deviceName = SystemFile.linkedName("\(sys)/device").flatMap { SystemFile.words(in: $0) }
        let usb = usb(device: bus == "usb" ? "\(sys)/device" : nil, name: deviceName, proc: proc)
        let driver = title?.driver ?? ""
        var references: [CardReference] = []
        if let usb {
            if let vendor = usb.vendor, let product = usb.product {
                references.append(.usb(vendor: vendor, product: product, serial: usb.serial))
            }
            if let path = usb.path { references.append(.path(path)) }
        }
        references.append(.cardID(id))
        if usb == nil, let deviceName { references.append(.path(deviceName)) }
        let name = title?.name ?? usb?.name ?? id
        var card = CardDescription(
            index: index, alsaID: id, name: name, driver: driver,
            kind: Self.kind(isUSB: usb != nil, bus: bus, traits: [driver, id, name, deviceName ?? ""]),
            references: references,
            captureDevices: devices(of: index, direction: "c", classNames, proc),
            playbackDevices: devices(of: index, direction: "p", classNames, proc))
        card.deviceNumber = usb?.deviceNumber
        return card
    }

    /// The kind of a card, from its bus and its driver's names.
    static func kind(isUSB: Bool, bus: String?, traits: [String]) -> CardKind {
        let traits = traits.map { $0.lowercased() }
        func has(_ name: String) -> Bool { traits.contains { $0.contains(name) } }
        if isUSB { return .usb }
        if has("loopback") || has("aloop") { return .loopback }
        if has("dummy") { return .dummy }
        if has("hdmi") { return .hdmi }
        return bus == "platform" && !has("bcm2835") ? .hat : .other
    }

    // MARK: USB

    private struct USB {
        var path: String?
        var vendor: String?
        var product: String?
        var serial: String?
        var name: String?
        var deviceNumber: Int?
    }

    /// - Parameters:
    ///   - device: a link to the card's interface, whose folder is in that of the USB device.
    ///   - name: the name of the interface, such as `1-1.4:1.0`. It begins with the name of the USB device.
    private func usb(device: String?, name: String?, proc: String) -> USB? {
        var usb = USB()
        if let device {
            let device = SystemFile.text("\(device)/idVendor") != nil ? device : "\(device)/.."
            usb.path = name?.split(separator: ":").first.map(String.init)
            usb.vendor = Self.usbNumber(SystemFile.text("\(device)/idVendor"))
            usb.product = Self.usbNumber(SystemFile.text("\(device)/idProduct"))
            usb.serial = SystemFile.words("\(device)/serial")
            usb.name = SystemFile.words("\(device)/product")
            usb.deviceNumber = SystemFile.text("\(device)/devnum").flatMap { Int($0) }
        }
        if let id = SystemFile.text("\(proc)/usbid")?.split(separator: ":"), id.count == 2 {
            usb.vendor = usb.vendor ?? Self.usbNumber(String(id[0]))
            usb.product = usb.product ?? Self.usbNumber(String(id[1]))
        }
        let isUSB = device != nil || SystemFile.text("\(proc)/usbbus") != nil
        return isUSB ? usb : nil
    }

    /// Four hexadecimal digits in lower case, or nil for any other text.
    private static func usbNumber(_ text: String?) -> String? {
        guard let text = text?.lowercased(), text.utf8.count == 4,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return text
    }

    // MARK: ALSA

    /// The device numbers in names such as `pcmC1D0c` in the class folder, or `pcm0c` in the card's folder.
    private func devices(of index: Int, direction: Character, _ classNames: [String], _ proc: String) -> [Int] {
        let inClass = classNames.compactMap { Self.number(in: $0, between: "pcmC\(index)D", and: direction) }
        let inProc = SystemFile.names(in: proc).compactMap { Self.number(in: $0, between: "pcm", and: direction) }
        return Set(inClass + inProc).sorted()
    }

    private static func number(in name: String, between prefix: String, and suffix: Character) -> Int? {
        guard name.hasPrefix(prefix), name.last == suffix else { return nil }
        return index(name.dropFirst(prefix.count).dropLast())
    }

    private struct Title {
        var id: String
        var driver: String
        var name: String?
    }

    /// Parses `/proc/asound/cards`: ` 1 [Loopback       ]: Loopback - Loopback`, and a line of detail after each.
    private func titles() -> [Int: Title] {
        var titles: [Int: Title] = [:]
        for line in (SystemFile.text("\(root)/proc/asound/cards") ?? "").split(whereSeparator: \.isNewline) {
            guard let open = line.firstIndex(of: "["), let close = line[open...].firstIndex(of: "]"),
                let index = Self.index(line[..<open].filter { !$0.isWhitespace }),
                let colon = line[close...].firstIndex(of: ":")
            else { continue }
            let id = line[line.index(after: open)..<close].filter { !$0.isWhitespace }
            let rest = line[line.index(after: colon)...].drop(while: \.isWhitespace)
            // A driver's name may contain a dash, but not one with spaces around it; a card's name may.
            let words = rest.split(separator: " ")
            let dash = words.firstIndex(of: "-")
            let (driver, name) = (words[..<(dash ?? 0)], words[(dash.map { $0 + 1 } ?? 0)...])
            titles[index] = Title(
                id: id, driver: SystemFile.words(in: driver.joined(separator: " ")) ?? "",
                name: SystemFile.words(in: name.joined(separator: " ")))
        }
        return titles
    }
}

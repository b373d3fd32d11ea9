/// A button or a lamp, for the checks that apply to both.
private struct PanelPart {
    let path: any PartialKeyPath<Settings> & Sendable
    /// Its line or LED device, or nil.
    let wiring: @Sendable (Settings) -> Wiring?
    let disconnect: @Sendable (inout Settings) -> Void

    enum Wiring: Hashable {
        case line(Settings.LineAddress)
        case led(String)

        var description: String {
            switch self {
            case .line(let address): address.description
            case .led(let name): "LED \(quoted(name))"
            }
        }
    }

    static func button(_ path: any WritableKeyPath<Settings, Settings.ButtonLine?> & Sendable) -> PanelPart {
        PanelPart(
            path: path,
            wiring: { $0[keyPath: path].map { .line($0.address) } },
            disconnect: { $0[keyPath: path] = nil })
    }

    static func lamp(_ path: any WritableKeyPath<Settings, Settings.LampLine?> & Sendable) -> PanelPart {
        PanelPart(
            path: path,
            wiring: {
                switch $0[keyPath: path] {
                case .line(let address, _): .line(address)
                case .led(let name): .led(name)
                case nil: nil
                }
            },
            disconnect: { $0[keyPath: path] = nil })
    }

    static let buttons: [PanelPart] = [
        .button(\.panel.buttons.record), .button(\.panel.buttons.stop), .button(\.panel.buttons.play),
        .button(\.panel.buttons.back), .button(\.panel.buttons.forward), .button(\.power.lowBattery),
    ]
    static let lamps: [PanelPart] = [
        .lamp(\.panel.leds.record), .lamp(\.panel.leds.play), .lamp(\.panel.leds.upload), .lamp(\.panel.leds.fault),
    ]
    static let lampForAll = lamp(\.panel.leds.all)
    static let all = buttons + lamps + [lampForAll]
}

extension SettingsSchema {
    /// The keys of the buttons and lamps without a line.
    static func unconnected(in settings: Settings) -> Set<String> {
        Set(PanelPart.all.filter { $0.wiring(settings) == nil }.map { name(of: $0.path) })
    }
}

extension SettingsReader {
    /// The lamp for all excludes other lamps. If the file names both, the lamp for all is disconnected.
    mutating func checkLampForAll(in settings: inout Settings) {
        let all = PanelPart.lampForAll
        guard mentioned.contains(all.path) else { return }
        // In a file with one lamp for all, the other lamps lose their defaults.
        for lamp in PanelPart.lamps where !mentioned.contains(lamp.path) {
            lamp.disconnect(&settings)
        }
        let others = PanelPart.lamps.filter { mentioned.contains($0.path) }.map { SettingsSchema.name(of: $0.path) }
        if let node = understood[all.path], !others.isEmpty {
            report(node, "found beside \(listed(others, "and")): allowed is one lamp for all alone")
            all.disconnect(&settings)
        }
    }

    /// A line serves only one button or lamp. A key in the file wins over a default, then a button over a lamp, because
    /// reading a line harms nothing, and then the first in the file.
    mutating func checkThatLinesDiffer(in settings: inout Settings) {
        let named = [PanelPart.buttons, PanelPart.lamps + [PanelPart.lampForAll]].flatMap { kind in
            kind.filter { understood[$0.path] != nil }.sorted { place(of: $0) < place(of: $1) }
        }
        var owners: [PanelPart.Wiring: PanelPart] = [:]
        for part in named + PanelPart.all.filter({ understood[$0.path] == nil }) {
            guard let wiring = part.wiring(settings) else { continue }
            guard let owner = owners[wiring] else {
                owners[wiring] = part
                continue
            }
            part.disconnect(&settings)
            let (name, ownersName) = (SettingsSchema.name(of: part.path), SettingsSchema.name(of: owner.path))
            if let node = understood[part.path] {
                report(node, "found \(wiring.description), which \(ownersName) has: allowed is one of its own")
            } else if let node = understood[owner.path] {
                let remedy = "allowed is one of its own, or \(name) = \"none\""
                report(node, "found \(wiring.description), which \(name) has by default: \(remedy)")
            }
        }
    }

    private func place(of part: PanelPart) -> TOMLDocument.Place {
        understood[part.path].map { document.nodes[$0].place } ?? .init(line: .max, column: 0)
    }
}

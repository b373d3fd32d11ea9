package import Lines
package import Panel
package import Ring
package import Settings
package import Transport

extension Settings.Buttons {
    package subscript(button: Button) -> Settings.ButtonLine? {
        switch button {
        case .record: record
        case .stop: stop
        case .play: play
        case .back: back
        case .forward: forward
        }
    }
}

extension Settings.LEDs {
    package subscript(lamp: Lamp) -> Settings.LampLine? {
        switch lamp {
        case .record: record
        case .play: play
        case .upload: upload
        case .fault: fault
        case .all: all
        }
    }
}

extension LineAddress {
    package init(_ address: Settings.LineAddress) {
        switch address {
        case .name(let name): self = .name(name)
        case .offset(let chip, let offset): self = .offset(chip: chip, offset: offset)
        }
    }
}

extension InputLine {
    /// The line as the settings wire it, or nil if it is not wired.
    package init?(_ line: Settings.ButtonLine?) {
        guard let line else { return nil }
        let pull: Pull =
            switch line.pull {
            case .up: .up
            case .down: .down
            case .off: .none
            }
        self.init(LineAddress(line.address), activeLow: line.isActiveLow, pull: pull)
    }
}

extension LampOutput {
    /// The output as the settings wire it, or nil if it is not wired.
    package init?(_ lamp: Settings.LampLine?) {
        switch lamp {
        case .line(let address, let isActiveLow):
            self = .line(OutputLine(LineAddress(address), activeLow: isActiveLow))
        case .led(let name): self = .led(name)
        case nil: return nil
        }
    }
}

extension CaptureRequest {
    package init(_ settings: Settings.Capture) {
        self.init(
            card: settings.card, rateHz: settings.rateHz, channels: settings.channels, gainDB: settings.gainDB,
            agc: settings.agc)
    }
}

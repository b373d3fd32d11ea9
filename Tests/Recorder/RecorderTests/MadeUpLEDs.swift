import Glibc
import Panel
import Settings
import Testing

/// LED devices made of ordinary files, with a way to wait for changes. Removed with this object.
final class MadeUpLEDs {
    let path: String
    private let changes: Int32

    init() {
        var template = Array("/tmp/leds-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
        changes = inotify_init1(Int32(IN_CLOEXEC))
        for lamp in Lamp.allCases {
            mkdir("\(path)/\(lamp)", 0o755)
            write("none\n", "\(lamp)/trigger")
            write("1\n", "\(lamp)/max_brightness")
            write("0\n", "\(lamp)/brightness")
            inotify_add_watch(changes, "\(path)/\(lamp)/brightness", UInt32(IN_MODIFY))
        }
    }

    deinit {
        close(changes)
        for lamp in Lamp.allCases {
            for file in ["trigger", "max_brightness", "brightness"] { unlink("\(path)/\(lamp)/\(file)") }
            rmdir("\(path)/\(lamp)")
        }
        rmdir(path)
    }

    /// A panel without buttons, with these lamps.
    func settings(_ lamps: [Lamp]) -> Settings.Panel {
        var panel = Settings().panel
        (panel.buttons.record, panel.buttons.stop, panel.buttons.play) = (nil, nil, nil)
        (panel.buttons.back, panel.buttons.forward) = (nil, nil)
        func line(_ lamp: Lamp) -> Settings.LampLine? { lamps.contains(lamp) ? .led(lamp.rawValue) : nil }
        (panel.leds.record, panel.leds.play, panel.leds.upload) = (line(.record), line(.play), line(.upload))
        (panel.leds.fault, panel.leds.all) = (line(.fault), line(.all))
        return panel
    }

    /// The lit lamps. Every text in a brightness file has the same length, so a write replaces it whole.
    var lit: Set<Lamp> {
        Set(Lamp.allCases.filter { read("\($0)/brightness").hasPrefix("1") })
    }

    /// Waits until exactly these lamps are lit. Half a minute without a change is a failure.
    func wait(for wanted: Set<Lamp>, sourceLocation: SourceLocation = #_sourceLocation) {
        while lit != wanted {
            var file = pollfd(fd: changes, events: Int16(POLLIN), revents: 0)
            guard poll(&file, 1, 30_000) == 1 else {
                Issue.record("lit are \(lit), wanted are \(wanted)", sourceLocation: sourceLocation)
                return
            }
            var events = [UInt8](repeating: 0, count: 4096)
            _ = Glibc.read(changes, &events, events.count)
        }
    }

    private func write(_ text: String, _ file: String) {
        let descriptor = open("\(path)/\(file)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        Glibc.write(descriptor, text, text.utf8.count)
        close(descriptor)
    }

    private func read(_ file: String) -> String {
        let descriptor = open("\(path)/\(file)", O_RDONLY)
        defer { close(descriptor) }
        var bytes: [UInt8] = Array(repeating: 0, count: 100)
        let count = Glibc.read(descriptor, &bytes, 100)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

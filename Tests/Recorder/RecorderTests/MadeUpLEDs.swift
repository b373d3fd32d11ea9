import Glibc
import Panel
import Settings
import TestBench
import Testing

/// LED devices made of ordinary files, with a way to wait for changes. Removed with this object.
final class MadeUpLEDs {
    private let folder = TestFolder()
    var path: String { folder.path }
    private let changes: Int32

    init() {
        changes = inotify_init1(Int32(IN_CLOEXEC))
        for lamp in Lamp.allCases {
            folder.write("none\n", to: "\(lamp)/trigger")
            folder.write("1\n", to: "\(lamp)/max_brightness")
            folder.write("0\n", to: "\(lamp)/brightness")
            inotify_add_watch(changes, "\(path)/\(lamp)/brightness", UInt32(IN_MODIFY))
        }
    }

    deinit { close(changes) }

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
        Set(Lamp.allCases.filter { folder.text("\($0)/brightness")?.hasPrefix("1") == true })
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
}

import Glibc
import TakeFiles
import Takes

/// A clock that a test sets and advances.
final class SetClock: Clock {
    private struct State {
        var instant = Instant(nanoseconds: 5_000_000_000)
        var offset = ClockOffset(microseconds: 1_795_241_886_250_000)
    }

    private let state = Locked(State())

    func now() -> Instant { state.withLock { $0.instant } }
    func wallTime() -> WallTime { state.withLock { $0.offset.wallTime(at: $0.instant) } }

    func pass(_ duration: Duration) { state.withLock { $0.instant = $0.instant + duration } }

    func set(_ wallTime: WallTime) { state.withLock { $0.offset = ClockOffset(wallTime, at: $0.instant) } }

    func step(_ duration: Duration) { set(wallTime() + duration) }
}

/// A folder as the root of a machine, with `/run/fieldfare` in it, removed with this object.
final class RootFolder {
    let path: String
    private let folders = [
        "/run", "/run/fieldfare", "/proc", "/proc/sys", "/proc/sys/kernel", "/proc/sys/kernel/random",
    ]

    init(bootID: String = "0b0c") {
        var template = Array("/tmp/fieldfare-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for folder in folders { mkdir(path + folder, 0o755) }
        write(bootID + "\n", to: "/proc/sys/kernel/random/boot_id")
    }

    deinit {
        for folder in folders.reversed() {
            for name in (try? FileSystem().entries(path + folder)) ?? [] { unlink("\(path)\(folder)/\(name)") }
            rmdir(path + folder)
        }
        rmdir(path)
    }

    func write(_ text: String, to name: String) {
        let file = open(path + name, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0 && Glibc.write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
    }

    /// A file's content, or nil if it does not exist.
    func text(_ name: String) -> String? {
        (try? FileSystem().contents(path + name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names in `/run/fieldfare`.
    var run: [String] { ((try? FileSystem().entries(path + "/run/fieldfare")) ?? []).sorted() }
}

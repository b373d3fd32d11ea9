import Glibc
import TestBench
import Testing

@testable import Settings

struct SettingsFileTests {
    private let ending = "until that is corrected all settings have their defaults"

    @Test func `a missing file at the default path is no problem`() {
        let (settings, problems) = Settings.load(from: nil, default: "/nowhere/fieldfare.toml")
        #expect(problems == [])
        #expect(settings == Settings())
    }

    @Test(arguments: [
        ("/nowhere/fieldfare.toml", "no such file"), ("/proc/self", "it is a directory"),
        ("/dev/null", "it is not a regular file"), ("/dev/null/f", "not a directory"),
    ])
    func `a file that was named must be readable`(_ path: String, _ reason: String) {
        let (settings, problems) = Settings.load(from: path)
        #expect(problems.map(\.description) == ["\(path): cannot be read: \(reason); \(ending)"])
        #expect(settings == Settings())
    }

    @Test func `a file at the default path that is there must be readable`() {
        let (_, problems) = Settings.load(from: nil, default: "/proc")
        #expect(problems.map(\.description) == ["/proc: cannot be read: it is a directory; \(ending)"])
    }

    @Test func `a relative path counts from the current folder`() {
        #expect(Settings.absolutePath(nil) == Settings.defaultPath)
        #expect(Settings.absolutePath("/tmp/kit.toml") == "/tmp/kit.toml")
        let path = Settings.absolutePath("kit.toml")
        #expect(path.hasPrefix("/") && path.hasSuffix("/kit.toml"))
        #expect(Settings.absolutePath("../kit.toml") == path.dropLast("kit.toml".count) + "../kit.toml")
    }

    @Test func `a pipe is not waited for`() throws {
        let folder = TestFolder()
        let path = "\(folder.path)/fieldfare.pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let (_, problems) = Settings.load(from: path)
        #expect(problems.map(\.description) == ["\(path): cannot be read: it is not a regular file; \(ending)"])
    }

    @Test func `an endless file is read up to a limit`() throws {
        let folder = TestFolder()
        let path = "\(folder.path)/fieldfare.toml"
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        try #require(ftruncate(descriptor, 1 << 40) == 0)
        close(descriptor)
        let (_, problems) = Settings.load(from: path)
        #expect(
            problems.map(\.description) == [
                "\(path):1: cannot be read: a line of 1048576 bytes, but at most 1000 are allowed; \(ending)"
            ])
    }
}

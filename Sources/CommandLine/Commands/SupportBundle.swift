import Files
import Glibc
import History
import Programs
import Settings
import Takes

/// The information about a kit for remote support, as files of one folder. A part that is unavailable becomes a
/// sentence.
struct SupportBundle {
    enum Source: Hashable {
        /// A program's standard output, whatever its exit status.
        case program(String, [String])
        case file(String)
        /// The settings file, without secrets.
        case settings(String)
        /// The lines of the history in this folder, including damaged ones.
        case history(String)
    }

    struct Part: Hashable {
        var name: String
        var source: Source

        init(_ name: String, _ source: Source) {
            self.name = name
            self.source = source
        }
    }

    private let files = FileSystem()
    /// The time limit of each program, so that the bundle is made even if one of them hangs.
    private static let patience = Duration.seconds(30)
    private static let mostBytes = 64 << 20

    /// The parts to pack.
    /// - Parameters:
    ///   - program: the path of `fieldfare`.
    ///   - options: the options appended to each of its commands.
    ///   - settings: the path of the settings file.
    ///   - history: the folder of the history.
    static func parts(program: String, options: [String], settings: String, history: String) -> [Part] {
        func own(_ arguments: String...) -> Source { .program(program, arguments + ["--json"] + options) }
        let journal = ["--no-pager", "--quiet", "--utc", "--output=short-iso-precise", "--lines=50000"]
        func log(_ arguments: String...) -> Source { .program("/usr/bin/journalctl", journal + arguments) }
        return [
            Part("status.json", own("status")),
            Part("doctor.json", own("doctor")),
            Part("cards.json", own("cards")),
            Part("lines.json", own("lines")),
            Part("history.jsonl", .history(history)),
            Part("takes.json", own("takes")),
            Part("outbox.json", own("outbox")),
            Part("settings.toml", .settings(settings)),
            Part("log.txt", log("--unit=fieldfare-*", "--unit=kit-*")),
            Part("kernel.txt", log("--dmesg", "--boot=0")),
            Part("kernel-before.txt", log("--dmesg", "--boot=-1")),
            Part("boots.txt", .program("/usr/bin/journalctl", ["--no-pager", "--quiet", "--utc", "--list-boots"])),
            Part(
                "units.txt", .program("/usr/bin/systemctl", ["--no-pager", "--full", "status", "fieldfare-*", "kit-*"])),
            Part(
                "failed-units.txt", .program("/usr/bin/systemctl", ["--no-pager", "--full", "list-units", "--failed"])),
            Part("packages.txt", .program("/usr/bin/dpkg-query", ["--show"])),
            Part("hardware.txt", .program("/usr/bin/udevadm", ["info", "--export-db"])),
            Part("model.txt", .file("/proc/device-tree/model")),
            Part("processor.txt", .file("/proc/cpuinfo")),
            Part("memory.txt", .file("/proc/meminfo")),
            Part("kernel-version.txt", .file("/proc/version")),
            Part("kernel-options.txt", .file("/proc/cmdline")),
            Part("interrupts.txt", .file("/proc/interrupts")),
            Part("sound-cards.txt", .file("/proc/asound/cards")),
            Part("sound-devices.txt", .file("/proc/asound/pcm")),
            Part("disks.json", .program("/usr/bin/lsblk", ["--json", "--output-all"])),
            Part("space.txt", .program("/usr/bin/df", ["--human-readable", "--print-type"])),
            Part("mounts.txt", .file("/proc/mounts")),
            Part("network.txt", .program("/usr/bin/ip", ["-brief", "address"])),
            Part("system.txt", .file("/etc/os-release")),
            Part("boot-options.txt", .file("/boot/firmware/config.txt")),
            Part("provisioning.txt", .file("/boot/firmware/fieldfare-report.txt")),
        ]
    }

    /// Writes the parts into a temporary folder of this process, packs it and removes it.
    /// - Parameters:
    ///   - about: the beginning of the folder's first file, before the list of missing parts.
    ///   - path: the file to create, ending in `.tar.gz`. It is on the disk when this returns.
    /// - Returns: the missing parts, each as a sentence.
    /// - Throws: `Failure`.
    func pack(_ parts: [Part], about: String, to path: String) throws(Failure) -> [String] {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let name = String(path[end...].dropLast(".tar.gz".count))
        let own = String(path[..<end]) + ".fieldfare-support-\(getpid())"
        let folder = "\(own)/\(name)"
        var missing: [String] = []
        try doing { () throws(FileError) in _ = try files.makeFolder(own, mode: 0o700) }
        defer { removeFolder(own) }
        try doing { () throws(FileError) in _ = try files.makeFolder(folder, mode: 0o700) }
        defer { removeFolder(folder) }
        for part in parts {
            let bytes: [UInt8]
            do {
                bytes = try contents(of: part.source)
            } catch {
                missing.append("\(part.name): \((error as? FileError)?.fact ?? "\(error)")")
                continue
            }
            try write(bytes, to: "\(folder)/\(part.name)")
        }
        let list = missing.isEmpty ? "Nothing is missing.\n" : "Missing:\n" + missing.map { "\($0)\n" }.joined()
        try write(Array((about + list).utf8), to: "\(folder)/about.txt")
        try pack(name, in: own, to: path)
        return missing
    }

    private func contents(of source: Source) throws -> [UInt8] {
        switch source {
        case .program(let program, let arguments):
            return try ProgramOutput(
                of: program, arguments, limit: Self.mostBytes, patience: Self.patience, mayFail: true
            ).bytes
        case .history(let folder): return try HistoryFolder(folder).lines()
        case .file(let file): return try files.contents(file)
        case .settings(let file):
            return Array(settingsForOthers(try files.contents(file)).utf8)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        try doing { () throws(FileError) in
            let file = try files.create(path, isNew: true, mode: 0o600)
            try files.write(bytes, to: file, at: 0)
        }
    }

    /// The file gets its name once it is completely on the disk.
    private func pack(_ name: String, in parent: String, to path: String) throws(Failure) {
        let unfinished = "\(parent)/unfinished"
        defer { try? files.remove(unfinished) }
        do throws(ProgramError) {
            _ = try ProgramOutput(
                of: "/usr/bin/tar",
                [
                    "--create", "--gzip", "--owner=0", "--group=0", "--force-local", "--file", unfinished,
                    "--directory", parent, name,
                ], limit: 1 << 16, patience: .seconds(600))
        } catch {
            throw Failure(exitStatus: 74, "support: \(error.problem): nothing was made")
        }
        try doing { () throws(FileError) in
            try files.sync(try files.open(unfinished))
            try files.rename(unfinished, to: path)
        }
        giveToCaller(path)
    }

    /// Gives the file only to the calling user, also if called by sudo, because it contains data that only root may
    /// see.
    private func giveToCaller(_ path: String) {
        unsafe chmod(path, 0o600)
        guard getuid() == 0, let user = id("SUDO_UID"), let group = id("SUDO_GID") else { return }
        unsafe chown(path, user, group)
    }

    private func id(_ name: String) -> UInt32? {
        unsafe getenv(name).flatMap { unsafe UInt32(String(cString: $0)) }
    }

    private func removeFolder(_ folder: String) {
        for name in (try? files.entries(folder)) ?? [] { try? files.remove("\(folder)/\(name)") }
        try? files.removeFolder(folder)
    }

    private func doing<Result>(_ work: () throws(FileError) -> Result) throws(Failure) -> Result {
        do throws(FileError) { return try work() } catch { throw Failure(exitStatus: 73, "support: \(error.fact)") }
    }
}

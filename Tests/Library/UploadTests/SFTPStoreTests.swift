import Foundation
import Glibc
import OtherPrograms
import SeededRandom
import Settings
import StoreTrials
import Testing

@testable import Upload

@Suite(.serialized, .needs(.sshd, .ssh, .sshKeygen, .unshare))
struct SFTPStoreTests {
    let trial: StoreTrial
    let server: SFTPServer
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        server = try SFTPServer()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private var day: String { "\(server.files)/2026-11-21" }
    private func draft(_ path: String) throws -> String { ".\(try trial.draft(object, of: path)).part" }

    /// Uses a store, and closes it also after an error.
    private func with(
        _ settings: Settings.Outbox.SFTP, kit: String = "heron07", _ body: (SFTPStore) async throws -> Void
    ) async throws {
        let store = try SFTPStore(settings, kit: kit)
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func put(
        _ path: String, in store: SFTPStore, as other: ObjectName? = nil, mode: PutMode = .create,
        report: @escaping @Sendable (PutProgress) -> Void = { _ in }
    ) async throws {
        let source = try await trial.source(path)
        let stored = try await store.put(
            source, as: other ?? object, try await trial.metadata(source), mode: mode, report: report)
        #expect(try await stored.sha256 == source.sha256())
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test(
        "SFTP: takes are stored, verified, listed, read and deleted, also by a server that can do no more than the protocol",
        arguments: [
            "internal-sftp", "internal-sftp -P posix-rename,fsync,statvfs", "/usr/lib/openssh/sftp-server",
            // The user may not do anything else.
            "/nowhere\nForceCommand internal-sftp",
        ])
    func all(subsystem: String) async throws {
        let server = try SFTPServer { "\(subsystem) -d \($0)" }
        try await with(server.settings()) { store in
            #expect(store.name == "sftp:\(server.place)\(server.files)")
            try await trial.check(store)
            try await store.tidy()
        }
    }

    @Test(
        "SFTP: a folder is made where it is missing, also below the home folder",
        arguments: ["/~", "/~/", "/~/a/b", "/~/a%20%25b//", "/~/höhe"])
    func folders(folder: String) async throws {
        let path = try trial.file("a", byteCount: 10)
        try await with(server.settings(folder: folder)) { store in
            try await put(path, in: store)
            var listed: [ObjectName] = []
            try await store.list { listed += $0.map(\.name) }
            #expect(listed == [object])
        }
        let below = folder.dropFirst(3).replacing("%20", with: " ").replacing("%25", with: "%")
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(server.files)/\(below)/\(object.path)"))
    }

    @Test("SFTP: where nothing was sent yet, nothing is there")
    func nothing() async throws {
        try await with(server.settings(folder: server.files + "/missing")) { store in
            try await store.list { _ in Issue.record("something is there") }
            try await store.tidy()
            #expect(try await store.head(object) == nil)
            try await store.delete(object)
        }
        #expect(try names(server.files) == [])
    }

    @Test("SFTP: an upload that was cancelled goes on, and what is damaged is sent again")
    func resume() async throws {
        let path = try trial.file("a", byteCount: 5_000_000)
        let content = try Data(contentsOf: URL(filePath: path))
        try await with(server.settings()) { store in
            let source = try await UploadSource(
                path: path, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 400_000))
            let metadata = try await trial.metadata(source)
            let isCancelled = await trial.isCancelled(after: 2_000_000) {
                _ = try await store.put(source, as: object, metadata, mode: .create, report: $0)
            }
            #expect(isCancelled)
            #expect(try names(day) == [draft(path)])
            let reported2 = StoreTrial.Reported()
            try await put(path, in: store) { reported2.note($0) }
            #expect(try #require(reported2.firstSent) >= 1_900_000)
            #expect(try names(day) == [object.file])
            #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(day)/\(object.file)"))
        }
        // The file on the server does not begin with the source's bytes, or is longer than the source.
        for (damagedAt, byteCount, first) in [
            (1_000_000, 3_000_000, 983_040), (7, 3_000_000, 32_768), (1_000_000, 6_000_000, 32_768),
        ] {
            try FileManager.default.removeItem(atPath: "\(day)/\(object.file)")
            var begun = content + content.prefix(1_000_000)
            begun[damagedAt] ^= 1
            try begun.prefix(byteCount).write(to: URL(filePath: "\(day)/\(draft(path))"))
            try await with(server.settings()) { store in
                let reported = StoreTrial.Reported()
                try await put(path, in: store) { reported.note($0) }
                #expect(reported.firstSent == Int64(first))
            }
            #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(day)/\(object.file)"))
        }
    }

    @Test("SFTP: two kits of one name that send different files of one name do not write into the same one")
    func twins() async throws {
        let path = try trial.file("a", byteCount: 5_000_000)
        let other = try trial.file("b", byteCount: 5_000_000, seed: 2)
        try await with(server.settings()) { store in
            try await with(server.settings()) { twin in
                let slow = try await UploadSource(
                    path: other, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 80_000))
                let metadata = try await trial.metadata(slow)
                // The first file is sent while the other upload is in progress.
                let once = Once()
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    _ = try await twin.put(slow, as: object, metadata, mode: .create) { progress in
                        if case .sent(let sent) = progress, sent >= 1_000_000 { once.run { begin.yield() } }
                    }
                }
                for await _ in begun { break }
                let isFirst = (try? await put(path, in: store)) != nil
                let isSecond = (try? await task.value) != nil
                #expect(isFirst != isSecond)
                let home = "\(day)/\(object.file)"
                #expect(FileManager.default.contentsEqual(atPath: isFirst ? path : other, andPath: home))
            }
        }
    }

    @Test("SFTP: an upload that is cut anywhere goes on over a new connection, and little is sent twice")
    func cuts() async throws {
        let path = try trial.file("a", byteCount: 8_000_000)
        var random = SeededRandom(seed: 7)
        let cuts = (0..<10).map { _ in Int.random(in: 0...3_000_000, using: &random) } + [2500]
        let proxy = try FaultProxy(to: server.server.port) { $0 < cuts.count ? .cut(after: cuts[$0]) : .none }
        defer { proxy.end() }
        try await with(server.settings(port: proxy.port)) { store in
            var isSent = false
            while !isSent {
                do {
                    try await put(path, in: store)
                    isSent = true
                } catch let error as StoreError {
                    #expect(error.problem == .away, "\(error)")
                }
            }
        }
        #expect(proxy.connections > 4 && proxy.connections <= cuts.count + 1)
        // The limit includes the bytes in transit at each cut, the requests, and the encryption.
        #expect(proxy.sentBytes < 8_000_000 + cuts.count * (4 << 20) / 2)
        #expect(try names(day) == [object.file])
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(day)/\(object.file)"))
    }

    @Test("SFTP: four takes are sent over one connection, and one that is cancelled stops no other")
    func several() async throws {
        let proxy = try FaultProxy(to: server.server.port) { _ in .none }
        defer { proxy.end() }
        try await with(server.settings(port: proxy.port)) { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    let path = try trial.file("\(number)", byteCount: 3_000_000, seed: UInt64(number))
                    group.addTask { try await put(path, in: store, as: trial.name("heron07-005\(number)-061811Z.wav")) }
                }
                let path = try trial.file("cancelled", byteCount: 3_000_000, seed: 9)
                let cancelled = Task {
                    try await put(path, in: store) { progress in
                        if case .sent = progress { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                }
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                try await group.waitForAll()
            }
        }
        #expect(proxy.connections == 1)
        for number in 0..<4 {
            #expect(
                FileManager.default.contentsEqual(
                    atPath: "\(trial.folder)/\(number)", andPath: "\(day)/heron07-005\(number)-061811Z.wav"))
        }
    }

    @Test("SFTP: what another writes in the meantime is not overwritten, and what is damaged on the disk is found")
    func meantime() async throws {
        let path = try trial.file("a", byteCount: 1_000_000)
        let target = "\(day)/\(object.file)"
        try await with(server.settings()) { store in
            await trial.expectProblem(.conflict) {
                try await put(path, in: store) { progress in
                    if progress == .verifying { try? Data("other".utf8).write(to: URL(filePath: target)) }
                }
            }
            #expect(try Data(contentsOf: URL(filePath: target)) == Data("other".utf8))
            // A part that was read back once is not read again.
            let draft = "\(day)/\(try draft(path))"
            #expect(try names(day) == [self.draft(path), object.file])
            for file in [target, draft] { try FileManager.default.removeItem(atPath: file) }
            await trial.expectProblem(.damaged) {
                try await put(path, in: store) { progress in
                    guard progress == .verifying, let file = FileHandle(forUpdatingAtPath: draft) else { return }
                    try? file.seek(toOffset: 500_000)
                    try? file.write(contentsOf: Data(count: 8))
                }
            }
            #expect(try names(day) == [])
            try await put(path, in: store)
        }
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: target))
    }

    @Test("SFTP: only this kit's uploads of takes that are there are tidied away, and only takes are listed")
    func tidy() async throws {
        let path = try trial.file("a", byteCount: 10)
        try await with(server.settings()) { store in
            try await put(path, in: store)
            for file in [
                ".heron07-0042-061811Z.wav.part", ".heron08-0042-061811Z.wav.part", ".heron07-0043-061811Z.wav.part",
                ".heron07-0042-061811Z.wav.12ab34ef.part", "notes.txt",
            ] {
                try Data().write(to: URL(filePath: "\(day)/\(file)"))
            }
            try FileManager.default.createDirectory(
                atPath: "\(day)/heron07-0044-061811Z.wav", withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: "\(server.files)/photos", withIntermediateDirectories: true)
            try await store.tidy()
            #expect(
                try names(day) == [
                    ".heron07-0043-061811Z.wav.part", ".heron08-0042-061811Z.wav.part", object.file,
                    "heron07-0044-061811Z.wav", "notes.txt",
                ])
            var listed: [StoredObject] = []
            try await store.list { listed += $0 }
            #expect(listed == [StoredObject(name: object, byteCount: 10, sha256: nil)])
        }
    }

    @Test("SFTP: a long list is complete")
    func longList() async throws {
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        for number in 1000..<1700 {
            try Data().write(to: URL(filePath: "\(day)/heron07-\(number)-061811Z.wav"))
        }
        try await with(server.settings()) { store in
            var count = 0
            try await store.list { count += $0.count }
            #expect(count == 700)
        }
    }

    @Test("SFTP: a file that is renamed overwrites no other")
    func rename() async throws {
        for name in ["a", "b"] { try Data(name.utf8).write(to: URL(filePath: "\(server.files)/\(name)")) }
        let settings = try server.settings(folder: "/~")
        let address = try SFTPAddress(settings.url ?? "")
        let command = try SSHCommand(address, key: settings.keyFile, knownHosts: settings.knownHostsFile)
        let files = SFTPFiles(connection: try SFTPConnection(command), address: address)
        #expect(try await files.rename("a", to: "b") == .taken)
        #expect(try await files.rename("a", to: "c") == .done)
        await trial.expectProblem(.away) { _ = try await files.rename("a", to: "d") }
        await files.connection.close()
        #expect(try Data(contentsOf: URL(filePath: "\(server.files)/b")) == Data("b".utf8))
        #expect(try names(server.files) == ["b", "c"])
    }

    /// The `ssh` processes of this server's client.
    private func clients() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { process in
            let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            return String(decoding: words, as: UTF8.self).contains("UserKnownHostsFile=\(server.knownHosts)")
        }
    }

    @Test("SFTP: when ssh is killed, the upload goes on with another; when the store is closed, none is left")
    func killed() async throws {
        let path = try trial.file("a", byteCount: 3_000_000)
        try await with(server.settings()) { store in
            let kill: @Sendable (PutProgress) -> Void = { progress in
                guard case .sent(let sent) = progress, sent > 1_000_000 else { return }
                for process in (try? clients()) ?? [] { Glibc.kill(process, SIGKILL) }
            }
            await #expect(
                throws: StoreError(.away, "outbox: \(server.place): the connection ended")
            ) { try await put(path, in: store, report: kill) }
            let reported = StoreTrial.Reported()
            try await put(path, in: store) { reported.note($0) }
            #expect(try #require(reported.firstSent) >= 1_000_000)
            let running = try clients()
            #expect(running.count == 1)
            // The arguments must not include a secret.
            let words = try Data(contentsOf: URL(filePath: "/proc/\(try #require(running.first))/cmdline"))
            #expect(!String(decoding: words, as: UTF8.self).contains("PRIVATE"))
        }
        #expect(try clients() == [])
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(day)/\(object.file)"))
    }

    @Test("SFTP: a connection that nobody uses ends, and the next use begins another")
    func unused() async throws {
        let settings = try server.settings()
        let command = try SSHCommand(
            SFTPAddress(settings.url ?? ""), key: settings.keyFile, knownHosts: settings.knownHostsFile)
        let connection = try SFTPConnection(command, patience: .init(idle: .zero))
        #expect(connection.enter())
        for _ in 0..<3 { _ = try await connection.ask(.attributes(".")) }
        connection.leave()
        await connection.ended()
        #expect(!connection.enter())
        await connection.close()
        let store = try server.store(.init(idle: .zero))
        for _ in 0..<3 { #expect(try await store.head(object) == nil) }
        await store.close()
        #expect(try await store.head(object) == nil)
        await store.close()
    }
}

import Digests
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@testable import Upload

/// Servers that support less than OpenSSH's: OpenSSH's own, behind a program that refuses some requests.
@Suite(.serialized, .timeLimit(.minutes(15)), .needs(.sshd, .ssh, .sshKeygen, .unshare, .python))
struct SFTPQuirkTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    /// Passes packets between a client and OpenSSH's server. If the Python expression `refused` is a code, the request
    /// is answered with that code. For -1 it is carried out, and the connection ends without an answer. For -2 the
    /// connection ends at once. `kind` is the type of the request, `flags` are those of an open, `path` is its path,
    /// `opened` is the name of the last opened file, and `once()` is true the first time over all connections.
    /// - Parameters:
    ///   - statesSizes: false if no answer has the size of a file.
    ///   - overwrites: whether a rename replaces an existing file.
    private func server(
        _ refused: String, options: String = "", statesSizes: Bool = true, overwrites: Bool = false
    ) throws -> SFTPServer {
        let script = "\(trial.folder)/filter.py"
        let text = """
            import os, struct, subprocess, sys, threading
            server = subprocess.Popen(
                ["/usr/lib/openssh/sftp-server"] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            guard, opened, lost = threading.Lock(), "", None

            def once():
                try:
                    os.close(os.open(sys.argv[0] + ".once", os.O_CREAT | os.O_EXCL))
                    return True
                except FileExistsError:
                    return False

            def packets(source):
                while len(head := source.read(4)) == 4:
                    yield source.read(struct.unpack(">I", head)[0])

            def write(target, packet):
                target.write(struct.pack(">I", len(packet)) + packet)
                target.flush()

            def sizeless(packet):
                if packet[0] == 105 and packet[8] & 1:
                    return packet[:8] + bytes([packet[8] & 0xfe]) + packet[17:]
                if packet[0] != 104:
                    return packet
                out, at = packet[:9], 9
                for _ in range(struct.unpack(">I", packet[5:9])[0]):
                    for _ in range(2):
                        end = at + 4 + struct.unpack(">I", packet[at:at + 4])[0]
                        out, at = out + packet[at:end], end
                    flags = struct.unpack(">I", packet[at:at + 4])[0]
                    end = at + 4 + (8 if flags & 1 else 0) + (8 if flags & 2 else 0) + (4 if flags & 4 else 0) + (8 if flags & 8 else 0)
                    out, at = out + struct.pack(">I", flags & ~1) + packet[at + (12 if flags & 1 else 4):end], end
                return out

            def answer():
                for packet in packets(server.stdout):
                    packet = packet if \(statesSizes ? "True" : "False") else sizeless(packet)
                    if packet[1:5] == lost:
                        break
                    with guard:
                        write(sys.stdout.buffer, packet)
                os._exit(0)

            threading.Thread(target=answer, daemon=True).start()
            for packet in packets(sys.stdin.buffer):
                kind, code, path, name, flags = packet[0], None, "", "", 0
                if kind in (3, 7, 9, 11, 13, 14, 15, 17, 18):
                    length = struct.unpack(">I", packet[5:9])[0]
                    path = packet[9:9 + length].decode()
                    name = os.path.basename(path)
                    if kind == 3:
                        flags = struct.unpack(">I", packet[9 + length:13 + length])[0]
                        opened = name
                if kind in (3, 4, 6, 7, 8, 9, 11, 13, 14, 15, 17, 18):
                    code = \(refused)
                if code == -2:
                    os._exit(0)
                if code == -1:
                    lost = packet[1:5]
                if kind == 18 and \(overwrites ? "True" : "False"):
                    text = b"posix-rename@openssh.com"
                    packet = bytes([200]) + packet[1:5] + struct.pack(">I", len(text)) + text + packet[5:]
                if code in (None, -1):
                    write(server.stdin, packet)
                else:
                    with guard:
                        write(sys.stdout.buffer, bytes([101]) + packet[1:5] + struct.pack(">III", code, 0, 0))
            server.stdin.close()
            server.wait()
            """
        try Data(text.utf8).write(to: URL(filePath: script))
        return try SFTPServer { "/usr/bin/python3 \(script) \(options) -d \($0)" }
    }

    private func with(_ server: SFTPServer, _ body: (SFTPStore) async throws -> Void) async throws {
        let store = try SFTPStore(server.settings(), kit: "heron07", resume: trial.resume)
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func put(
        _ store: SFTPStore, byteCount: Int = 100_000, as other: ObjectName? = nil, mode: PutMode = .create
    ) async throws -> StoredObject {
        let source = try await trial.source(try trial.file("a", byteCount: byteCount))
        return try await store.put(source, as: other ?? object, try await trial.metadata(source), mode: mode) { _ in }
    }

    private func content(_ server: SFTPServer, of other: ObjectName? = nil) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(server.files)/\(other ?? object)"))
    }

    /// The content that `put` sends.
    private func sent() throws -> Data { try Data(contentsOf: URL(filePath: "\(trial.folder)/a")) }

    private func names(_ server: SFTPServer) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(server.files)/2026-11-21").sorted()
    }

    @Test(
        "SFTP: a server that opens no file for both, writes files from their beginning alone, takes no hidden ones, or cannot rename, does what each store must do",
        arguments: [
            // AWS Transfer Family: CREATE|READ|WRITE; and only whole files.
            "8 if kind == 3 and flags & 3 == 3 else None",
            "8 if kind == 3 and (flags & 3 == 3 or flags & 2 and not flags & 48) else None",
            "3 if name.startswith('.') else None", "4 if kind == 3 and name.startswith('.') else None",
            "8 if kind == 18 else None", "3 if kind == 18 or name.startswith('.') else None",
            "4 if kind == 18 else None",
            // No attributes of a file can be set.
            "3 if kind in (9, 10) else None", "8 if kind == 9 else None",
        ])
    func quirks(refused: String) async throws {
        let server = try server(refused, options: "-P posix-rename")
        try await with(server) { try await trial.check($0, byteCounts: [0, 1, 100_000, 3_000_000]) }
        #expect(try names(server) == [])
    }

    @Test("SFTP: a server that states no sizes does what each store must do")
    func sizes() async throws {
        let server = try server("None", statesSizes: false)
        try await with(server) { store in
            try await trial.check(store, byteCounts: [0, 1, 100_000, 3_000_000])
            _ = try await put(store, byteCount: 100_001)
            #expect(try await store.head(object)?.byteCount == 100_001)
            var listed: [StoredObject] = []
            try await store.list { listed += $0 }
            #expect(listed.map(\.byteCount) == [100_001])
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
        }
        #expect(try names(server) == [object.file])
    }

    @Test("SFTP: what was to be replaced, and has changed while a file was sent, stays")
    func changedMeanwhile() async throws {
        let server = try server("None")
        try await with(server) { store in
            _ = try await put(store)
            let mode = PutMode.replacing(Digest.sha256(Array(try sent())).hexadecimal)
            let path = "\(server.files)/\(object)"
            let source = UploadSource([1, 2, 3], called: "new", reader: trial.reader)
            let metadata = try await trial.metadata(source)
            await trial.expectProblem(.conflict) {
                _ = try await store.put(source, as: object, metadata, mode: mode) { progress in
                    if progress == .verifying { try? Data("another".utf8).write(to: URL(filePath: path)) }
                }
            }
            #expect(try content(server) == Data("another".utf8))
        }
    }

    @Test("SFTP: where files can be written alone, they are sent and said to be unverified")
    func dropBox() async throws {
        let server = try server("3 if kind in (7, 11, 17) or kind == 3 and flags & 1 else None")
        try await with(server) { store in
            let stored = try await put(store)
            #expect(
                stored.unverified?.contains("does not show it to \(server.user), so that nothing is verified") == true)
            await trial.expectProblem(.hidden) { _ = try await store.head(object) }
            #expect(try names(server) == [object.file])
            let content = try content(server)
            #expect(try content == sent())
            // An existing file is not overwritten, whatever it is.
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
            #expect(try self.content(server) == content)
        }
    }

    @Test(
        "SFTP: where files can be written alone, and renaming replaces what is there, another's file stays",
        arguments: ["None", "3 if kind == 13 else None", "-2 if kind == 18 and once() else None"])
    func overwritingDropBox(refused: String) async throws {
        let server = try server(
            "3 if kind in (7, 11, 17) or kind == 3 and flags & 1 else \(refused)", overwrites: true)
        try FileManager.default.createDirectory(atPath: "\(server.files)/2026-11-21", withIntermediateDirectories: true)
        let other = trial.name("heron07-0043-061811Z.wav")
        try Data("another".utf8).write(to: URL(filePath: "\(server.files)/\(other)"))
        try await with(server) { store in
            var stored: StoredObject?
            for _ in 1...2 where stored == nil {
                do {
                    stored = try await put(store)
                } catch let error as StoreError where error.problem == .away {}
            }
            #expect(stored?.unverified != nil)
            #expect(try content(server) == sent())
            await trial.expectProblem(.conflict) { _ = try await put(store, as: other) }
            #expect(try content(server, of: other) == Data("another".utf8))
        }
    }

    @Test("SFTP: a file that is shown and cannot be read is sent once, and said to be unverified")
    func unreadable() async throws {
        let server = try server("3 if kind == 3 and flags & 1 else None")
        try await with(server) { store in
            #expect(try await put(store).unverified != nil)
            let first = try content(server)
            let sha256 = Digest.sha256(Array(first)).hexadecimal
            for mode in [PutMode.confirm, .replacing(sha256)] {
                #expect(try await put(store, mode: mode).unverified?.contains("does not show it") == true)
            }
            // For a kit that did not send it, the file is another's.
            await trial.expectProblem(.conflict) { _ = try await put(store) }
            // A file of another length is another file. It is replaced if this kit sent it.
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
            #expect(try content(server) == first)
            #expect(try await put(store, byteCount: 5, mode: .replacing(sha256)).unverified != nil)
            #expect(try content(server) == sent() && content(server).count == 5)
            #expect(try names(server) == [object.file])
        }
    }

    @Test("SFTP: a file that is shown and cannot be read is the kit's own after an attempt whose answer was lost")
    func unreadableAfterLoss() async throws {
        let server = try server("3 if kind == 3 and flags & 1 else -1 if kind == 18 and once() else None")
        try await with(server) { store in
            await trial.expectProblem(.away) { _ = try await put(store) }
            let stored = try await put(store)
            #expect(stored.unverified?.contains("does not show it") == true)
            #expect(try content(server) == sent())
            // From then on, the file counts as another's again.
            await trial.expectProblem(.conflict) { _ = try await put(store) }
        }
    }

    @Test(
        "SFTP: where files can be written alone, an answer that was lost makes no conflict, and another's file stays",
        arguments: [
            // A rename whose answer is lost, and a server that renames nothing.
            "-1 if kind == 18 and once() else None", "-2 if kind == 18 and once() else 4 if kind == 18 else None",
            // An open, a write and a close whose answers are lost, on a server that renames nothing.
            "-1 if kind == 3 and not name.endswith('.part') and once() else 3 if kind == 18 else None",
            "-1 if kind == 6 and not opened.endswith('.part') and once() else 3 if kind == 18 else None",
            "-1 if kind == 4 and not opened.endswith('.part') and once() else 3 if kind == 18 else None",
        ])
    func lostAnswer(lost: String) async throws {
        // No client may read attributes, read files or list folders.
        let server = try server("3 if kind in (7, 11, 17) or kind == 3 and flags & 1 else \(lost)")
        let other = trial.name("heron07-0043-061811Z.wav")
        try FileManager.default.createDirectory(atPath: "\(server.files)/2026-11-21", withIntermediateDirectories: true)
        try Data("another".utf8).write(to: URL(filePath: "\(server.files)/\(other)"))
        try await with(server) { store in
            await trial.expectProblem(.away) { _ = try await put(store) }
            let stored = try await put(store)
            #expect(try stored.unverified != nil && content(server) == sent())
            // From then on, the file counts as another's again.
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5, as: other) }
            #expect(try content(server, of: other) == Data("another".utf8))
            #expect(try names(server) == [object.file, other.file])
        }
    }

    @Test("SFTP: a name that is taken does not have all other files written under their own names")
    func taken() async throws {
        let third = trial.name("heron07-0044-061811Z.wav")
        let server = try server(
            "3 if kind in (7, 11, 17) or kind == 3 and (flags & 1 or name == '\(third.file)') else None")
        try await with(server) { store in
            _ = try await put(store)
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
            _ = try await put(store, as: third)
            #expect(try names(server) == [object.file, third.file])
        }
    }

    @Test("SFTP: a file that a server without names for drafts has in part is completed, and another is left alone")
    func cutFile() async throws {
        let server = try server("8 if kind == 18 else None", options: "-P posix-rename")
        let path = "\(server.files)/\(object)"
        let content = try Data(contentsOf: URL(filePath: trial.file("a", byteCount: 100_000)))
        try FileManager.default.createDirectory(atPath: "\(server.files)/2026-11-21", withIntermediateDirectories: true)
        try await with(server) { store in
            try content.prefix(70_001).write(to: URL(filePath: path))
            #expect(try await put(store).unverified == nil)
            #expect(try Data(contentsOf: URL(filePath: path)) == content)
            for other in [Data(), content.prefix(70_000) + [1], content + [1], content.suffix(1000)] {
                try other.write(to: URL(filePath: path))
                await trial.expectProblem(.conflict) { _ = try await put(store) }
                #expect(try Data(contentsOf: URL(filePath: path)) == other)
            }
        }
    }

    @Test("SFTP: copies have the time of the take, if the server lets a user set it")
    func times() async throws {
        for (options, isSet) in [("", true), ("-P setstat,fsetstat", false)] {
            let server = try server("None", options: options)
            try await with(server) { _ = try await put($0) }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(server.files)/\(object)")
            let modified = try #require(attributes[.modificationDate] as? Date)
            #expect((modified == Date(timeIntervalSince1970: 1_795_241_891)) == isSet, "\(modified)")
        }
    }
}

import FinishedTakes
import Foundation
import OtherPrograms
import SeededRandom
import Settings
import StoreTrials
import Synchronization
import TakeFiles
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Takes are sent through a network that spoils most connections.
@Suite(.serialized, .needsServers)
struct BadNetworkTests {
    /// The faults of the connections in order, the same in each run.
    private static func faults(_ seed: UInt64, flips: Bool) -> @Sendable (Int) -> FaultProxy.Fault {
        { number in
            var random = SeededRandom(seed: seed, index: UInt64(number))
            switch random.below(100) {
            case ..<25: return .cut(after: random.below(150_000))
            case ..<45: return .cut(after: random.below(30_000))
            case ..<60: return .truncated(after: random.below(3000))
            case ..<70:
                return .answered(status: [429, 500, 503][random.below(3)], retryAfter: [nil, 1][random.below(2)])
            case ..<85: return flips ? .flipped(at: random.below(100_000)) : .cut(after: random.below(300_000))
            case ..<87: return .stalled(after: random.below(50_000))
            case ..<92: return .slow
            default: return .cut(after: random.below(1_000_000))
            }
        }
    }

    private actor Notes {
        var notes: TakeNotes
        init(_ take: String) { notes = TakeNotes(take: take) }
        func change(_ change: @Sendable (inout TakeNotes) -> Void) { change(&notes) }
    }

    /// Sends a take until it succeeds.
    /// - Returns: the number of attempts.
    private static func send(_ name: TakeName, _ folder: String, _ store: some Store, _ reader: DiskReader) async throws
        -> Int
    {
        let notes = Notes(name.stem)
        var last: StoreError?
        for attempt in 1...100 {
            let delivery = TakeDelivery(
                name, in: TakesFolder(path: folder), to: store, reader: reader, throttle: nil)
            do {
                _ = try await delivery.run(
                    await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
                return attempt
            } catch let error as StoreError {
                last = error
            }
        }
        throw TestServer.Failure(text: "\(name.stem): not sent in 100 attempts: \(last?.sentence ?? "")")
    }

    /// Sends takes through a bad network, and compares the server's files with the kit's.
    /// - Parameters:
    ///   - port: the server's port.
    ///   - store: makes a store at a port, with this `Web`.
    private func check(
        _ trial: StoreTrial, _ port: Int, flips: Bool, _ store: (_ port: Int, _ web: Web) throws -> some Store
    ) async throws {
        let disk = TakesOnDisk()
        var random = SeededRandom(seed: 11)
        var names: [TakeName] = []
        for number in 1...full(3000, usually: 40) {
            names.append(try disk.add(TakesOnDisk.sidecar(number), audioBytes: 1000 + random.below(150_000)))
        }
        let proxy = try FaultProxy(to: port, fault: Self.faults(7, flips: flips))
        defer { proxy.end() }
        let bad = try store(proxy.port, Web(silence: .seconds(2)))
        let (reader, folder) = (trial.reader, disk.takes)
        let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
            var (rest, attempts) = (names[...], 0)
            for _ in 0..<4 {
                if let name = rest.popFirst() { group.addTask { try await Self.send(name, folder, bad, reader) } }
            }
            while let count = try await group.next() {
                attempts += count
                if let name = rest.popFirst() { group.addTask { try await Self.send(name, folder, bad, reader) } }
            }
            return attempts
        }
        await bad.close()
        // The network was bad enough, although a request without an answer is repeated once.
        #expect(attempts > names.count + names.count / 4)
        print("\(bad.name): \(names.count) takes in \(attempts) attempts over \(proxy.connections) connections")
        let direct = try store(port, Web())
        var listed: [String] = []
        try await direct.list { listed += $0.map(\.name.path) }
        var expected: [String] = []
        for name in names {
            let wav = trial.name("\(name.stem).wav", day: name.day)
            expected += [wav.path, "\(name.day)/\(name.stem).json"]
            let audio = try Data(contentsOf: URL(filePath: "\(disk.takes)/\(wav.path)"))
            #expect(try await trial.contents(of: wav, in: direct) == audio, "\(name.stem)")
        }
        #expect(listed.sorted() == expected.sorted())
        await direct.close()
    }

    @Test("S3: takes arrive once, bit for bit, through a network that cuts, stalls, flips and refuses")
    func s3() async throws {
        let trial = try StoreTrial()
        let server = try S3Server(checksKeys: true)
        try await check(trial, server.server.port, flips: true) { port, web in
            var settings = server.settings(prefix: "")
            settings.endpoint = "http://127.0.0.1:\(port)"
            return try S3Store(settings, web: web, resume: trial.resume, kit: "heron07")
        }
    }

    // Without a signature, a flipped bit in a request's head turns it into another valid request.
    @Test("WebDAV: takes arrive once, bit for bit, through a network that cuts, stalls and refuses")
    func webDAV() async throws {
        let trial = try StoreTrial()
        let server = try WebDAVTestServer.wsgidav()
        var settings = try server.settings("/recordings/")
        try await check(trial, server.server.port, flips: false) { port, web in
            settings.url = "http://127.0.0.1:\(port)/recordings/"
            return try WebDAVStore(settings, web: web, resume: trial.resume, kit: "heron07")
        }
    }

    @Test("Firebase: takes arrive once, bit for bit, through a network that cuts, stalls and refuses")
    func firebase() async throws {
        let servers = try FirebaseServers()
        var settings = servers.settings
        try await check(servers.trial, servers.google.port, flips: false) { port, web in
            settings.endpoint = "http://127.0.0.1:\(port)"
            return try FirebaseStore(settings, web: web, resume: servers.trial.resume)
        }
    }

    @Test("S3: of a large file, at most one part is sent twice for each cut")
    func parts() async throws {
        let trial = try StoreTrial()
        let server = try S3Server()
        let byteCount = 60 << 20
        let path = "\(trial.folder)/large"
        let content = Data(
            (0..<byteCount >> 12).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 4096) })
        try content.write(to: URL(filePath: path))
        let cuts = 12
        let proxy = try FaultProxy(to: server.server.port) { number in
            var random = SeededRandom(seed: 3, index: UInt64(number))
            return number < cuts ? .cut(after: random.below(12 << 20)) : .none
        }
        defer { proxy.end() }
        var settings = server.settings()
        settings.endpoint = "http://127.0.0.1:\(proxy.port)"
        let object = trial.name("heron07-0042-061811Z.wav")
        var attempts = 0
        while true {
            attempts += 1
            // A new store each time, as after a restart.
            let store = try S3Store(settings, web: Web(), resume: trial.resume, kit: "heron07")
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let result = try? await store.put(source, as: object, metadata, mode: .create) { _ in }
            await store.close()
            guard result == nil else { break }
        }
        print("a large file in \(attempts) attempts over \(proxy.connections) connections")
        #expect(attempts > 1 && proxy.connections > cuts)
        #expect(proxy.sentBytes < byteCount + cuts * (8 << 20))
        // The server received each part once, and none of the interrupted ones.
        #expect(try server.partsSent() == Array(1...8))
        let direct = try S3Store(server.settings(), web: Web(), resume: trial.resume, kit: "heron07")
        #expect(try await trial.contents(of: object, in: direct) == content)
        await direct.close()
    }
}

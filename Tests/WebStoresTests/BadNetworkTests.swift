import FinishedTakes
import Foundation
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
@Suite(.serialized, .enabled(if: TestServer.areInstalled, "deploy/install-packages servers installs moto"))
struct BadNetworkTests {
    /// What happens to connections, one after the other, the same each time.
    private static func faults(_ seed: UInt64) -> @Sendable (Int) -> FaultProxy.Fault {
        { number in
            var random = SeededRandom(seed: seed, index: UInt64(number))
            switch random.below(100) {
            case ..<25: return .cut(after: random.below(3_000_000))
            case ..<45: return .cut(after: random.below(30_000))
            case ..<60: return .truncated(after: random.below(3000))
            case ..<70:
                return .answered(status: [429, 500, 503][random.below(3)], retryAfter: [nil, 1][random.below(2)])
            case ..<85: return .flipped(at: random.below(100_000))
            case ..<87: return .stalled(after: random.below(50_000))
            case ..<92: return .slow
            default: return .none
            }
        }
    }

    private actor Notes {
        var notes: TakeNotes
        init(_ take: String) { notes = TakeNotes(take: take) }
        func change(_ change: @Sendable (inout TakeNotes) -> Void) { change(&notes) }
    }

    /// Sends a take as often as it needs.
    /// - Returns: how often.
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

    @Test("S3: takes arrive once, bit for bit, through a network that cuts, stalls, flips and refuses")
    func takes() async throws {
        let trial = try StoreTrial()
        let disk = TakesOnDisk()
        let server = try S3Server(checksKeys: true)
        var random = SeededRandom(seed: 11)
        var names: [TakeName] = []
        for number in 1...full(3000, inDebug: 60) {
            names.append(try disk.add(TakesOnDisk.sidecar(number), audioBytes: 1000 + random.below(150_000)))
        }
        let proxy = try FaultProxy(to: server.server.port, fault: Self.faults(7))
        defer { proxy.end() }
        var settings = server.settings(prefix: "")
        settings.endpoint = "http://127.0.0.1:\(proxy.port)"
        let web = try Web(silence: .seconds(2))
        let store = try S3Store(settings, web: web, resume: trial.resume, kit: "heron07")
        let (reader, folder) = (trial.reader, disk.takes)
        let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
            var (rest, attempts) = (names[...], 0)
            for _ in 0..<4 {
                if let name = rest.popFirst() { group.addTask { try await Self.send(name, folder, store, reader) } }
            }
            while let count = try await group.next() {
                attempts += count
                if let name = rest.popFirst() { group.addTask { try await Self.send(name, folder, store, reader) } }
            }
            return attempts
        }
        await store.close()
        // The network was bad.
        #expect(attempts > names.count + names.count / 4 && proxy.connections > names.count)
        print("\(names.count) takes in \(attempts) attempts over \(proxy.connections) connections")
        try check(server, disk, names)
    }

    /// What the bucket has is what the kit has, and nothing else.
    private func check(_ server: S3Server, _ disk: TakesOnDisk, _ names: [TakeName]) throws {
        let listed = try server.python(
            """
            import hashlib
            for page in s3.get_paginator("list_objects_v2").paginate(Bucket="recordings"):
                for item in page.get("Contents", []):
                    body = s3.get_object(Bucket="recordings", Key=item["Key"])["Body"].read()
                    print(hashlib.sha256(body).hexdigest(), item["Key"])
            """)
        let found = Dictionary(
            uniqueKeysWithValues: listed.split(separator: "\n").map { line in
                let words = line.split(separator: " ", maxSplits: 1)
                return (String(words[1]), String(words[0]))
            })
        var expected: Set<String> = []
        for name in names {
            for file in ["\(name.stem).wav", "\(name.stem).json"] { expected.insert("\(name.day)/\(file)") }
            let audio = try Data(contentsOf: URL(filePath: "\(disk.takes)/\(name.day)/\(name.stem).wav"))
            #expect(
                found["\(name.day)/\(name.stem).wav"]
                    == UploadSource.hexadecimal(UploadSource.digest(of: Array(audio))), "\(name.stem)")
        }
        #expect(Set(found.keys) == expected)
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
            // As after a restart each time.
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
        // The server received each part once: of those that were cut it received none.
        #expect(try server.partsSent() == Array(1...8))
        let direct = try S3Store(server.settings(), web: Web(), resume: trial.resume, kit: "heron07")
        #expect(try await trial.contents(of: object, in: direct) == content)
        await direct.close()
    }
}

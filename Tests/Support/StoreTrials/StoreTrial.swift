import Digests
package import Foundation
import SeededRandom
import Takes
import TestBench
package import Testing
package import Upload

/// The common test of all stores: test files, and the requirements for every store.
package struct StoreTrial: Sendable {
    package var folder: String { place.path }
    private let place = TestFolder()
    package let reader: DiskReader

    package init() throws {
        reader = try DiskReader(name: "reader")
    }

    package var context: StoreContext {
        StoreContext(kit: "heron07", resume: resume, sticks: HomeSticks.open(in: folder).0)
    }
    package var resume: ResumeStates { ResumeStates(folder: "\(folder)/resume", reader: reader) }

    package func file(_ name: String, byteCount: Int, seed: UInt64 = 1) throws -> String {
        var random = SeededRandom(seed: seed)
        var bytes = [UInt8](repeating: 0, count: byteCount)
        for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &random) }
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    package func source(_ path: String) async throws -> UploadSource {
        try await UploadSource(path: path, reader: reader)
    }

    package func name(_ file: String, day: String = "2026-11-21") -> ObjectName { ObjectName(day: day, file: file) }

    package func metadata(_ source: UploadSource, title: String = "heron07-0042-061811Z") async throws -> ObjectMetadata
    {
        try await ObjectMetadata(
            title: title, started: "2026-11-21T06:18:11.250000Z", duration: 12.5, kit: "heron07", waveform: "000a7f80",
            sha256: source.sha256())
    }

    /// The draft's name for an object with the content of this file, without a store's own suffixes.
    package func draft(_ object: ObjectName, of path: String) throws -> String {
        try draft(object, of: Array(Data(contentsOf: URL(filePath: path))))
    }

    /// The draft's name for an object with these bytes.
    package func draft(_ object: ObjectName, of bytes: [UInt8]) -> String {
        DraftName.name(of: object.file, Digest.sha256(bytes).hexadecimal)
    }

    package func contents(of object: ObjectName, in store: some Store) async throws -> Data {
        var data = Data()
        try await store.get(object) { data.append(contentsOf: $0) }
        return data
    }

    /// Checks the requirements for every store, with files of these lengths.
    package func check(_ store: some Store, byteCounts: [Int] = [0, 1, 100_000, 9_000_000]) async throws {
        for (index, byteCount) in byteCounts.enumerated() {
            let object = name("heron07-00\(40 + index)-061811Z.wav")
            let path = try file("\(index)", byteCount: byteCount, seed: UInt64(index))
            let content = try Data(contentsOf: URL(filePath: path))
            #expect(try await store.head(object) == nil)
            let first = try await source(path)
            let metadata = try await metadata(first)
            let reported = Reported()
            let stored = try await store.put(first, as: object, metadata, mode: .create) { reported.note($0) }
            #expect(stored.name == object && stored.byteCount == byteCount && stored.sha256 == metadata.sha256)
            #expect(reported.sentBytes == byteCount)
            #expect(try await contents(of: object, in: store) == content)
            let head = try await store.head(object)
            #expect(head?.byteCount == Int64(byteCount))
            // A second upload sends nothing.
            let again = Reported()
            _ = try await store.put(try await source(path), as: object, metadata, mode: .create) { again.note($0) }
            #expect(again.sentBytes == 0)
        }
        // Another content under the same name is refused, and nothing is overwritten.
        let object = name("heron07-0042-061811Z.wav")
        let before = try await contents(of: object, in: store)
        let other = try file("other", byteCount: before.count, seed: 99)
        let source = try await source(other)
        let metadata = try await metadata(source)
        await expectProblem(.conflict) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try await contents(of: object, in: store) == before)
        // A sidecar may be replaced by the kit that sent it.
        let sidecar = name("heron07-0042-061811Z.json")
        let old = UploadSource(Array("{}\n".utf8), called: "old", reader: reader)
        _ = try await store.put(old, as: sidecar, try await self.metadata(old), mode: .create) { _ in }
        let new = UploadSource(Array("{\"revision\":2}\n".utf8), called: "new", reader: reader)
        let newMetadata = try await self.metadata(new)
        await expectProblem(.conflict) {
            _ = try await store.put(new, as: sidecar, newMetadata, mode: .replacing(String(repeating: "0", count: 64)))
            { _ in }
        }
        _ = try await store.put(new, as: sidecar, newMetadata, mode: .replacing(try await old.sha256())) { _ in }
        #expect(try await contents(of: sidecar, in: store) == Data("{\"revision\":2}\n".utf8))
        var listed: Set<ObjectName> = []
        try await store.list { for found in $0 { listed.insert(found.name) } }
        #expect(listed.count == byteCounts.count + 1 && listed.contains(sidecar))
        for found in listed { try await store.delete(found) }
        try await store.delete(sidecar)
        #expect(try await store.head(sidecar) == nil)
        await expectProblem(.missing) { try await store.get(sidecar) { _ in } }
        listed = []
        try await store.list { for found in $0 { listed.insert(found.name) } }
        #expect(listed.isEmpty)
    }

    package func expectProblem(
        _ problem: StoreError.Problem, _ comment: Comment? = nil, at place: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("it did not fail", sourceLocation: place)
        } catch let error as StoreError {
            #expect(error.problem == problem, "\(error)", sourceLocation: place)
        } catch {
            Issue.record("\(error)", sourceLocation: place)
        }
    }

    /// Whether an upload ends by cancellation at the report that this many bytes were sent. It is cancelled within the
    /// report, because another task could be too late.
    package func isCancelled(
        after byteCount: Int64,
        _ upload: @escaping @Sendable (@escaping @Sendable (PutProgress) -> Void) async throws -> Void
    ) async -> Bool {
        let running = Locked<Task<Void, any Error>?>(nil)
        let (known, makeKnown) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in known {}
            try await upload { progress in
                guard case .sent(let count) = progress, count >= byteCount else { return }
                running.withLock { if let task = $0 { task.cancel() } }
            }
        }
        running.withLock { $0 = task }
        makeKnown.finish()
        do {
            try await task.value
            return false
        } catch {
            return error is CancellationError
        }
    }

    /// The progress reports of an upload. It may be used by several threads.
    package final class Reported: @unchecked Sendable {
        private let lock = NSLock()
        private var all: [PutProgress] = []
        package init() {}
        package func note(_ progress: PutProgress) { lock.withLock { all.append(progress) } }
        package var last: PutProgress? { lock.withLock { all.last } }
        package var firstSent: Int64? {
            lock.withLock { all.lazy.compactMap { if case .sent(let count) = $0 { count } else { nil } }.first }
        }
        package var sentBytes: Int64 {
            lock.withLock { all.reduce(0) { if case .sent(let count) = $1 { max($0, count) } else { $0 } } }
        }
    }
}

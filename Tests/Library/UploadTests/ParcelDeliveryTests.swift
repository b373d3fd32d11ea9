import Digests
import FinishedTakes
import Foundation
import StoreTrials
import Takes
import Testing

@testable import Upload

/// Three texts that do not belong to a take, sent together: the kit's account of a day.
struct ParcelDeliveryTests {
    /// The store.
    enum Place: CaseIterable { case folder, memory }

    private let trial: StoreTrial
    private let trace = DeliveryTrace(of: "heron07-account")
    private let memory: TracedStore
    private let folder: FolderStore
    private let kept: Kept

    init() throws {
        trial = try StoreTrial()
        memory = TracedStore(trace)
        kept = Kept(trace)
        folder = try FolderStore(name: "folder:home", path: trial.folder, kit: "heron07")
    }

    /// The receipt that the kit keeps.
    private actor Kept {
        private(set) var receipt: UploadReceipt?
        private var last: String?
        private let trace: DeliveryTrace

        init(_ trace: DeliveryTrace) { self.trace = trace }

        struct Killed: Error {}

        /// Ends the delivery before the arrival of this file is noted.
        func kill(after file: String) { last = file }

        func change(_ change: @Sendable (inout UploadReceipt?) -> Void) throws {
            var changed = receipt
            change(&changed)
            if let last, changed?.sha256(of: last) != receipt?.sha256(of: last) {
                self.last = nil
                throw Killed()
            }
            let texts = [receipt, changed].map { ["receipt": $0].compactMapValues(\.self) }
            try trace.noteSave(texts[0], texts[1])
            receipt = changed
        }
    }

    private func store(_ place: Place) -> any Store {
        switch place {
        case .folder: folder
        case .memory: memory
        }
    }

    private static let endings = ["csv", "txt", "json"]

    private func object(_ ending: String) -> ObjectName {
        ObjectName(day: "2026-11-21", file: "heron07-account.\(ending)")
    }

    private func file(_ text: String, _ ending: String, isReplaceable: Bool = true) -> ParcelDelivery.File {
        let bytes = Array(text.utf8)
        return ParcelDelivery.File(
            source: UploadSource(bytes, called: ending, reader: trial.reader), object: object(ending),
            metadata: ObjectMetadata(
                title: "heron07-account", started: "2026-11-21T00:00:00.000000Z", duration: 0, kit: "heron07",
                waveform: "", sha256: Digest.sha256(bytes).hexadecimal),
            isReplaceable: isReplaceable)
    }

    /// Sends a text for each ending. An empty text withdraws the file.
    private func deliver(_ texts: String..., to store: any Store, isReplaceable: Bool = true) async throws {
        var parcel = try await ParcelDelivery(
            to: store, await kept.receipt, report: { [trace] in trace.note($0) },
            save: { [kept] in try await kept.change($0) })
        try await parcel.begin(
            byteCount: Int64(texts.reduce(0) { $0 + $1.utf8.count }), noted: await kept.receipt)
        for (text, ending) in zip(texts, Self.endings) {
            if text.isEmpty {
                try await parcel.withdraw(object(ending)) { file("", ending) }
            } else {
                try await parcel.send(file(text, ending, isReplaceable: isReplaceable))
            }
        }
        var receipt = parcel.receipt
        receipt.complete(revision: 1, at: TakesOnDisk.morning.iso8601)
        let complete = receipt
        try await kept.change { $0 = complete }
    }

    /// The store's text for each ending.
    private func texts(_ store: any Store) async throws -> [String?] {
        var texts: [String?] = []
        for ending in Self.endings {
            let isThere = try await store.head(object(ending)) != nil
            let bytes = isThere ? try await store.contents(of: object(ending), limit: 100) : nil
            texts.append(bytes.map { String(decoding: $0, as: UTF8.self) })
        }
        return texts
    }

    private func isComplete() async -> Bool { await kept.receipt?.isComplete(revision: 1) == true }

    @Test func `they arrive in order, each noted before the next, and are asked for once`() async throws {
        try await deliver("a;b", "seven", "{}", to: memory)
        #expect(trace.take() == Self.first)
        try await deliver("a;b", "seven", "{}", to: memory)
        #expect(trace.take() == "medium\n- 0 of 10; 3 of 10; 8 of 10; 10 of 10\nsave nothing")
        #expect(await isComplete())
    }

    @Test(arguments: Place.allCases)
    func `each state replaces the one before, and what is taken back goes`(place: Place) async throws {
        let store = store(place)
        for texts in [["a;b", "seven", "{}"], ["c;d", "seven", "[]"], ["c;d", "", "[1]"]] {
            try await deliver(texts[0], texts[1], texts[2], to: store)
            #expect(try await self.texts(store) == texts.map { $0.isEmpty ? nil : $0 })
            #expect(await isComplete())
        }
    }

    @Test(arguments: Place.allCases, endings)
    func `what arrived before that was noted is this kit's own`(place: Place, ending: String) async throws {
        let store = store(place)
        await kept.kill(after: object(ending).file)
        await #expect(throws: Kept.Killed.self) { try await deliver("a;b", "seven", "{}", to: store) }
        #expect(await !isComplete())
        // The store has no file after this one.
        let index = try #require(Self.endings.firstIndex(of: ending))
        #expect(
            try await texts(store) == ["a;b", "seven", "{}"].prefix(index + 1) + Array(repeating: nil, count: 2 - index)
        )
        try await deliver("c;d", "", "[]", to: store)
        #expect(try await texts(store) == ["c;d", nil, "[]"])
        #expect(await kept.receipt?.attempts == nil)
    }

    @Test(arguments: Place.allCases)
    func `another's file stays, and no file behind it is sent`(place: Place) async throws {
        let store = store(place)
        let another = file("another", "txt")
        _ = try await store.put(another.source, as: another.object, another.metadata, mode: .create) { _ in }
        for _ in 0..<2 {
            await trial.expectProblem(.conflict) { try await deliver("a;b", "seven", "{}", to: store) }
            #expect(try await texts(store) == ["a;b", "another", nil])
            #expect(await kept.receipt?.attempts == nil)
        }
        try await deliver("a;b", "", "{}", to: store)
        #expect(try await texts(store) == ["a;b", "another", "{}"])
    }

    @Test(arguments: Place.allCases)
    func `a file that is not replaceable is sent once, and never changes`(place: Place) async throws {
        let store = store(place)
        for _ in 0..<2 { try await deliver("a;b", "seven", "{}", to: store, isReplaceable: false) }
        await trial.expectProblem(.conflict) {
            try await deliver("a;b", "eight", "{}", to: store, isReplaceable: false)
        }
        #expect(try await texts(store) == ["a;b", "seven", "{}"])
    }

    @Test func `another medium is sent all of them`() async throws {
        for medium in ["stick-1", "stick-2"] {
            memory.insert(medium)
            try await deliver("a;b", "seven", "{}", to: memory)
            #expect(try await texts(memory) == ["a;b", "seven", "{}"])
            #expect(await kept.receipt?.stick == medium)
        }
    }

    @Test func `a store that shows nothing is sent them once, and they count once it shows them`() async throws {
        memory.limit([.looking])
        for _ in 0..<2 { try await deliver("a;b", "seven", "{}", to: memory) }
        #expect(trace.take().components(separatedBy: "put ").count == 4)
        #expect(await !isComplete())
        #expect(await kept.receipt?.unverified?.files == Self.endings.map { object($0).file })
        memory.limit([])
        try await deliver("a;b", "seven", "{}", to: memory)
        #expect(await isComplete())
    }

    @Test func `a file that is taken back and cannot be deleted is emptied`() async throws {
        try await deliver("a;b", "seven", "{}", to: memory)
        memory.limit([.deleting])
        for _ in 0..<2 {
            try await deliver("a;b", "", "{}", to: memory)
            #expect(try await texts(memory) == ["a;b", "", "{}"])
        }
        memory.limit([.replacing])
        await trial.expectProblem(.hidden) { try await deliver("c;d", "", "{}", to: memory) }
    }

    private static let first = """
        medium
        save + receipt.completed: null
             + receipt.revision: null
             + receipt.store: tests:home
        - 0 of 10
        save + receipt.attempts: bytes 3, file T.csv, sha256 5719af18
        put 2026-11-21/T.csv, 3: 5719af18, create
          T [], 2026-11-21T00:00:00.000000Z, 0.0, heron07
        - 3 of 10; 3 of 10 to verify
        medium
        save - receipt.attempts: bytes 3, file T.csv, sha256 5719af18
             + receipt.files: bytes 3, file T.csv, mark mark-5719, sha256 5719af18
        - 3 of 10
        save + receipt.attempts: bytes 5, file T.txt, sha256 3ba8d02b
        put 2026-11-21/T.txt, 5: 3ba8d02b, create
        - 8 of 10; 8 of 10 to verify
        medium
        save - receipt.attempts: bytes 5, file T.txt, sha256 3ba8d02b
             + receipt.files: bytes 5, file T.txt, mark mark-3ba8, sha256 3ba8d02b
        - 8 of 10
        save + receipt.attempts: bytes 2, file T.json, sha256 44136fa3
        put 2026-11-21/T.json, 2: 44136fa3, create
        - 10 of 10; 10 of 10 to verify
        medium
        save - receipt.attempts: bytes 2, file T.json, sha256 44136fa3
             + receipt.files: bytes 2, file T.json, mark mark-4413, sha256 44136fa3
        - 10 of 10
        save - receipt.revision: null
             - receipt.completed: null
             + receipt.completed: 2026-11-21T06:18:11.250000Z
             + receipt.revision: 1
        """
}

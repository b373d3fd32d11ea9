import Control
import DiskCalls
import FinishedTakes
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog
@testable import Library

/// Takes of several kits with the same name: requests, uploads and deletions.
@Suite(.waitsOnNamedThreads) struct SameNameTests {
    private let kits = ["00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"].map { KitID($0)! }
    private let tested: TestedIndexer
    private let folders: [String]
    private let stem = TakesOnDisk.sidecar(42).take

    init() async throws {
        let disk = TakesOnDisk()
        let folders = ["a", "b"].map { "\(disk.path)/\($0)" }
        for (folder, kit) in zip(folders, kits) {
            mkdir(folder, 0o755)
            var sidecar = TakesOnDisk.sidecar(42)
            sidecar.kitID = kit
            try disk.add(sidecar, in: folder)
        }
        tested = try TestedIndexer(disk, roots: folders)
        self.folders = folders
        await tested.indexer.scanAll()
    }

    @Test func `a name that several takes have is refused in one sentence, which says how each is named`() throws {
        let requests = tested.requests {}
        let sentence =
            "show: \(stem): takes of 2 kits have this name: \(kits[0]):42 in \(folders[0])/2026-11-21, \(kits[1]):42 in "
            + "\(folders[1])/2026-11-21: name one by its kit_id and number, as these are"
        #expect(throws: Refusal(.badData, sentence)) { try requests.show(.stem(stem)) }
        #expect(throws: Refusal.self) { try requests.show(.number(42)) }
        _ = try requests.change(.stem("\(kits[1]):42"), [.memo("owl")], for: "memo")
        for (kit, memo) in zip(kits, [nil, "owl"]) {
            let take = try requests.show(.stem("\(kit):42")).take
            #expect(take.take == stem && take.kitID == kit && take.memo == memo)
        }
        #expect(throws: Refusal.self) { try requests.show(.stem("\(kits[1]):43")) }
    }

    @Test
    func `while a kit's take is deleted, that of another kit is sent, and what only a name is known of is neither`()
        throws
    {
        let hands = ParcelsInHand()
        let (first, second) = (
            TakeIdentity(stem: stem, number: 42, kitID: kits[0]), TakeIdentity(stem: stem, number: 42, kitID: kits[1])
        )
        try hands.beginDeleting(.take(first))
        #expect(!hands.beginSending(.take(first)) && hands.beginSending(.take(second)))
        #expect(throws: Refusal.self) { try hands.beginDeleting(.take(TakeIdentity(stem: stem))) }
        #expect(throws: Refusal.self) { try hands.checkNotDeleted(.take(first)) }
        try hands.checkNotDeleted(.take(second))
        hands.endDeleting(.take(first))
        #expect(throws: Refusal.self) { try hands.beginDeleting(.take(TakeIdentity(stem: stem))) }
        hands.endSending(.take(second))
        try hands.beginDeleting(.take(TakeIdentity(stem: stem)))
        #expect(!hands.beginSending(.take(first)) && !hands.beginSending(.take(second)))
    }
}

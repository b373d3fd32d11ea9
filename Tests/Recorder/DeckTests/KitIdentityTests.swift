import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Each take identifies its kit, even if the kit's name changes.
@Suite struct KitIdentityTests {
    private func rig(_ calls: FaultyCalls, _ state: String, _ configure: (inout DeckOptions) -> Void = { _ in }) throws
        -> Rig
    {
        try Rig(files: FileSystem(calls: calls)) { options in
            options.stateFolder = state
            configure(&options)
        }
    }

    private func take(_ rig: Rig) {
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
    }

    @Test func `each take has the kit's id, whatever the kit is called and wherever takes are kept`() throws {
        let folder = TestFolder()
        let state = folder.path
        let first = try rig(FaultyCalls(root: state), state)
        first.run(.seconds(1))
        let id = try #require(first.deck.status.kitID)
        take(first)
        #expect(try first.sidecars().map(\.kitID) == [id])
        let renamed = try rig(FaultyCalls(root: state), state) { $0.kit = "owl" }
        renamed.run(.seconds(1))
        take(renamed)
        #expect(try renamed.sidecars().map { "\($0.kit) \($0.kitID == id)" } == ["owl true"])
        #expect(renamed.deck.keyProblem == nil)
    }

    @Test func `a kit that cannot keep its key records without an id, says so once, and has one when it can`() throws {
        let folder = TestFolder()
        let state = folder.path
        let calls = FaultyCalls(root: state)
        calls.setRefusal { call, subject in call == "create" && subject.contains("kit.key") ? EROFS : nil }
        let rig = try rig(calls, state)
        rig.run(.seconds(1))
        take(rig)
        #expect(try rig.sidecars().map(\.kitID) == [nil])
        #expect(rig.deck.status.kitID == nil && rig.deck.status.faults == [])
        let problem = try #require(rig.deck.keyProblem)
        #expect(problem.contains("kit.key.tmp: Read-only file system: takes are recorded without 'kit_id'"))
        #expect(rig.log.messages.filter { $0 == problem }.count == 1)
        calls.setRefusal { _, _ in nil }
        take(rig)
        #expect(try rig.sidecars().map(\.kitID) == [nil, rig.deck.status.kitID])
        #expect(rig.deck.status.kitID != nil && rig.deck.keyProblem == nil)
    }
}

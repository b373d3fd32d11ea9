import Files
import Glibc
import PowerCuts
import Takes
import Testing

@testable import TakeFiles

struct LeftoverDraftsTests {
    private let bench = RecoveryBench()
    private static let own = TakeDocument.sidecarPart.name(stem: RecoveryBench.take.stem)
    private static let waiting = TakeDocument.sidecarDraft.name(stem: RecoveryBench.take.stem)

    private static func bytes(revision: Int) -> [UInt8] {
        var sidecar = testSidecar(RecoveryBench.take)
        sidecar.revision = revision
        return SidecarFile.bytes(sidecar)
    }

    private func drafts(_ own: [UInt8]?, _ waiting: [UInt8]?) throws -> LeftoverDrafts {
        let site = try bench.site()
        if let own { try bench.make(own, Self.own) }
        if let waiting { try bench.make(waiting, Self.waiting) }
        return try LeftoverDrafts(
            (own == nil ? [] : [.sidecarPart]) + (waiting == nil ? [] : [.sidecarDraft]), at: site, { true })
    }

    @Test func `the draft under its own name counts, without one the other`() throws {
        let both = try drafts(Self.bytes(revision: 2), Self.bytes(revision: 3))
        #expect(both.state == .there && both.sidecar?.revision == 2 && both.problem == nil)
        let one = try LeftoverDrafts([.sidecarDraft], at: bench.site(), { true })
        #expect(one.state == .waiting && one.sidecar?.revision == 3 && one.problem == nil)
        let none = try LeftoverDrafts([], at: bench.site(), { true })
        #expect(none.state == .lost && none.sidecar == nil && none.areBegun)
    }

    @Test func `a damaged draft is a problem, and the other one counts`() throws {
        let drafts = try drafts(Array("{ \"take\":".utf8), Self.bytes(revision: 3))
        #expect(drafts.state == .waiting && drafts.sidecar?.revision == 3 && drafts.areBegun)
        #expect(drafts.problem == "\(bench.folder)/\(Self.own): it is damaged")
    }

    @Test func `a draft of zeros is what a power cut leaves, and junk is not`() throws {
        let zeros = try drafts([0, 0, 0], nil)
        #expect(zeros.state == .lost && zeros.problem == nil && zeros.areBegun)
        let junk = try drafts(RecoveryBench.junk, nil)
        #expect(junk.state == .lost && junk.problem != nil && !junk.areBegun)
    }

    @Test func `a draft that is no file is another program's`() throws {
        let site = try bench.site()
        _ = try bench.files.makeFolder("\(bench.folder)/\(Self.own)")
        #expect(
            problem { () throws(LeftoverProblem) in try LeftoverDrafts([.sidecarPart], at: site) { true } }
                == "open \(bench.folder)/\(Self.own): Is a directory: \(LeftoverProblem.advice)")
    }

    @Test(arguments: [1, 2]) func `an unreadable draft is read twice, while the storage answers`(
        failures: Int
    ) throws {
        try bench.make(Self.bytes(revision: 2), Self.own)
        let calls = FaultyCalls(root: bench.path)
        let site = try bench.site(FileSystem(calls: calls))
        let left = Locked(failures)
        calls.setRefusal { verb, subject in
            guard verb == "read", subject.hasSuffix(Self.own) else { return nil }
            return left.withLock {
                $0 -= 1
                return $0 >= 0 ? EIO : nil
            }
        }
        let failure = FileError("read", "\(bench.folder)/\(Self.own)", code: EIO)
        let drafts = try LeftoverDrafts([.sidecarPart], at: site, { true })
        #expect(drafts.sidecar?.revision == (failures == 1 ? 2 : nil))
        #expect(drafts.failure == (failures == 1 ? nil : failure))
        #expect(drafts.problem == drafts.failure?.description && drafts.areBegun == (failures == 1))
        left.withLock { $0 = failures }
        #expect(
            problem { () throws(LeftoverProblem) in try LeftoverDrafts([.sidecarPart], at: site) { false } }
                == "\(failure)")
    }
}

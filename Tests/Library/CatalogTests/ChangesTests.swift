import DiskCalls
import FinishedTakes
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct ChangesTests {
    private let takes: CatalogedTakes
    private let seen = Locked<[CatalogChange]>([])

    init() throws {
        takes = try CatalogedTakes(stores: ["folder:a"])
        let (seen, catalog) = (seen, takes.catalog)
        catalog.changes.watch { change in
            // The change is in the database by then.
            if case .added(let stem) = change { #expect((try? catalog.find(.stem(stem)).count) == 1) }
            seen.withLock { $0.append(change) }
        }
    }

    /// The changes since the previous call.
    private func changes() -> [CatalogChange] {
        seen.withLock { seen in
            defer { seen = [] }
            return seen
        }
    }

    @Test func `what is listed, changed and gone is reported, and nothing else`() throws {
        let stem = try takes.add(TakesOnDisk.sidecar(1))
        #expect(changes() == [.added(stem)])
        var sidecar = TakesOnDisk.sidecar(1)
        sidecar.revision = 2
        _ = try takes.add(sidecar)
        #expect(changes() == [.revised(stem)])
        _ = try takes.catalog.note(stem) { $0.starred = true }
        #expect(changes() == [.revised(stem)])
        _ = try takes.catalog.note(stem) { $0.starred = true }
        try takes.catalog.noteAnyway("heron07-0009-061811Z") { $0.starred = true }
        #expect(changes() == [])
        try takes.catalog.fail(stem, for: "folder:a", of: 2)
        #expect(changes() == [.revised(stem)])
        try takes.catalog.remove([stem], of: "2026-11-21", on: takes.number)
        #expect(changes() == [.removed(stem)])
        try takes.catalog.remove([stem], of: "2026-11-21", on: takes.number)
        #expect(changes() == [])
    }

    @Test func `many are reported as that, also by a catalog that replaces a damaged one`() throws {
        for number in 1...CatalogChanges.mostAtATime { _ = try takes.add(TakesOnDisk.sidecar(number)) }
        let stems = try takes.catalog.page(TakeQuery()).takes().map(\.take)
        #expect(changes() == stems.reversed().map { .added($0) })
        let stem = try takes.add(TakesOnDisk.sidecar(CatalogChanges.mostAtATime + 1))
        #expect(changes() == [.added(stem)])
        try takes.catalog.remove(stems + [stem], of: "2026-11-21", on: takes.number)
        #expect(changes() == [.many])
        let catalog = try takes.catalog.replacement()
        _ = try catalog.setPresent([])
        #expect(changes() == [.many])
        try catalog.close()
    }
}

import Exports
import FinishedTakes
import Takes
import Testing

@testable import Console

struct DamagedArchiveTests {
    @Test func `an archive with a damaged take says so in a text beside its files`() {
        var take = CatalogedTake(
            TakesOnDisk.sidecar(7), notes: TakeNotes(take: TakesOnDisk.sidecar(7).take), bytes: 1, folder: "/takes/day",
            place: .here)
        #expect(ExportRoutes.damageNote(take, in: "day") == nil)
        take.damaged = "a.wav: it is missing"
        let entry = ExportRoutes.damageNote(take, in: "day")
        #expect(entry?.name == "day/\(take.take)/\(take.take).damaged.txt")
        guard case .bytes(let bytes, _)? = entry?.content else { return #expect(Bool(false)) }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "\(take.take): its sound is not what was recorded: a.wav: it is missing\n")
    }
}

import DiskCalls
import Exports
import FinishedTakes
import Glibc
import TakeFiles
import TakePlaces
import Takes
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct DamagedArchiveTests {
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

    @Test func `an archive has what is there of a take, and names what is missing, linked or unreadable`() throws {
        let disk = TakesOnDisk()
        var sidecar = TakesOnDisk.sidecar(7, seconds: 0.01)
        sidecar.parts[0].unfilteredFile = sidecar.take.file("-raw.wav")
        let name = try disk.addSound(sidecar).name
        let (stem, day) = (name.stem, "\(disk.takes)/\(name.day)")
        let take = CatalogedTake(
            sidecar, notes: TakeNotes(take: stem), bytes: 1, folder: day, place: .here)
        func entries(_ sidecar: Result<Sidecar, SidecarError>) throws -> (names: [String], text: String) {
            let entries = try ExportRoutes.entries(of: take, sidecar, TakeNotes(take: stem))
            // All entries can be read.
            _ = try ZipArchive(entries)
            let names = entries.map { String($0.name.dropFirst("\(name.day)/\(stem)/".count)) }
            guard case .bytes(let bytes, _)? = entries.first?.content else { return (names, "") }
            return (names, String(decoding: bytes, as: UTF8.self))
        }
        var found = try entries(.success(sidecar))
        #expect(found == (["\(stem).json", "\(stem).wav", stem.file("-raw.wav")], ""))
        unlink("\(day)/\(stem.file("-raw.wav"))")
        found = try entries(.success(sidecar))
        #expect(
            found == (
                [stem + ".damaged.txt", stem + ".json", stem + ".wav"],
                "\(stem): \(stem.file("-raw.wav")): it is missing\n"
            ))
        symlink("/etc/hostname", "\(day)/\(stem.file("-raw.wav"))")
        let error = try #require(throws: SidecarError.self) { try SidecarFile.sidecar([], path: "p") }
        found = try entries(.failure(error))
        #expect(found.names == [".damaged.txt", ".json", ".wav"].map { stem + $0 })
        #expect(
            found.text
                == "\(stem): \(stem).json: it cannot be used: not JSON\n\(stem): \(stem.file("-raw.wav")): it is a link, and no file\n"
        )
    }
}

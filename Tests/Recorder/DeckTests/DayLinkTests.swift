import Foundation
import Glibc
import Panel
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Something else has the name of a day's folder.
@Suite struct DayLinkTests {
    enum Obstacle: CaseIterable { case link, linkToNothing, linkToUnwritable, file }

    private func kind(_ path: String) -> mode_t {
        var found = stat()
        return lstat(path, &found) == 0 ? found.st_mode & S_IFMT : 0
    }

    @Test(arguments: Obstacle.allCases) func `a take lies in a folder, whatever had its name`(obstacle: Obstacle) throws
    {
        let folder = TestFolder()
        for name in ["takes", "elsewhere"] { folder.makeFolder(name) }
        let (day, elsewhere) = (folder.path + "/takes/2026-11-21", folder.path + "/elsewhere")
        switch obstacle {
        case .link: #expect(symlink(elsewhere, day) == 0)
        case .linkToNothing: #expect(symlink("nowhere", day) == 0)
        case .linkToUnwritable: #expect(symlink("/proc/self", day) == 0)
        case .file: try Data("mine".utf8).write(to: URL(fileURLWithPath: day))
        }
        let rig = try Rig(in: folder)
        rig.run(.seconds(65))
        #expect(rig.deck.isArmed)
        rig.press(.record)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        let fault = try #require(rig.deck.status.faults.first)
        #expect(fault.code == .storageFailing)
        #expect(fault.message.contains("\(day) is a link or a file") && fault.message.contains("\(day).other1"))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(kind(day) == S_IFDIR)
        #expect(kind("\(day).other1") == (obstacle == .file ? S_IFREG : S_IFLNK))
        #expect(kind("\(day)/\(sidecar.parts[0].file)") == S_IFREG)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == [])
    }

    @Test func `a day's folder that becomes a link while a take is recorded is made again`() throws {
        let rig = try Rig.recording(for: .seconds(2))
        let day = "\(rig.directory)/2026-11-21"
        let elsewhere = rig.directory + "-elsewhere"
        #expect(rename(day, elsewhere) == 0)
        #expect(symlink(elsewhere, day) == 0)
        rig.run(.milliseconds(1985))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(kind(day) == S_IFDIR && sidecar.gaps == [])
        for part in sidecar.parts { #expect(kind("\(day)/\(part.file)") == S_IFREG, "\(part.file)") }
        let samples = try sidecar.parts.flatMap { try rig.samples($0.file, of: sidecar) }
        #expect(difference(samples, 8000..<40_000) == nil)
    }
}

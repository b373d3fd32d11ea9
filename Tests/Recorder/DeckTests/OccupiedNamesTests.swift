import Files
import Foundation
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Something else has the names of the recorder's own files in the folder for takes.
@Suite struct OccupiedNamesTests {
    private static let names = [".number", ".number.tmp", ".lock", ".probe.part"]

    enum Obstacle: CaseIterable { case folder, fullFolder, pipe, link, linkToNothing }

    private func kind(_ path: String) -> mode_t {
        var found = stat()
        return lstat(path, &found) == 0 ? found.st_mode & S_IFMT : 0
    }

    private func place(_ obstacle: Obstacle, at path: String) throws {
        _ = unlink(path)
        switch obstacle {
        case .folder: #expect(mkdir(path, 0o700) == 0)
        case .fullFolder:
            #expect(mkdir(path, 0o700) == 0)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(path)/mine"))
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .link: #expect(symlink("/proc/self/status", path) == 0)
        case .linkToNothing: #expect(symlink("nowhere", path) == 0)
        }
    }

    private func expectTake(_ rig: Rig, _ number: Int, _ path: String, _ obstacle: Obstacle) throws {
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
        rig.press(.record)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().last)
        #expect(sidecar.number == number && sidecar.gaps == [])
        #expect(try String(contentsOfFile: "\(rig.directory)/.number", encoding: .utf8) == "\(number)\n")
        #expect(kind(path) == S_IFREG || path.hasSuffix(".tmp") || path.hasSuffix(".part"))
        let folders: [Obstacle] = [.folder, .fullFolder]
        let meant = folders.contains(obstacle) ? S_IFDIR : obstacle == .pipe ? S_IFIFO : S_IFLNK
        #expect(kind("\(path).other1") == meant)
    }

    @Test(arguments: names, Obstacle.allCases)
    func `what has the name of one of them at the start makes way`(name: String, obstacle: Obstacle) throws {
        let folder = TestFolder()
        folder.makeFolder("takes")
        let path = "\(folder.path)/takes/\(name)"
        try place(obstacle, at: path)
        let rig = try Rig(in: folder)
        rig.run(.seconds(65))
        try expectTake(rig, 1, path, obstacle)
    }

    @Test(arguments: names, Obstacle.allCases)
    func `what gets the name of one of them later makes way`(name: String, obstacle: Obstacle) throws {
        let rig = try Rig.recording(for: .seconds(2))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(1))
        try place(obstacle, at: "\(rig.directory)/\(name)")
        rig.run(.seconds(65))
        try expectTake(rig, 2, "\(rig.directory)/\(name)", obstacle)
    }

    @Test func `a kit is not armed while the file of the number cannot be had`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.seconds(1))
        try place(.fullFolder, at: "\(rig.directory)/.number")
        storage.renaming = EACCES
        rig.run(.seconds(65))
        #expect(!rig.deck.isArmed && rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.deck.status.faults.first?.message.contains("/.number") == true)
        storage.renaming = nil
        rig.run(.seconds(65))
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
    }
}

import Foundation
import Glibc
import Panel
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Takes that recovery cannot finish, because something else has one of their names.
@Suite struct RemainsTests {
    enum Obstacle: CaseIterable { case folder, link, file, pipe }

    /// A folder with a cut take, and an obstacle under the final name of one of its files.
    private func blocked(
        by obstacle: Obstacle, at ending: String = ".wav"
    ) throws -> (folder: TestFolder, file: String) {
        let folder = try ArchivistTests().cutTake()
        let directory = folder.path + "/takes"
        let part = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: directory).first { $0.hasSuffix(".wav.part") })
        let file = "\(directory)/\(part.dropLast(9))\(ending)"
        switch obstacle {
        case .folder: #expect(mkdir(file, 0o700) == 0)
        case .link: #expect(symlink("/etc/hostname", file) == 0)
        case .file: try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        case .pipe: #expect(mkfifo(file, 0o600) == 0)
        }
        return (folder, file)
    }

    @Test(arguments: Obstacle.allCases)
    func `a take that cannot be finished stays a fault that names what is in the way, until it is recovered`(
        obstacle: Obstacle
    ) throws {
        let (folder, file) = try blocked(by: obstacle)
        let rig = try Rig(in: folder)
        func expectFault() throws {
            let fault = try #require(rig.deck.status.faults.first, "\(rig.log.messages)")
            #expect(fault.code == .storageFailing)
            #expect(fault.message.contains(file) && fault.message.contains("move that to another place"))
        }
        rig.run(.seconds(3))
        try expectFault()
        #expect(rig.deck.isArmed)
        rig.press(.record)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(130))
        try expectFault()
        #expect(rig.log.messages.filter { $0.contains(file) }.count == 2, "\(rig.log.messages)")
        #expect(rename(file, rig.directory + "/away") == 0)
        rig.run(.seconds(65))
        #expect(rig.deck.status.faults == [])
        #expect(try rig.sidecars().map(\.number) == [1, 2])
        #expect(try rig.sidecars()[0].frames > 8 * 2000)
    }

    @Test func `what cannot be finished is found again at the next start, and is no fault once it is removed`() throws {
        let (folder, file) = try blocked(by: .folder)
        for _ in 0..<2 {
            let rig = try Rig(in: folder)
            rig.run(.seconds(3))
            #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        }
        let rig = try Rig(in: folder)
        rig.run(.seconds(3))
        let day = URL(fileURLWithPath: file).deletingLastPathComponent().path
        try FileManager.default.removeItem(atPath: day)
        rig.run(.seconds(125))
        #expect(rig.deck.status.faults == [])
    }

    @Test func `a file of another program without a take's sound is no fault`() throws {
        let folder = TestFolder()
        folder.write("mine", to: "takes/2026-11-21/heron07-0007_20261121_061811.txt")
        let rig = try Rig(in: folder)
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults == [])
    }

    @Test(arguments: Obstacle.allCases)
    func `what has the name of the waveform keeps no take from being finished`(obstacle: Obstacle) throws {
        let (folder, file) = try blocked(by: obstacle, at: ".dat")
        let rig = try Rig(in: folder)
        rig.run(.seconds(3))
        #expect(try rig.sidecars().map(\.number) == [1])
        #expect(rig.deck.status.faults == [])
        var found = stat()
        #expect(lstat(file, &found) == 0)
        #expect((found.st_mode & S_IFMT == S_IFREG) == (obstacle == .file))
    }
}

import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Glibc
import TakeFiles
import Takes
import Testing
import Transport
import Upload

@testable import Library

/// Links, folders and pipes in place of a take's files. Their targets must not be sent.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class LinkedTakesTests: InspectedKit {
    private var secret: String { "\(tested.disk.path)/s3.credentials" }

    private func take() async throws -> TakeName {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        try tested.disk.write([UInt8](repeating: 7, count: 60), to: "\(day)/\(name.stem).dat")
        try tested.disk.write(FileSystem().contents("\(day)/\(name.stem).wav", limit: 1 << 30), to: secret)
        await tested.indexer.scanAll()
        #expect(try tested.catalog.find(.stem(name.stem)).count == 1)
        return name
    }

    private func replace(_ file: String, _ make: (String) -> Int32) {
        #expect(unlink("\(day)/\(file)") == 0 && make("\(day)/\(file)") == 0)
    }

    enum Obstacle: String, CaseIterable { case link, brokenLink, folder, pipe, socket }

    private func put(_ obstacle: Obstacle, in file: String) {
        replace(file) { path in
            switch obstacle {
            case .link: symlink(secret, path)
            case .brokenLink: symlink("nowhere", path)
            case .folder: mkdir(path, 0o755)
            case .pipe: mkfifo(path, 0o644)
            case .socket: mknod(path, S_IFSOCK | 0o644, 0)
            }
        }
    }

    @Test(arguments: Obstacle.allCases)
    func `what is no waveform is not sent, and holds no take`(obstacle: Obstacle) async throws {
        let name = try await take()
        put(obstacle, in: "\(name.stem).dat")
        try await send { try counts().done == 1 }
        #expect(!home.contains { $0.hasSuffix(".dat") } && home.contains { $0.hasSuffix(".wav") })
    }

    @Test(arguments: Obstacle.allCases)
    func `a take whose sound is no file any more is held`(obstacle: Obstacle) async throws {
        let name = try await take()
        try await inspector.check(name, in: tested.disk.takes, .all)
        put(obstacle, in: "\(name.stem).wav")
        await #expect(throws: StoreError.self) {
            _ = try await UploadSource(path: "\(day)/\(name.stem).wav", reader: DiskReader(name: "reader"))
        }
        try await send { try counts().held == 1 }
        #expect(try home.isEmpty && damaged().map(\.take) == [name.stem])
        let copy = try KitCopy(name, in: tested.disk.takes)
        var notes = try tested.catalog.notes(of: name.stem)
        notes.setHash(.init(file: "\(name.stem).wav", bytes: 1, sha256: "ab"))
        let noted = notes
        await #expect(throws: Refusal.self) {
            _ = try await copy.check(noted, DiskReader(name: "reader"), isLast: true)
        }
    }

    @Test(arguments: Obstacle.allCases)
    func `a take whose sidecar is no file is not read`(obstacle: Obstacle) async throws {
        let name = try await take()
        let sidecar = try FileSystem().contents("\(day)/\(name.stem).json")
        try tested.disk.write(sidecar, to: secret)
        put(obstacle, in: "\(name.stem).json")
        #expect(throws: FileError.self) { try TakesFolder(path: tested.disk.takes).sidecar(of: name) }
        #expect(throws: FileError.self) { try TakesFolder(path: tested.disk.takes).sidecarAttributes(of: name) }
        await tested.indexer.scanAll()
        try await send { try counts().held == 1 || counts().waiting == 0 }
        #expect(home.isEmpty)
    }

    @Test func `a day's folder that is a link is not followed`() async throws {
        let name = try await take()
        let other = "\(tested.disk.path)/elsewhere"
        #expect(rename(day, other) == 0 && symlink(other, day) == 0)
        let folder = TakesFolder(path: tested.disk.takes)
        let error = #expect(throws: FileError.self) { try folder.sidecarAttributes(of: name) }
        #expect(
            error?.fact
                == "open \(day): Too many levels of symbolic links (it is a link, which is not followed here)")
        #expect(throws: FileError.self) { try FileSystem().dayEntries(day) }
        #expect(folder.byteCount(ofFile: "\(name.stem).wav", of: name) == nil)
        #expect(PeaksOverview(reading: "\(day)/\(name.stem).dat", columns: 8) == nil)
        let sound = try #require(Self.sidecar(1).sounds.first)
        #expect(try SoundCheck(sound, in: day).run()?.isDamage == true)
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        await tested.indexer.scanAll()
        #expect(home.isEmpty)
    }
}

import DiskCalls
import Files
import Foundation
import Glibc
import Takes
import Testing

@testable import Exports

/// Exports of takes do not follow symbolic links, and do not wait for a pipe.
@Suite(.waitsOnNamedThreads) struct LinkedFilesTests {
    @Test func `in a day's folder that is a link, nothing is read`() throws {
        let take = try MadeTake()
        let (link, stem) = ("\(take.folder)-link", take.sidecar.take)
        #expect(symlink(take.folder, link) == 0)
        defer { unlink(link) }
        _ = try TakeSound(of: take.sidecar, in: take.folder)
        _ = try ZipArchive([.init(path: "\(take.folder)/\(stem).wav", name: "a")])
        #expect(throws: FileError.self) { _ = try TakeSound(of: take.sidecar, in: link) }
        #expect(throws: FileError.self) { _ = try ZipArchive([.init(path: "\(link)/\(stem).wav", name: "a")]) }
    }

    @Test func `a file that became a link after an archive was begun ends it`() throws {
        let take = try MadeTake()
        let path = "\(take.folder)/\(take.sidecar.take).wav"
        let other = "\(take.folder)/other"
        #expect(try FileManager.default.contentsOfDirectory(atPath: take.folder).count == 2)
        try FileManager.default.copyItem(atPath: path, toPath: other)
        var archive = try ZipArchive([.init(path: path, name: "a")])
        let sound = try TakeSound(of: take.sidecar, in: take.folder)
        #expect(unlink(path) == 0 && symlink(other, path) == 0)
        #expect(throws: FileError.self) { while try archive.next() != nil {} }
        #expect(throws: FileError.self) { _ = try sound.readIntegers(from: 0, count: 10, channels: 2) }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(throws: FileError.self) { _ = try TakeSound(of: take.sidecar, in: take.folder) }
        #expect(throws: FileError.self) { _ = try ZipArchive([.init(path: path, name: "a")]) }
    }
}

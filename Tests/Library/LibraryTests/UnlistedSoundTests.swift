import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Glibc
import TakeFiles
import TakePlaces
import Takes
import Testing
import Transport

@testable import Library

/// Takes whose sidecars do not list all of the existing sound. Nothing of them may be sent as if it were complete, or
/// be deleted.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class UnlistedSoundTests: InspectedKit {
    enum Lack: String, CaseIterable {
        case secondPart, twin, all, unfinishedTwin, unfinishedPart, numbered, converted
    }

    /// A take with an incomplete sidecar, and the name of the file that is not listed.
    private func take(_ number: Int, lacking lack: Lack) throws -> (name: TakeName, file: String) {
        let (name, whole) = try tested.disk.addSound(Self.sidecar(number, parts: 2, hasTwin: true))
        var sidecar = whole
        var file = ""
        func rename(_ from: String, _ to: String) {
            #expect(Glibc.rename("\(day)/\(from)", "\(day)/\(to)") == 0)
            file = to
        }
        switch lack {
        case .secondPart:
            sidecar.parts.removeLast()
            unlink("\(day)/\(name.stem.file("-p2-raw.wav"))")
            file = name.stem.file("-p2.wav")
        case .twin:
            sidecar.parts[0].unfilteredFile = nil
            file = name.stem.file("-raw.wav")
        case .all:
            sidecar.parts = []
            for other in whole.audioFiles.dropFirst() { unlink("\(day)/\(other)") }
            file = "\(name.stem).wav"
        case .unfinishedTwin:
            sidecar.parts[0].unfilteredFile = nil
            rename(name.stem.file("-raw.wav"), name.stem.file("-raw.wav.part"))
        case .unfinishedPart:
            sidecar.parts.removeLast()
            unlink("\(day)/\(name.stem.file("-p2-raw.wav"))")
            rename(name.stem.file("-p2.wav"), name.stem.file("-p2.wav.part"))
        case .numbered:
            sidecar.parts[0].unfilteredFile = nil
            rename(name.stem.file("-raw.wav"), "\(name.stem)-02.wav")
        case .converted:
            sidecar.parts[0].unfilteredFile = nil
            rename(name.stem.file("-raw.wav"), name.stem.file("-raw.flac"))
        }
        try write(sidecar, name)
        return (name, file)
    }

    private func write(_ sidecar: Sidecar, _ name: TakeName) throws {
        try tested.disk.write(SidecarFile.bytes(sidecar), to: "\(day)/\(name.stem).json.tmp")
        #expect(Glibc.rename("\(day)/\(name.stem).json.tmp", "\(day)/\(name.stem).json") == 0)
    }

    @Test(arguments: Lack.allCases)
    func `a take with sound that its sidecar does not list is held, listed and not deleted, until a person accepts it`(
        lack: Lack
    ) async throws {
        let (name, file) = try take(1, lacking: lack)
        let good = try tested.disk.addSound(Self.sidecar(2)).name
        await tested.indexer.scanAll()
        try await send { try counts().done == 1 && counts().held == 1 }
        #expect(home.allSatisfy { !$0.isFile(of: name.stem) } && home.contains("\(good.day)/\(good.stem).json"))
        let listed = try damaged()
        #expect(listed.map(\.take) == [name.stem] && listed[0].sound == .damaged)
        #expect(listed[0].damaged?.hasPrefix("\(file): ") == true)
        #expect(listed[0].damaged?.contains("the take's sidecar does not list") == true, "\(listed)")
        #expect(shown.withLock { $0.last??.contains(name.stem) } == true)
        #expect(try tested.catalog.outbox(limit: 10)[0].until == nil)
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        try await inspector.accept(name, in: tested.disk.takes)
        #expect(try damaged().isEmpty && tested.catalog.find(.stem(name.stem))[0].sound == .accepted)
        try await send { try counts().done == 2 }
        try await inspector.check(name, in: tested.disk.takes, .all)
        // Only this content was accepted.
        try spoil(file) { $0[2000] ^= 2 }
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .all) }
    }

    @Test func `a take whose sidecar and folder have no sound is held as well`() async throws {
        let (name, whole) = try tested.disk.addSound(Self.sidecar(1))
        var sidecar = whole
        sidecar.parts = []
        unlink("\(day)/\(name.stem).wav")
        try write(sidecar, name)
        await tested.indexer.scanAll()
        try await send { try counts().held == 1 }
        #expect(try damaged().map(\.take) == [name.stem])
        try await inspector.accept(name, in: tested.disk.takes)
        #expect(try damaged().isEmpty)
    }

    @Test func `a take is held no longer once its sidecar lists the sound, or that is gone`() async throws {
        let (name, whole) = try tested.disk.addSound(Self.sidecar(1, parts: 2))
        var less = whole
        less.parts.removeLast()
        try write(less, name)
        await tested.indexer.scanAll()
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        try write(whole, name)
        await tested.indexer.scanAll()
        try await inspector.check(name, in: tested.disk.takes, .changed)
        #expect(try damaged().isEmpty)
        try write(less, name)
        await tested.indexer.scanAll()
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        unlink("\(day)/\(name.stem.file("-p2.wav"))")
        try await inspector.check(name, in: tested.disk.takes, .changed)
        #expect(try damaged().isEmpty)
    }

    @Test func `sound of a take that is recorded again, or converted, and empty files hold no take`() async throws {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        let sound = try FileSystem().contents("\(day)/\(name.stem).wav", limit: 1 << 30)
        for file in ["\(name.stem).flac", "\(name.stem).flac.part", name.stem.file("-p2.wav.tail"), "other.wav"] {
            try tested.disk.write(sound, to: "\(day)/\(file)")
        }
        try tested.disk.write(Array(sound.prefix(44)), to: "\(day)/\(name.stem.file("-p2.wav.part"))")
        try tested.disk.write([], to: "\(day)/\(name.stem.file("-p3.wav"))")
        mkdir("\(day)/\(name.stem.file("-p4.wav"))", 0o755)
        await tested.indexer.scanAll()
        try await inspector.check(name, in: tested.disk.takes, .all)
        try tested.disk.write(sound, to: "\(day)/\(name.stem.file("-p2.wav.part"))")
        try tested.disk.write([], to: "\(day)/\(name.stem).json.part")
        try await inspector.check(name, in: tested.disk.takes, .changed)
        #expect(try damaged().isEmpty)
        // Before a deletion, the take must be complete.
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        #expect(try damaged().isEmpty)
        unlink("\(day)/\(name.stem).json.part")
        await #expect(throws: (any Error).self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        #expect(try damaged().map(\.take) == [name.stem])
    }
}

import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Takes that are interrupted and recovered, in a folder of their own.
struct RecoveryBench {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }
    var folder: String { path + "/2026-11-21" }
    let files = FileSystem()

    /// Records until `cut`, and does not end the take.
    func record(
        _ format: StreamFormat = stereo16, keepsUnfiltered: Bool = false, splitBytes: Int64 = 8192,
        pendingFormat: String? = nil, _ work: (TakeOutput) throws -> Void
    ) throws -> TakeName {
        let output = try TakeOutput(
            TakesDirectory(path: path), format, keepsUnfiltered: keepsUnfiltered, splitBytes: splitBytes,
            pendingFormat: pendingFormat)
        try work(output)
        return output.name
    }

    /// The first take of the folder.
    static let take = TakeName(kit: "heron07", number: 1, started: morning)

    /// The place of its files.
    func site(_ files: FileSystem = FileSystem()) throws -> TakeSite {
        _ = try files.makeFolder(path)
        _ = try files.makeFolder(folder)
        return TakeSite(files: files, takes: try files.openFolder(path), name: Self.take)
    }

    func recover(bootID: String = "another") throws -> [TakeRecovery.Outcome] {
        try recoverAll(in: TakesDirectory(path: path), bootID: bootID)
    }

    /// The sidecar of the only outcome, or nil if it is not a recovered take.
    func recovered(bootID: String = "another") throws -> Sidecar? {
        let outcomes = try recover(bootID: bootID)
        #expect(outcomes.count == 1)
        guard case .recovered(let sidecar)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return nil
        }
        #expect(try recover() == [])
        return sidecar
    }

    /// The reason why the only leftover take is left unchanged.
    func reason() throws -> String? {
        let before = try everything(in: path).filter { !$0.key.hasPrefix(".") }
        let outcomes = try recover()
        let isSame = try everything(in: path).filter { !$0.key.hasPrefix(".") } == before
        #expect(isSame)
        guard case .left(let reason)? = outcomes.first, outcomes.count == 1 else { return nil }
        return reason.replacing(": left where it is, in \(folder)", with: "").replacing(folder, with: "DAY")
    }

    /// The result of comparing each audio file with the sidecar, by name.
    func findings(_ sidecar: Sidecar) throws -> [String: SoundFinding] {
        var found: [String: SoundFinding] = [:]
        for sound in sidecar.sounds { found[sound.file] = try SoundCheck(sound, in: folder).run() }
        return found
    }

    func write(_ bytes: [UInt8], to name: String, at offset: Int64 = 0) throws {
        try files.write(bytes, to: files.open("\(folder)/\(name)"), at: offset)
    }

    func make(_ bytes: [UInt8], _ name: String) throws {
        _ = try? files.makeFolder(path)
        _ = try? files.makeFolder(folder)
        try files.write(bytes, to: files.create("\(folder)/\(name)", isNew: false), at: 0)
    }

    static let junk = (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 256) }

    /// Records a take that is interrupted when its audio would get its final name.
    func cutInFinish(
        _ format: StreamFormat = stereo16, endedBy ending: Sidecar.Ending = .stop, levels: [Sidecar.Levels] = [],
        _ work: (TakeOutput) throws -> Void
    ) throws -> TakeName {
        let calls = FaultyCalls(root: path)
        let output = try TakeOutput(TakesDirectory(path: path, files: FileSystem(calls: calls)), format)
        try work(output)
        // The first rename is that of the sidecar's draft.
        let renames = Locked(0)
        calls.setPlan { _, verb in
            guard verb == "rename" else { return nil }
            return renames.withLock {
                $0 += 1
                return $0 > 1 ? EIO : nil
            }
        }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: ending, levels: levels) }
        return output.name
    }
}

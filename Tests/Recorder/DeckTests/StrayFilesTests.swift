import Files
import Foundation
import Panel
import TakePlaces
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Another program touches the files of the take in progress. The files are real, and a shell does the damage.
@Suite struct StrayFilesTests {
    /// The action of the other program.
    enum Deed: CaseIterable {
        case remove, truncateToHalf, truncateToNothing, truncateIntoHeader, rename, replace, moveDay, removeAll,
            moveDayAndBack
        case linkToIt, linkElsewhere, folder, pipe
        case removeDraft, emptyDraft, removeWaveform
    }

    /// A take of 4 s, of which 2 s are recorded.
    private func recorded(_ configure: (inout DeckOptions) -> Void = { _ in }) throws -> (
        Rig, day: String, file: String
    ) {
        let rig = try Rig.recording(for: .seconds(2), configure)
        let day = try #require(
            try FileManager.default.contentsOfDirectory(atPath: rig.directory).first { $0.hasPrefix("20") })
        let file = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "\(rig.directory)/\(day)").sorted()
                .first { $0.hasSuffix(".wav.part") })
        return (rig, "\(rig.directory)/\(day)", file)
    }

    private func day(of rig: Rig) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: rig.directory)
        return "\(rig.directory)/\(try #require(names.first { $0.hasPrefix("20") }))"
    }

    private func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", command]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command)")
    }

    private func carryOut(_ deed: Deed, _ rig: Rig, _ day: String, _ file: String) throws {
        let path = "\(day)/\(file)"
        let stem = path.replacingOccurrences(of: ".wav.part", with: "")
        switch deed {
        case .remove: try shell("rm \(path)")
        case .truncateToHalf: try shell("truncate -s \(4096 + 16_000 + 1) \(path)")
        case .truncateToNothing: try shell(": > \(path)")
        case .truncateIntoHeader: try shell("truncate -s 100 \(path)")
        case .rename: try shell("mv \(path) \(day)/other.wav")
        case .replace: try shell("echo no sound > \(day)/new; mv \(day)/new \(path)")
        case .linkToIt: try shell("mv \(path) \(day)/other.wav; ln -s other.wav \(path)")
        case .linkElsewhere: try shell("rm \(path); ln -s /etc/hostname \(path)")
        case .folder: try shell("rm \(path); mkdir \(path)")
        case .pipe: try shell("rm \(path); mkfifo \(path)")
        case .moveDay: try shell("mv \(day) \(rig.directory)-moved")
        case .moveDayAndBack:
            try shell("mv \(day) \(rig.directory)-moved")
            rig.run(.milliseconds(100))
            try shell("test -e \(day) || mv \(rig.directory)-moved \(day)")
        case .removeAll: try shell("rm -r \(rig.directory)")
        case .removeDraft: try shell("rm \(stem).json.part")
        case .emptyDraft: try shell(": > \(stem).json.part")
        case .removeWaveform: try shell("rm -f \(stem).dat.part")
        }
    }

    /// Expects that every frame of the take is at its place in a part, or in a gap.
    private func expectTimeline(_ rig: Rig, _ sidecar: Sidecar, upTo end: Int64, lost: ClosedRange<Int64>) throws {
        var next = TakeFrame.first
        var missing: Int64 = 0
        for part in sidecar.parts {
            missing += part.firstFrame - next
            next = part.firstFrame + part.frames
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(day(of: rig))/\(part.file)")
            #expect(attributes[.type] as? FileAttributeType == .typeRegular, "\(part.file)")
            let samples = try rig.samples(part.file, of: sidecar)
            let first = 8000 + Int(part.firstFrame.count)
            #expect(difference(samples, first..<first + Int(part.frames)) == nil, "\(part.file)")
        }
        #expect(next.count == end)
        #expect(lost.contains(missing), "\(missing) frames are missing")
        #expect(sidecar.gaps.reduce(0) { $0 + $1.frames } == missing)
    }

    @Test(arguments: Deed.allCases)
    func `what another program does to a take's files costs no more than it took, and the sound goes on`(deed: Deed)
        throws
    {
        let (rig, day, file) = try recorded()
        try carryOut(deed, rig, day, file)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        switch deed {
        case .removeWaveform, .moveDayAndBack: break
        default: #expect(rig.deck.status.faults.map(\.code) == [.storageFailing], "\(rig.log.messages)")
        }
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(3))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered)
        let lost: ClosedRange<Int64> =
            switch deed {
            case .truncateToHalf: 7000...9000
            case .truncateToNothing, .truncateIntoHeader: 15_000...17_000
            default: 0...0
            }
        try expectTimeline(rig, sidecar, upTo: deed == .moveDayAndBack ? 40_800 : 40_000, lost: lost)
        let files = try FileManager.default.contentsOfDirectory(atPath: day)
        #expect(files.filter { $0.hasSuffix(".part") } == [], "\(files) \(sidecar.parts) \(rig.log.messages)")
        #expect(rig.deck.isArmed)
    }

    @Test(arguments: Deed.allCases)
    func `what another program does just before the stop costs no more`(deed: Deed) throws {
        let (rig, day, file) = try recorded()
        rig.run(.milliseconds(985))
        rig.deck.handle(.press(.stop, at: rig.clock.now()))
        try carryOut(deed, rig, day, file)
        rig.settle()
        rig.run(.seconds(3))
        let sidecar = try #require(try rig.sidecars().first)
        let lost: ClosedRange<Int64> =
            switch deed {
            case .truncateToHalf: 14_000...17_000
            case .truncateToNothing, .truncateIntoHeader: 22_000...25_000
            default: 0...0
            }
        if lost.upperBound == 0 {
            #expect(sidecar.endedBy == .stop && !sidecar.recovered)
            try expectTimeline(rig, sidecar, upTo: 24_000, lost: lost)
        }
    }

    @Test func `a removed file that is not saved yet shows on the lamp, and a long one is saved piece by piece`() throws
    {
        let (rig, day, file) = try recorded()
        // 24 MB, of which a sync saves 1 MiB.
        rig.run(.seconds(1500), step: .seconds(1))
        try shell("rm \(day)/\(file)")
        rig.run(.seconds(5))
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil > .seconds(4))
        #expect(rig.deck.status.syncedSeconds < rig.deck.status.elapsedSeconds - 4)
        rig.run(.seconds(30))
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 2 && sidecar.gaps == [] && sidecar.endedBy == .stop)
        #expect(sidecar.parts[1].firstFrame.count == sidecar.parts[0].frames)
        #expect(sidecar.parts[0].frames > 1500 * 8000)
    }

    @Test func `a stop waits until what a removed file held is saved`() throws {
        let (rig, day, file) = try recorded()
        rig.run(.seconds(1500), step: .seconds(1))
        try shell("rm \(day)/\(file)")
        rig.run(.seconds(2))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 2 && sidecar.gaps == [])
        #expect(sidecar.parts[0].frames > 1500 * 8000)
    }

    @Test func `a full disk leaves no room for what a removed file held, and what is lost is listed`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 1 << 20 }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(4))
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        let file = try #require(files.first { $0.hasSuffix(".wav.part") })
        storage.free = 1 << 20 + 40_000
        try shell("rm \(rig.directory)/\(file)")
        rig.run(.milliseconds(1985))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.run(.seconds(60))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.run(.seconds(25))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 1 && sidecar.gaps.count == 1)
        #expect(sidecar.gaps.first?.atFrame == .first)
        #expect(sidecar.gaps.first?.frames == sidecar.parts[0].firstFrame.count)
        try expectTimeline(rig, sidecar, upTo: 48_000, lost: 32_000...38_400)
    }

    @Test(arguments: [false, true]) func `the twin may be removed, or the filtered sound`(isTwin: Bool) throws {
        let (rig, day, _) = try recorded { $0.keepsUnfiltered = true }
        let names = try FileManager.default.contentsOfDirectory(atPath: day).sorted()
        #expect(names.filter { $0.hasSuffix(".wav.part") }.count == 2)
        let filtered = names.first { $0.hasSuffix(".wav.part") && !$0.contains("-raw") }!
        try shell("rm \(day)/\(isTwin ? filtered.twin : filtered)")
        rig.run(.milliseconds(1985))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        try expectTimeline(rig, sidecar, upTo: 32_000, lost: 0...0)
        #expect(sidecar.parts.count == 2)
        for part in sidecar.parts {
            let first = 8000 + Int(part.firstFrame.count)
            let samples = try rig.samples(try #require(part.unfilteredFile), of: sidecar)
            #expect(difference(samples, first..<first + Int(part.frames)) == nil)
        }
    }

    @Test func `a part that was closed before and is removed is noticed, and listed as a gap`() throws {
        // 96 000 bytes are 6 s, the length of a part.
        let (rig, day, file) = try recorded { $0.splitBytes = 106_496 }
        rig.run(.seconds(9))
        try shell("rm \(day)/\(file)")
        rig.run(.milliseconds(2985))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && sidecar.gaps.count == 1)
        #expect(sidecar.gaps[0].atFrame == .first && sidecar.gaps[0].frames == sidecar.parts[0].firstFrame.count)
    }

    /// The damage to a closed part.
    enum ClosedDeed: String, CaseIterable {
        case cut = "truncate -s 36097", empty = ":>", replace = "echo no sound > new; mv new"
        case link = "mv FILE other.wav; ln -s other.wav", folder = "rm FILE; mkdir", pipe = "rm FILE; mkfifo"
    }

    private func carryOut(_ deed: ClosedDeed, _ day: String, _ file: String) throws {
        try shell("cd \(day); \(deed.rawValue.replacingOccurrences(of: "FILE", with: file)) \(file)")
    }

    @Test(arguments: ClosedDeed.allCases)
    func `a part that was closed before and is changed is noticed, and what is left of it listed`(deed: ClosedDeed)
        throws
    {
        // 96 000 bytes are 6 s, the length of a part.
        let (rig, day, file) = try recorded { $0.splitBytes = 106_496 }
        rig.run(.seconds(9))
        try carryOut(deed, day, file)
        rig.run(.milliseconds(1985))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        let kept: Int64 = deed == .cut ? 16_000 : 0
        let first = try #require(sidecar.parts.first { $0.firstFrame > .first })
        try expectTimeline(
            rig, sidecar, upTo: 112_000, lost: first.firstFrame.count - kept...first.firstFrame.count - kept)
        #expect(sidecar.endedBy == .stop && sidecar.gaps.map(\.atFrame) == [TakeFrame(kept)])
        for part in sidecar.parts { #expect((part.soundSHA256 == nil) == (part.firstFrame == .first)) }
    }

    @Test func `where a closed twin is cut, the filtered sound keeps its fingerprint`() throws {
        let (rig, day, _) = try recorded {
            $0.splitBytes = 106_496
            $0.keepsUnfiltered = true
        }
        rig.run(.seconds(9))
        let twin = try #require(
            try FileManager.default.contentsOfDirectory(atPath: day).sorted().first {
                $0.hasSuffix(".wav.part") && $0.contains("-raw") && !$0.contains("-p2")
            })
        try carryOut(.cut, day, twin)
        rig.run(.milliseconds(2985))
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        try expectTimeline(rig, sidecar, upTo: 112_000, lost: 0...0)
        let part = sidecar.parts[0]
        #expect(part.unfilteredFrames == 16_000)
        #expect(part.soundSHA256 != nil && part.unfilteredSoundSHA256 == nil && part.fingerprint == .capture)
        #expect(sidecar.parts[1].unfilteredSoundSHA256 != nil)
    }
}

import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The two sources of an interrupted take's sidecar: its draft, and the headers of its audio files.
struct RecoveryDraftTests {
    let bench = RecoveryBench()

    @Test(arguments: [[UInt8](repeating: 0, count: 4096), Array(RecoveryBench.junk.prefix(4096))])
    func `a head that is destroyed is made again from the draft`(head: [UInt8]) throws {
        let take = { (output: TakeOutput) in
            try output.append(2000, unfiltered: true)
            try output.sync()
            try output.append(50, unfiltered: true)
        }
        let name = try bench.record(keepsUnfiltered: true, take)
        for part in 1...3 {
            for isUnfiltered in [false, true] {
                try bench.write(head, to: name.audioFile(part: part, isUnfiltered: isUnfiltered) + ".part")
            }
        }
        #expect(try bench.recovered()?.frames == 2050)
        let damaged = try everything(in: bench.folder)
        // The same for an undamaged take.
        _ = try bench.record(keepsUnfiltered: true, take)
        _ = try bench.recovered()
        for (file, bytes) in damaged where file.hasSuffix(".wav") {
            let other = try bench.files.contents("\(bench.folder)/\(file.replacing("-0001-", with: "-0002-"))")
            #expect(bytes.dropFirst(4096) == other.dropFirst(4096))
            let own = try #require(WAVHeaderReading(Array(bytes.prefix(4096))))
            #expect(own.format == stereo16)
            #expect(own.origin?.started == WAVHeaderReading(Array(other.prefix(4096)))?.origin?.started)
        }
    }

    @Test(arguments: ["garbled", "gone", "of another take"])
    func `without a draft the heads give what they have`(draft: String) throws {
        let other = StreamFormat(rateHz: 96_000, channels: 2, sampleFormat: .s16)
        let name = try bench.record { output in
            try output.append(1000)
            try output.sync()
            try output.beginPart(format: other, firstFrame: 480_000)
            try output.append(300, other)
            try output.sync()
        }
        let sidecar = "\(bench.folder)/\(name.stem).json.part"
        if draft == "gone" { try bench.files.remove(sidecar) }
        if draft == "garbled" { try bench.make(RecoveryBench.junk, "\(name.stem).json.part") }
        if draft == "of another take" {
            var wrong = try SidecarFile.sidecar(bench.files.contents(sidecar), path: "")
            wrong.take = "heron07-0009_20261121_061811"
            try bench.make(SidecarFile.bytes(wrong), "\(name.stem).json.part")
        }
        let found = try #require(try bench.recovered())
        #expect(found.endedBy == .unknown)
        #expect(found.started == morning.iso8601)
        #expect(found.card == "usb:0d8c:0014")
        #expect(found.version == "0.1")
        #expect(found.kit == "heron07")
        #expect(found.bootID == "")
        #expect(found.clock == .unset)
        #expect(found.parts.map(\.frames) == [896, 104, 300])
        #expect(found.parts.map(\.firstFrame.count) == [0, 896, 480_000])
        #expect(found.parts.map(\.rateHz) == [48_000, 48_000, 96_000])
        let bytes = try found.parts.flatMap { try frames(of: "\(bench.folder)/\($0.file)") }
        #expect(bytes == sound(0..<1300, stereo16))
    }

    /// A take whose draft cannot be read at the first `times` attempts, with another failure from `refusal`.
    private func unreadDraft(
        times: Int = .max, isDamaged: Bool = false, refusal: @escaping @Sendable (String, String) -> Bool
    ) throws -> (name: TakeName, before: [String: [UInt8]], outcome: Result<TakeRecovery.Outcome, any Error>) {
        let name = try bench.record { output in
            output.note(markers: [Sidecar.Marker(atFrame: 3, note: "owl")])
            try output.append(1000)
            try output.sync()
        }
        if isDamaged { try bench.write(RecoveryBench.junk, to: "\(name.audioFile(part: 2)).part") }
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let draft = "2026-11-21/\(name.stem).json.part"
        let left = Locked(times)
        calls.setRefusal { verb, subject in
            if refusal(verb, subject) { return EIO }
            guard verb == "read", subject == draft else { return nil }
            return left.withLock {
                $0 -= 1
                return $0 >= 0 ? EIO : nil
            }
        }
        let before = try everything(in: bench.folder)
        let outcome = Result { try #require(try recoverAll(in: directory).first) }
        return (name, before, outcome)
    }

    @Test func `a draft that cannot be read is as good as gone where the heads are whole, and is kept`() throws {
        let (name, before, outcome) = try unreadDraft { _, _ in false }
        guard case .recovered(let sidecar) = try outcome.get() else { return #expect(Bool(false)) }
        #expect(sidecar.frames == 1000)
        #expect(sidecar.endedBy == .unknown)
        #expect(sidecar.markers == [])
        #expect(sidecar.started == morning.iso8601)
        let kept = "\(name.stem).json.part.unread"
        #expect(
            try bench.files.entries(bench.folder).sorted()
                == [".dat", "-p2.wav", ".json", ".json.part.unread", ".wav"].map { name.stem.file($0) }.sorted())
        #expect(try bench.files.contents("\(bench.folder)/\(kept)") == before["\(name.stem).json.part"])
        #expect(try bench.recover() == [])
    }

    @Test func `a name that the folder lists and no file has is passed over`() throws {
        let name = try bench.record { output in
            try output.append(1000)
            _ = try output.finish(endedBy: .stop, levels: [])
        }
        let ghost = "\(name.stem).json.part"
        try bench.make([], ghost)
        let calls = FaultyCalls(root: bench.path)
        calls.setRefusal { _, subject in subject.hasSuffix(ghost) ? ENOENT : nil }
        let outcomes = try recoverAll(in: TakesDirectory(path: bench.path, files: FileSystem(calls: calls)))
        #expect(outcomes.allSatisfy { $0 == .unchanged })
    }

    @Test func `a draft that cannot be read once is read at the second time`() throws {
        let (_, _, outcome) = try unreadDraft(times: 1) { _, _ in false }
        guard case .recovered(let sidecar) = try outcome.get() else { return #expect(Bool(false)) }
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 3, note: "owl")])
        #expect(sidecar.endedBy == .powerCut)
    }

    @Test(arguments: [("write", ".lock"), ("fsync", ".lock"), ("read", ".wav.part"), ("open", ".wav.part")])
    func `a draft that cannot be read is not given up while more than it cannot be`(verb: String, file: String) throws {
        let (name, before, outcome) = try unreadDraft { $0 == verb && $1.hasSuffix(file) }
        #expect(throws: FileError.self) { _ = try outcome.get() }
        #expect(try everything(in: bench.folder) == before)
        // Only the failing storage prevented the recovery.
        #expect(try bench.recovered()?.markers.count == 1)
        _ = name
    }

    @Test func `a draft that cannot be read is not given up for heads that are damaged`() throws {
        let (name, before, outcome) = try unreadDraft(isDamaged: true) { _, _ in false }
        #expect(throws: FileError("read", "\(bench.folder)/\(name.stem).json.part", code: EIO)) {
            _ = try outcome.get()
        }
        #expect(try everything(in: bench.folder) == before)
    }

    @Test func `a draft that is damaged is kept, and the heads replace it`() throws {
        let name = try bench.record { output in
            output.note(markers: [Sidecar.Marker(atFrame: 3, note: "owl")])
            try output.append(10)
            try output.sync()
        }
        let draft = "\(name.stem).json.part"
        var garbled = try bench.files.contents("\(bench.folder)/\(draft)", limit: 1 << 20)
        garbled.replaceSubrange(20..<40, with: repeatElement(0xff, count: 20))
        try bench.files.remove("\(bench.folder)/\(draft)")
        try bench.make(garbled, draft)
        let directory = try TakesDirectory(path: bench.path)
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        while try recovery.step() == nil {}
        #expect(
            recovery.shortcomings == [
                "only its sound is known: \(bench.folder)/\(draft): it is damaged: kept as \(draft).unread"
            ])
        #expect(try bench.files.contents("\(bench.folder)/\(draft).unread", limit: 1 << 20) == garbled)
        let sidecar = try directory.sidecar(of: name)
        #expect(sidecar.frames == 10)
        #expect(sidecar.endedBy == .unknown)
    }

    @Test func `a draft that had not replaced the old one yet is taken where the old one is gone`() throws {
        let name = try bench.record { output in
            output.note(markers: [Sidecar.Marker(atFrame: 3, note: nil)])
            try output.append(10)
            try output.sync()
        }
        let draft = "\(bench.folder)/\(name.stem).json.part"
        try bench.files.rename(draft, to: draft + ".tmp")
        try bench.make(RecoveryBench.junk, "\(name.stem).json.part")
        // The draft is the only copy of its content, so an interrupted recovery must not lose it.
        for index in 0... {
            let scratch = try TestFolder(everything(in: bench.path))
            let calls = FaultyCalls(root: scratch.path)
            let isOver = try { () throws -> Bool in
                let directory = try TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))
                calls.setPlan { number, _ in number >= index ? EIO : nil }
                return (try? recoverAll(in: directory)) != nil
            }()
            _ = try recoverAll(in: TakesDirectory(path: scratch.path))
            let sidecar = try TakesDirectory(path: scratch.path).sidecar(of: name)
            #expect(sidecar.markers == [Sidecar.Marker(atFrame: 3, note: nil)], "\(index)")
            #expect(sidecar.endedBy == .powerCut, "\(index)")
            if isOver { break }
        }
    }
}

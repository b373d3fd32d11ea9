import Digests
import Files
import FinishedTakes
import Glibc
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// The full trace of a delivery: every call of a store and every save, in order. A change of either affects kits and
/// stores in use.
struct DeliveryTraceTests {
    private let trial: StoreTrial
    private let disk = TakesOnDisk()
    private let name = TakesOnDisk.name(sidecar())
    private let trace: DeliveryTrace
    private let store: TracedStore
    private let notes: TakeDeliveryTests.Notes

    init() throws {
        trial = try StoreTrial()
        trace = DeliveryTrace(of: name.stem)
        store = TracedStore(trace)
        notes = TakeDeliveryTests.Notes(name.stem)
    }

    /// A take with names as in version 0.1. Each name begins with the stem, which a trace shows as `T`.
    private static func sidecar(seconds: Double = 10, markers: [String] = []) -> Sidecar {
        var sidecar = TakesOnDisk.sidecar(42, seconds: seconds, markers: markers)
        sidecar.take = "heron07-0042-061811Z"
        sidecar.parts[0].file = "heron07-0042-061811Z.wav"
        return sidecar
    }

    private func object(_ ending: String) -> ObjectName { ObjectName(day: name.day, file: "\(name.stem).\(ending)") }

    private func write(_ bytes: [UInt8], _ ending: String) throws {
        try disk.write(bytes, to: "\(disk.takes)/\(name.day)/\(name.stem).\(ending)")
    }

    /// - Parameter meanwhile: a person's change before the receipt is complete.
    /// - Returns: the trace.
    private func deliver(
        meanwhile: (@Sendable (inout TakeNotes) -> Void)? = nil
    ) async throws -> String {
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: store, reader: trial.reader, throttle: nil)
        do {
            let receipt = try await delivery.run(
                await notes.notes, now: { TakesOnDisk.morning }, report: { trace.note($0) },
                save: { change in
                    let before = await notes.notes
                    if let meanwhile { await notes.change(meanwhile) }
                    await notes.change(change)
                    try trace.noteSave(before, await notes.notes)
                })
            trace.note("\(receipt.completed ?? "-"), \(receipt.files.count) files")
        } catch let error as StoreError {
            trace.note("\(error.problem): \(error)")
        }
        return trace.take()
    }

    /// A take of two parts with unfiltered copies, peaks and a person's notes, partly sent to another store.
    private func addWhole() async throws {
        var sidecar = Self.sidecar(seconds: 0.01, markers: ["wren"])
        sidecar.parts[0].unfilteredFile = name.audioFile(part: 1, isUnfiltered: true)
        var second = sidecar.parts[0]
        (second.file, second.unfilteredFile) = (name.audioFile(part: 2), name.audioFile(part: 2, isUnfiltered: true))
        second.firstFrame = TakeFrame(480)
        sidecar.parts.append(second)
        (sidecar.frames, sidecar.durationSeconds) = (960, 0.02)
        try disk.addSound(sidecar)
        try write(PeaksFile(rateHz: 48_000, channels: 2, pairs: [-1, 2, -3, 4, -50, 60, -7, 127]).bytes, "dat")
        await notes.change { notes in
            notes.memo = "a wren"
            notes.otherMemos = ["by the river"]
            notes.setMarker(.init(atFrame: TakeFrame(500), note: "owl"))
            notes[receiptOf: "tests:other"] = UploadReceipt(store: "tests:other")
        }
    }

    private func addSmall() throws { try disk.addSound(Self.sidecar(seconds: 0.01)) }

    @Test func `a whole take, and then the memo is taken back`() async throws {
        try await addWhole()
        #expect(try await deliver() == Self.whole)
        await notes.change { $0.memo = nil }
        #expect(try await deliver() == Self.memoRemoved)
        #expect(try await deliver() == Self.nothing)
    }

    @Test func `a memo that cannot be deleted is emptied, and one that cannot be replaced holds the take`() async throws
    {
        try addSmall()
        await notes.change { $0.memo = "a wren" }
        _ = try await deliver()
        await notes.change { $0.memo = nil }
        store.limit([.deleting])
        #expect(try await deliver() == Self.emptied)
        await notes.change { $0.memo = "an owl" }
        store.limit([.replacing])
        #expect(try await deliver() == Self.unreplaced)
    }

    @Test func `answers are lost, the content changes, and another's file is there`() async throws {
        try addSmall()
        await notes.change { $0.memo = "a wren" }
        store.loseAnswer(of: object("txt").file)
        _ = try await deliver()
        await notes.change { $0.memo = "an owl" }
        store.loseAnswer(of: object("json").file)
        #expect(try await deliver() == Self.answerLost)
        store.write([1], to: object("notes.json"))
        await notes.change { $0.starred = true }
        #expect(try await deliver() == Self.conflict)
    }

    @Test func `another medium is in, and a person writes meanwhile`() async throws {
        try addSmall()
        store.insert("stick-1")
        _ = try await deliver()
        store.insert("stick-2")
        #expect(try await deliver { $0.tags = ["owl"] } == Self.otherMedium)
    }

    @Test func `a store shows nothing, and later all`() async throws {
        try addSmall()
        await notes.change { $0.starred = true }
        store.limit([.looking])
        #expect(try await deliver() == Self.unverified)
        #expect(try await deliver() == Self.unverifiedAgain)
        store.limit([])
        #expect(try await deliver() == Self.verified)
    }

    @Test func `the library forgot all, and the sidecar was made anew of the sound`() async throws {
        try addSmall()
        await notes.change { $0.memo = "a wren" }
        _ = try await deliver()
        await notes.forget()
        var sidecar = try TakesFolder(path: disk.takes).sidecar(of: name)
        (sidecar.bootID, sidecar.startedMonotonicNs, sidecar.recovered) = ("", 0, true)
        try write(SidecarFile.bytes(sidecar), "json")
        await notes.change { $0.starred = true }
        #expect(try await deliver() == Self.rebuilt)
    }

    @Test func `sound that a person had accepted is as recorded again`() async throws {
        try addSmall()
        let path = "\(disk.takes)/\(name.day)/\(name.stem).wav"
        let recorded = try FileSystem().contents(path)
        func compared(_ problem: String?) async throws {
            let sha256 = Digest.sha256(try FileSystem().contents(path)).hexadecimal
            let frames = try TakesFolder(path: disk.takes).sidecar(of: name).parts[0].frames
            await notes.change { [name] notes in
                var sound = TakeNotes.SoundNote(
                    file: "\(name.stem).wav", bytes: Int64(recorded.count), modifiedNs: 1, frames: frames)
                (sound.wholeSHA256, sound.problem) = (sha256, problem)
                if problem != nil { sound.acceptedSHA256 = sha256 }
                notes.sounds = [sound]
            }
        }
        try write(recorded.dropLast() + [9], "wav")
        try await compared("damaged")
        _ = try await deliver()
        try write(recorded, "wav")
        try await compared(nil)
        #expect(try await deliver() == Self.repaired)
    }
}

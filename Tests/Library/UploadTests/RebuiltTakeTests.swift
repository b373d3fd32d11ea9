import Files
import FinishedTakes
import Foundation
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// A take that was sent, and whose sidecar was then rebuilt from its sound. The boot that recorded it is unknown.
struct RebuiltTakeTests {
    private let deliveries: TakeDeliveryTests
    private let name: TakeName
    /// The take as it was recorded and sent.
    private let recorded: Sidecar
    private var disk: TakesOnDisk { deliveries.disk }

    init() async throws {
        deliveries = try TakeDeliveryTests()
        var sidecar = TakesOnDisk.sidecar(42, seconds: 0.2)
        sidecar.gaps = [Sidecar.Gap(atFrame: TakeFrame(100), frames: 50, cause: .xrun)]
        sidecar.revision = 3
        (name, recorded) = try deliveries.disk.addSound(sidecar)
        _ = try await deliveries.deliver(name, .init(name.stem))
    }

    /// The sidecar that recovery makes from the sound.
    private var rebuilt: Sidecar {
        var sidecar = recorded
        (sidecar.bootID, sidecar.startedMonotonicNs, sidecar.revision) = ("", 0, 1)
        (sidecar.endedBy, sidecar.recovered, sidecar.gaps, sidecar.levels) = (.unknown, true, [], [])
        (sidecar.parts[0].soundSHA256, sidecar.parts[0].fingerprint) = (nil, nil)
        return sidecar
    }

    private func write(_ sidecar: Sidecar) throws {
        try disk.write(SidecarFile.bytes(sidecar), to: "\(disk.takes)/\(name.day)/\(name.stem).json.tmp")
        rename(
            "\(disk.takes)/\(name.day)/\(name.stem).json.tmp", "\(disk.takes)/\(name.day)/\(name.stem).json")
    }

    /// The library's notes of a take without a fingerprint.
    private func notes(_ sidecar: Sidecar, soundSHA256: String?) async -> TakeDeliveryTests.Notes {
        let notes = TakeDeliveryTests.Notes(name.stem)
        await notes.change { notes in
            notes.attribute(to: sidecar.recordingStart)
            var sound = TakeNotes.SoundNote(
                file: "\(name.stem).wav", bytes: 1, modifiedNs: 1, frames: sidecar.parts[0].frames)
            (sound.soundSHA256, sound.fingerprint) = (soundSHA256, .later)
            notes.sounds = [sound]
        }
        return notes
    }

    private var home: String { "\(deliveries.root)/\(name.day)/\(name.stem).json" }
    private func there() throws -> Sidecar {
        try SidecarFile.sidecar(FileSystem().contents(home), path: home)
    }

    @Test func `it is the recording that the store has, which keeps what the sound does not say`() async throws {
        for soundSHA256 in [recorded.parts[0].soundSHA256, nil] {
            var sidecar = rebuilt
            for revision in 1...2 {
                sidecar.revision = revision
                try write(sidecar)
                let notes = await notes(sidecar, soundSHA256: soundSHA256)
                #expect(try await deliveries.deliver(name, notes).isComplete(revision: revision))
                let sent = try there()
                #expect(sent.recovered && sent.gaps == recorded.gaps && sent.endedBy == .stop)
                #expect(
                    sent.recordingStart == recorded.recordingStart && sent.levels == recorded.levels
                        && sent.revision >= 3)
                #expect(sent.parts[0].sha256 != nil && sent.parts[0].soundSHA256 == recorded.parts[0].soundSHA256)
            }
        }
    }

    @Test func `a recording of other sound, another start or another name stays as it is`() async throws {
        let before = try FileSystem().contents(home)
        var other = try there()
        other.parts[0].soundSHA256 = String(repeating: "0", count: 64)
        other.parts[0].sha256 = other.parts[0].soundSHA256
        var later = try there()
        later.started = (TakesOnDisk.morning + .seconds(2)).iso8601
        var longer = try there()
        longer.parts[0].frames += 1
        var unproven = try there()
        (unproven.parts[0].soundSHA256, unproven.parts[0].sha256) = (nil, nil)
        for found in [other, later, longer, unproven] {
            let bytes = SidecarFile.bytes(found)
            #expect(bytes != before)
            try disk.write(bytes, to: home + ".tmp")
            rename(home + ".tmp", home)
            try write(rebuilt)
            let notes = await notes(rebuilt, soundSHA256: recorded.parts[0].soundSHA256)
            await deliveries.trial.expectProblem(.conflict) { _ = try await deliveries.deliver(name, notes) }
            #expect(try FileSystem().contents(home) == bytes)
        }
    }
}

import Control
import Testing

@testable import Commands

/// The keys of `fieldfare status --json` that scripts rely on. No key may be renamed or removed.
@Suite struct StatusKeysTests {
    private static let agreed: Set<String> = [
        "state", "take", "selected", "frames", "elapsed_seconds", "synced_seconds", "position_seconds", "rate_hz",
        "channels", "format", "card", "low_pass_hz", "slope_db_per_octave", "high_pass_hz", "level_dbfs", "xruns",
        "gain_db", "gain_range_db", "agc", "gaps", "free_bytes", "reserve_bytes", "time_left_seconds", "pitch_cents",
        "speed", "clock", "faults", "armed",
        "pairing", "scheduled", "kit_id", "version",
    ]

    @Test func `the status has them all`() throws {
        let recorder = try DeskRecorder()
        let line = try #require(run(["status", "--json"], at: recorder).output.first)
        guard case .object(let members) = try JSONValue(decoding: line.utf8) else {
            Issue.record("the status is no object")
            return
        }
        #expect(Self.agreed.subtracting(members.keys) == [])
        guard case .array(let levels)? = members["level_dbfs"], case .object(let level)? = levels.first else {
            Issue.record("level_dbfs lists nothing")
            return
        }
        #expect(Set(level.keys) == ["peak", "rms"])
    }
}

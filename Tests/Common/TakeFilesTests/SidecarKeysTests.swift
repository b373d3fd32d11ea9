import Files
import Filters
import FoundationEssentials
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing

/// The keys of a sidecar that other programs rely on. None may be renamed or removed.
@Suite struct SidecarKeysTests {
    private let scratch = TestFolder(in: .memory)

    /// By the name of their list; "" for the sidecar's own keys.
    private static let agreed: [String: Set<String>] = [
        "": [
            "schema", "revision", "take", "number", "kit", "kit_id", "started", "started_corrected",
            "started_monotonic_ns",
            "boot_id", "clock", "ended_by", "recovered", "parts", "frames", "duration_seconds", "card", "rate_hz",
            "channels", "format", "filter", "gaps", "markers", "pre_roll_frames", "started_by", "pending_format",
            "clock_drift_ppm", "clock_map", "suspected_losses", "levels", "gain_db", "agc", "gain",
            "version",
        ],
        "parts": [
            "file", "unfiltered_file", "first_frame", "frames", "rate_hz", "format", "sha256", "unfiltered_sha256",
            "sound_sha256", "unfiltered_sound_sha256", "fingerprint",
        ],
        "filter": ["at_frame", "low_pass_hz", "slope_db_per_octave", "high_pass_hz"],
        "gain": ["at_frame", "gain_db", "agc"],
        "gaps": ["at_frame", "frames", "cause"],
        "markers": ["at_frame", "note"],
        "clock_map": ["at_frame", "raw_ns", "utc", "error_us"],
        "suspected_losses": ["after_frame", "before_frame", "frames"],
        "levels": ["peak_dbfs", "rms_dbfs", "clipped_frames", "filter_clipped_frames"],
    ]

    /// The structure of a JSON value, without its content.
    private enum Value: Decodable {
        case object([String: Value])
        case list([Value])
        case scalar

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let members = try? container.decode([String: Value].self) {
                self = .object(members)
            } else if let elements = try? container.decode([Value].self) {
                self = .list(elements)
            } else {
                self = .scalar
            }
        }

        var keys: Set<String> {
            if case .object(let members) = self { Set(members.keys) } else { [] }
        }
    }

    @Test(arguments: [false, true])
    func `a finished take's sidecar has them all, with a twin or without, also where there is nothing to say`(
        hasTwin: Bool
    ) throws {
        let directory = try TakesDirectory(path: scratch.path + "/takes")
        let output = try TakeOutput(directory, keepsUnfiltered: hasTwin, pendingFormat: "flac")
        try output.append(4800, unfiltered: hasTwin)
        output.note(.filter(Sidecar.FilterChange(atFrame: 0, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)))
        output.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(50), gainDB: nil, agc: nil)))
        output.note(.gap(at: TakeFrame(100), frames: 10, cause: .xrun))
        output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(200), note: nil)))
        output.note(.clock(Sidecar.ClockPoint(atFrame: .first, rawNs: 1, utc: nil, errorUs: 2)))
        output.note(
            .suspectedLoss(
                Sidecar.SuspectedLoss(
                    afterFrame: TakeFrame(300), beforeFrame: TakeFrame(400), frames: 5, confidence: 0.5)))
        let silence = Sidecar.Levels(peakDBFS: nil, rmsDBFS: nil, clippedFrames: 0, filterClippedFrames: 0)
        _ = try output.finish(endedBy: .stop, levels: [silence, silence])
        let bytes = try FileSystem().contents(directory.sidecarPath(of: output.name))
        guard case .object(let members) = try JSONDecoder().decode(Value.self, from: Data(bytes)) else {
            Issue.record("the sidecar is no object")
            return
        }
        #expect(Set(members.keys) == Self.agreed[""])
        for (list, keys) in Self.agreed where list != "" {
            guard case .list(let entries)? = members[list], let first = entries.first else {
                Issue.record("\(list) lists nothing")
                continue
            }
            #expect(keys.subtracting(first.keys) == [], "\(list)")
        }
        let sidecar = try directory.sidecar(of: output.name)
        #expect(sidecar.pendingFormat == "flac")
        let stem = output.name.stem
        #expect(sidecar.parts.map(\.unfilteredFile) == [hasTwin ? stem.file("-raw.wav") : nil])
        #expect(sidecar.parts.map(\.frames) == [4800])
    }
}

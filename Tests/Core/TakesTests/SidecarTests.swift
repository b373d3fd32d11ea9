import FoundationEssentials
import Takes
import Testing

struct SidecarTests {
    /// Every field has its own value.
    static let full: Sidecar = {
        let started = WallTime(microseconds: 1_795_241_891_250_000)
        let name = TakeName(kit: "heron07", number: 42, started: started)
        var sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 77), bootID: "b", clock: .rtc,
            card: "usb:0d8c:0014", format: StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s24),
            preRollFrames: 480, gainDB: 12.5, agc: true, version: "0.1", startedBy: .button)
        sidecar.revision = 2
        sidecar.startedCorrected = "2026-11-21T06:18:12.000000Z"
        sidecar.endedBy = .powerCut
        sidecar.recovered = true
        sidecar.parts = [
            Sidecar.Part(
                file: "a.wav", unfilteredFile: "a-raw.wav", firstFrame: .first, frames: 96, rateHz: 48_000, format: .s24
            )
        ]
        sidecar.parts[0].sha256 = "00ff"
        sidecar.parts[0].unfilteredSHA256 = "ff00"
        sidecar.parts[0].soundSHA256 = "11aa"
        sidecar.parts[0].unfilteredSoundSHA256 = "aa11"
        sidecar.parts[0].fingerprint = .capture
        sidecar.frames = 96
        sidecar.durationSeconds = 0.002
        sidecar.filter = [
            Sidecar.FilterChange(atFrame: .first, lowPassHz: 21_600, slopeDBPerOctave: 24, highPassHz: nil)
        ]
        sidecar.gain = [
            Sidecar.GainChange(atFrame: TakeFrame(4), gainDB: -6, agc: false),
            Sidecar.GainChange(atFrame: TakeFrame(6), gainDB: 7.5, agc: nil),
        ]
        sidecar.gaps = [Sidecar.Gap(atFrame: TakeFrame(5), frames: 2, cause: .cardLost)]
        sidecar.markers = [
            Sidecar.Marker(atFrame: TakeFrame(7), note: nil), Sidecar.Marker(atFrame: TakeFrame(8), note: "Käuzchen"),
        ]
        sidecar.levels = [
            Sidecar.Levels(peakDBFS: -3.5, rmsDBFS: nil, clippedFrames: 1, filterClippedFrames: 2)
        ]
        sidecar.clockDriftPPM = -12.5
        sidecar.clockMap = [
            Sidecar.ClockPoint(atFrame: TakeFrame(9), rawNs: 99, utc: "2026-11-21T06:18:11.251000Z", errorUs: 40)
        ]
        sidecar.suspectedLosses = [
            Sidecar.SuspectedLoss(afterFrame: TakeFrame(10), beforeFrame: TakeFrame(20), frames: 3, confidence: 0.5)
        ]
        sidecar.pendingFormat = "flac"
        sidecar.channelsOfCard = [2]
        sidecar.kitID = KitID("00112233445566778899aabbccddeeff")
        return sidecar
    }()

    static let text = """
        {"agc":true,"boot_id":"b","card":"usb:0d8c:0014","channels":1,"channels_of_card":[2],"clock":"rtc","clock_drift_ppm":-12.5,\
        "clock_map":[{"at_frame":9,"error_us":40,"raw_ns":99,"utc":"2026-11-21T06:18:11.251000Z"}],"duration_seconds":0.002,\
        "ended_by":"power-cut","filter":[{"at_frame":0,"high_pass_hz":null,"low_pass_hz":21600,\
        "slope_db_per_octave":24}],"format":"S24_LE","frames":96,\
        "gain":[{"agc":false,"at_frame":4,"gain_db":-6},{"agc":null,"at_frame":6,"gain_db":7.5}],"gain_db":12.5,\
        "gaps":[{"at_frame":5,"cause":"card-lost","frames":2}],"kit":"heron07","kit_id":"00112233445566778899aabbccddeeff",\
        "levels":[{"clipped_frames":1,"filter_clipped_frames":2,"peak_dbfs":-3.5,"rms_dbfs":null}],\
        "markers":[{"at_frame":7,"note":null},{"at_frame":8,"note":"Käuzchen"}],"number":42,\
        "parts":[{"file":"a.wav","fingerprint":"capture","first_frame":0,"format":"S24_LE","frames":96,"rate_hz":48000,"sha256":"00ff",\
        "sound_sha256":"11aa","unfiltered_file":"a-raw.wav","unfiltered_sha256":"ff00","unfiltered_sound_sha256":"aa11"}],\
        "pending_format":"flac","pre_roll_frames":480,"rate_hz":48000,"recovered":true,"revision":2,"schema":1,\
        "started":"2026-11-21T06:18:11.250000Z","started_by":"button","started_corrected":"2026-11-21T06:18:12.000000Z",\
        "started_monotonic_ns":77,\
        "suspected_losses":[{"after_frame":10,"before_frame":20,"confidence":0.5,"frames":3}],"take":"heron07-0042_20261121_061811","version":"0.1"}
        """

    @Test func `its JSON has the agreed keys and values, every one`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(Self.full), as: UTF8.self) == Self.text)
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(Self.text.utf8)) == Self.full)
    }

    @Test func `a part states how many bits carry signal where the format alone does not`() throws {
        for (bits, key) in [(18, 18), (24, 24), (32, nil)] as [(Int, Int?)] {
            let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32, significantBits: bits)
            let part = Sidecar.Part(file: "a.wav", firstFrame: .first, frames: 96, format: format)
            #expect(part.significantBits == key)
            let bytes = try JSONEncoder().encode(part)
            #expect(String(decoding: bytes, as: UTF8.self).contains("significant_bits") == (key != nil))
            #expect(try JSONDecoder().decode(Sidecar.Part.self, from: bytes).streamFormat(channels: 2) == format)
        }
    }

    @Test func `a part states its card and port where they are known`() throws {
        for place in [CardPlace(card: "usb:0d8c:0014", port: "1-1.4"), CardPlace(card: "card:Loopback"), nil] {
            var part = Sidecar.Part(file: "a.wav", firstFrame: .first, frames: 96, rateHz: 48_000, format: .s16)
            part.place = place
            let bytes = try JSONEncoder().encode(part)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(
                text.contains("\"card\":\"") == (place != nil)
                    && text.contains("\"port\":\"1-1.4\"") == (place?.port != nil))
            #expect(text.contains("port") == (place?.port != nil))
            #expect(try JSONDecoder().decode(Sidecar.Part.self, from: bytes).place == place)
        }
    }

    @Test func `what is not known is null, not left out`() throws {
        var sidecar = Self.full
        sidecar.startedCorrected = nil
        sidecar.endedBy = nil
        sidecar.gainDB = nil
        sidecar.agc = nil
        sidecar.gain = []
        sidecar.clockDriftPPM = nil
        sidecar.pendingFormat = nil
        sidecar.parts[0].sha256 = nil
        sidecar.parts[0].unfilteredFile = nil
        sidecar.parts[0].unfilteredSHA256 = nil
        sidecar.parts[0].soundSHA256 = nil
        sidecar.parts[0].unfilteredSoundSHA256 = nil
        sidecar.parts[0].fingerprint = nil
        sidecar.startedBy = nil
        let text = try String(decoding: JSONEncoder().encode(sidecar), as: UTF8.self)
        for key in [
            "started_corrected", "ended_by", "gain_db", "agc", "clock_drift_ppm", "pending_format", "sha256",
            "unfiltered_file", "unfiltered_sha256", "started_by", "sound_sha256", "unfiltered_sound_sha256",
            "fingerprint",
        ] {
            #expect(text.contains("\"\(key)\":null"), "\(key)")
        }
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(text.utf8)) == sidecar)
    }

    @Test func `keys that are not known are ignored, and optional ones may be missing`() throws {
        let text = Self.text.replacing("\"agc\":true,", with: "\"weather\":{\"rain\":[1]},")
            .replacing(",\"sha256\":\"00ff\"", with: "").replacing("\"gain_db\":12.5,", with: "")
        var expected = Self.full
        expected.agc = nil
        expected.gainDB = nil
        expected.parts[0].sha256 = nil
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(text.utf8)) == expected)
    }

    @Test func `a sidecar of an earlier version reads as one that lacks what was added since`() throws {
        var old = Self.text
        for key in [
            #","unfiltered_file":"a-raw.wav","unfiltered_sha256":"ff00","unfiltered_sound_sha256":"aa11""#,
            #","sound_sha256":"11aa""#, #""fingerprint":"capture","#, #","started_by":"button""#,
            #","clock_map":[{"at_frame":9,"error_us":40,"raw_ns":99,"utc":"2026-11-21T06:18:11.251000Z"}]"#,
            #","gain":[{"agc":false,"at_frame":4,"gain_db":-6},{"agc":null,"at_frame":6,"gain_db":7.5}]"#,
            #","suspected_losses":[{"after_frame":10,"before_frame":20,"confidence":0.5,"frames":3}]"#,
        ] {
            #expect(old.contains(key))
            old = old.replacing(key, with: "")
        }
        var expected = Self.full
        expected.parts[0].unfilteredFile = nil
        expected.parts[0].unfilteredSHA256 = nil
        expected.parts[0].soundSHA256 = nil
        expected.parts[0].unfilteredSoundSHA256 = nil
        expected.parts[0].fingerprint = nil
        expected.startedBy = nil
        expected.gain = []
        expected.clockMap = []
        expected.suspectedLosses = []
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(old.utf8)) == expected)
    }

    @Test func `endings and causes are written as agreed`() {
        let endings: [Sidecar.Ending] = [
            .stop, .shutdown, .diskFull, .storageError, .cardLost, .powerCut, .crash, .unknown,
            .limit, .next,
        ]
        #expect(
            endings.map(\.rawValue) == [
                "stop", "shutdown", "disk-full", "storage-error", "card-lost", "power-cut", "crash", "unknown",
                "limit", "next",
            ])
        let causes: [Sidecar.Gap.Cause] = [.xrun, .stall, .driver, .cardLost]
        #expect(causes.map(\.rawValue) == ["xrun", "stall", "driver", "card-lost"])
    }

    @Test func `a marker has the keys that it has values for, and reads as it was written`() throws {
        var marker = Sidecar.Marker(atFrame: TakeFrame(7), note: nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(marker), as: UTF8.self) == #"{"at_frame":7,"note":null}"#)
        (marker.endFrame, marker.label, marker.by) = (TakeFrame(9), "wren", "birdnet")
        (marker.score, marker.lowHz, marker.highHz) = (0.5, 1500, 8000)
        let text =
            #"{"at_frame":7,"by":"birdnet","end_frame":9,"high_hz":8000,"label":"wren","low_hz":1500,"note":null,"score":0.5}"#
        #expect(String(decoding: try encoder.encode(marker), as: UTF8.self) == text)
        #expect(try JSONDecoder().decode(Sidecar.Marker.self, from: Data(text.utf8)) == marker)
        #expect(marker.content.words == ["wren", "birdnet"])
    }

    @Test func `another note leaves a region as it was, and a person may remove it`() {
        var marker = Sidecar.Marker(atFrame: TakeFrame(7), note: "?")
        (marker.endFrame, marker.label, marker.score) = (TakeFrame(9), "wren", 0.5)
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "heard it too"))
        var described = marker
        described.note = "heard it too"
        #expect(notes.markers(of: [marker]) == [described])
        notes.removeMarker(at: TakeFrame(7), of: [marker])
        #expect(notes.markers(of: [marker]) == [])
    }

    @Test func `what another program wrote of a marker in a wrong way hides no take`() throws {
        let text =
            #"{"at_frame":7,"by":1,"end_frame":"9","high_hz":{},"label":[],"low_hz":"a","note":"wren","score":"high"}"#
        let marker = try JSONDecoder().decode(Sidecar.Marker.self, from: Data(text.utf8))
        #expect(marker == Sidecar.Marker(atFrame: TakeFrame(7), note: "wren"))
    }

    @Test func `a region ends with its take`() {
        var marker = Sidecar.Marker(atFrame: TakeFrame(7), note: nil)
        marker.endFrame = TakeFrame(100)
        for (end, expected) in [(200, 100), (50, 50), (7, 7), (3, 7)] as [(Int64, Int64)] {
            var cut = marker
            cut.endRegion(before: TakeFrame(end))
            #expect(cut.endFrame == TakeFrame(expected))
        }
    }
}

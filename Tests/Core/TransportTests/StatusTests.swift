import FoundationEssentials
import Takes
import Testing
import Transport

@Suite struct StatusTests {
    private func json(_ status: Status) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(status), as: UTF8.self)
    }

    @Test func `an idle recorder without a card writes every key, null where there is nothing`() throws {
        #expect(
            try json(Status(version: "1.2.3")) == """
                {"agc":null,"armed":false,"card":null,"channels":null,"clock":"unset","directory":null,"elapsed_seconds":0,"expand":false,"faults":[],\
                "format":null,"frames":0,"free_bytes":null,"gain_db":null,"gain_range_db":null,"gaps":0,"high_pass_hz":null,"kit_id":null,"level_dbfs":[],\
                "low_pass_hz":null,"pairing":false,"pitch_cents":0,"position_seconds":null,"rate_hz":null,"reserve_bytes":0,"scheduled":null,"selected":null,\
                "slope_db_per_octave":24,"speed":1,"state":"idle","synced_seconds":0,"take":null,"time_left_seconds":null,\
                "version":"1.2.3","xruns":0}
                """)
    }

    @Test func `a recorder at work writes what it does`() throws {
        var status = Status(version: "1.2.3")
        status.state = .recording
        status.take = "heron07-0042-061811Z"
        status.selected = "heron07-0041-060000Z"
        status.frames = 72_000
        status.elapsedSeconds = 1.5
        status.syncedSeconds = 1
        status.rateHz = 48_000
        status.channels = 2
        status.format = .s24Packed
        status.card = "usb:0d8c:0014"
        status.lowPassHz = 8000
        status.highPassHz = 40.5
        status.gainDB = -7.5
        status.gainRangeDB = GainRange(min: -20, max: 20.5, step: 0.5)
        status.agc = false
        status.levelDBFS = [Level(peak: -3.25, rms: -12.5), Level(peak: nil, rms: nil)]
        status.xruns = 1
        status.gaps = 2
        status.directory = "/var/lib/fieldfare/takes"
        status.freeBytes = 12_345_678_901
        status.reserveBytes = 536_870_912
        status.timeLeftSeconds = 41_005
        status.clock = .rtc
        status.pitchCents = -1200
        status.speed = 0.1
        status.kitID = KitID("00112233445566778899aabbccddeeff")
        status.expand = true
        status.pairing = true
        status.scheduled = .init(from: "2026-11-22T05:00:00.000000Z", until: "2026-11-22T07:30:00.000000Z")
        status.faults = [Fault(.diskFull, "takes: 1 h left"), Fault(.signal, "channel 2 is dead")]
        let text = try json(status)
        #expect(
            text == """
                {"agc":false,"armed":false,"card":"usb:0d8c:0014","channels":2,"clock":"rtc","directory":"/var/lib/fieldfare/takes",\
                "elapsed_seconds":1.5,"expand":true,\
                "faults":[{"code":2,"message":"takes: 1 h left"},{"code":8,"message":"channel 2 is dead"}],\
                "format":"S24_3LE","frames":72000,"free_bytes":12345678901,"gain_db":-7.5,"gain_range_db":{"max":20.5,"min":-20,"step":0.5},"gaps":2,"high_pass_hz":40.5,\
                "kit_id":"00112233445566778899aabbccddeeff","level_dbfs":[{"peak":-3.25,"rms":-12.5},{"peak":null,"rms":null}],"low_pass_hz":8000,\
                "pairing":true,"pitch_cents":-1200,"position_seconds":null,"rate_hz":48000,"reserve_bytes":536870912,\
                "scheduled":{"from":"2026-11-22T05:00:00.000000Z","until":"2026-11-22T07:30:00.000000Z"},"selected":"heron07-0041-060000Z",\
                "slope_db_per_octave":24,"speed":0.1,"state":"recording","synced_seconds":1,"take":"heron07-0042-061811Z",\
                "time_left_seconds":41005,"version":"1.2.3","xruns":1}
                """)
        #expect(try JSONDecoder().decode(Status.self, from: Data(text.utf8)) == status)
    }

    @Test func `a range without steps has no key for them, and a status without the keys of the gain has none`() throws
    {
        var status = Status(version: "1.2.3")
        let older = try json(status).replacing("\"agc\":null,", with: "").replacing(
            "\"gain_db\":null,\"gain_range_db\":null,", with: "")
        #expect(!older.contains("gain"))
        #expect(try JSONDecoder().decode(Status.self, from: Data(older.utf8)) == status)
        status.gainRangeDB = GainRange(min: -20, max: 20)
        let text = try json(status)
        #expect(text.contains("\"gain_range_db\":{\"max\":20,\"min\":-20},"))
        #expect(try JSONDecoder().decode(Status.self, from: Data(text.utf8)) == status)
    }

    @Test func `a status without the key of pairing is read as one in which nothing can be paired`() throws {
        let status = Status(version: "1.2.3")
        let text = try json(status)
        let older = text.replacing("\"pairing\":false,", with: "")
        #expect(older != text)
        #expect(try JSONDecoder().decode(Status.self, from: Data(older.utf8)) == status)
        let wrong = text.replacing("\"pairing\":false", with: "\"pairing\":3")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Status.self, from: Data(wrong.utf8)) }
    }
}

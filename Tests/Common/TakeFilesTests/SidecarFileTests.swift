import Files
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

struct SidecarFileTests {
    let sidecar = testSidecar(TakeName(kit: "heron07", number: 1, started: morning))

    @Test func `it is indented JSON in a stable order that ends in a line break`() throws {
        let text = String(decoding: SidecarFile.bytes(sidecar), as: UTF8.self)
        #expect(text.hasPrefix("{\n  \"agc\" : false,\n  \"boot_id\" : \"0b0c0d0e-"))
        #expect(text.hasSuffix("  \"version\" : \"0.1\"\n}\n"))
        #expect(try SidecarFile.sidecar(Array(text.utf8), path: "a.json") == sidecar)
    }

    @Test func `levels that are no numbers are null`() throws {
        var odd = sidecar
        odd.gainDB = .nan
        odd.durationSeconds = .infinity
        odd.levels = [
            Sidecar.Levels(peakDBFS: -.infinity, rmsDBFS: .nan, clippedFrames: 1, filterClippedFrames: 2)
        ]
        odd.filter = [
            Sidecar.FilterChange(atFrame: 0, lowPassHz: .infinity, slopeDBPerOctave: 12, highPassHz: .nan)
        ]
        odd.gain = [Sidecar.GainChange(atFrame: .first, gainDB: .nan, agc: nil)]
        var expected = odd
        expected.gain[0].gainDB = nil
        expected.gainDB = nil
        expected.durationSeconds = 0
        expected.levels[0].peakDBFS = nil
        expected.levels[0].rmsDBFS = nil
        expected.filter[0].lowPassHz = nil
        expected.filter[0].highPassHz = nil
        #expect(try SidecarFile.sidecar(SidecarFile.bytes(odd), path: "a.json") == expected)
    }

    @Test func `what is no sidecar is reported in one sentence`() throws {
        let text = String(decoding: SidecarFile.bytes(sidecar), as: UTF8.self)
        func problem(_ text: String) -> String? {
            do throws(SidecarError) {
                _ = try SidecarFile.sidecar(Array(text.utf8), path: "/t/a.json")
                return nil
            } catch {
                return error.description
            }
        }
        let start = "read /t/a.json: not a sidecar: "
        #expect(problem("") == start + "not JSON")
        #expect(problem(String(text.dropLast(3))) == start + "not JSON")
        #expect(problem("[1]") == start + "it is of the wrong type")
        #expect(problem(text.replacing("\"frames\"", with: "\"f\"")) == start + "frames is missing")
        #expect(
            problem(text.replacing("\"frames\" : 0", with: "\"frames\" : \"x\"")) == start
                + "frames is of the wrong type")
        #expect(problem(text.replacing("\"frames\" : 0", with: "\"frames\" : null")) == start + "frames is null")
        #expect(problem(text.replacing("\"ntp\"", with: "\"sun\"")) == start + "clock has a value that is not allowed")
    }
}

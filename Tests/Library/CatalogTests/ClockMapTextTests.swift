import DiskCalls
import FinishedTakes
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct ClockMapTextTests {
    private static let point = #"{"at_frame": 0, "raw_ns": 5, "utc": "2026-11-21T06:18:11.250000Z", "error_us": 40}"#

    private func emptied(_ points: String) -> String? {
        ClockMapText.emptied(in: Array(#"{"a": 1, "clock_map": [\#(points)], "z": 1}"#.utf8)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(
        arguments: [
            point, "\(point), \(point)", " \n\t\(point)\r\n,\n\(point) ",
            #"{"error_us":0,"utc":null,"raw_ns":999999999999999999,"monotonic_ns":7,"at_frame":4398046511104}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1}"#,
        ])
    func `a clock map as recorders write it is taken out`(_ points: String) {
        #expect(emptied(points) == #"{"a": 1, "clock_map": [], "z": 1}"#)
    }

    @Test(
        arguments: [
            "", "7", "null", "[]", "{}", "\(point),", "\(point) \(point)", "\(point),{", #"{"at_frame":1"#,
            #"{"at_frame":1,"raw_ns":1}"#, #"{"at_frame":1,"at_frame":1,"raw_ns":1,"error_us":1}"#,
            #"{"at_frame":4398046511105,"raw_ns":1,"error_us":1}"#, #"{"at_frame":-1,"raw_ns":1,"error_us":1}"#,
            #"{"at_frame":01,"raw_ns":1,"error_us":1}"#, #"{"at_frame":1.5,"raw_ns":1,"error_us":1}"#,
            #"{"at_frame":1e3,"raw_ns":1,"error_us":1}"#, #"{"at_frame":1,"raw_ns":9223372036854775808,"error_us":1}"#,
            #"{"at_frame":1,"raw_ns":"1","error_us":1}"#, #"{"at_frame":,"raw_ns":1,"error_us":1}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1,"other":1}"#, #"{"at_frame":1,"raw_ns":1,"error_us":1,}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1,"utc":7}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1,"utc":"\u00e9"}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1,"utc":"é"}"#, #"{"at_frame":1,"raw_ns":1,"error_us":1,"utc":nul}"#,
            #"{"at_frame":1,"raw_ns":1,"error_us":1,"utc":"#,
        ])
    func `another clock map is left to the decoder`(_ points: String) {
        #expect(emptied(points) == nil)
    }

    @Test func `a text that ends within the clock map is left to the decoder`() {
        let json = Array(#"{"clock_map": [\#(Self.point)]}"#.utf8)
        for count in 0..<json.count - 1 { #expect(ClockMapText.emptied(in: Array(json.prefix(count))) == nil) }
        #expect(ClockMapText.emptied(in: json) != nil)
    }

    @Test func `the sidecar of a take is read without its clock map, and kept with it`() throws {
        let takes = try CatalogedTakes()
        var sidecar = TakesOnDisk.sidecar(1, markers: ["wren"])
        sidecar.clockMap = (0..<3).map {
            .init(atFrame: TakeFrame($0), rawNs: $0, utc: "\($0)", errorUs: 40, monotonicNs: $0)
        }
        let take = try StoredTake(takes.disk.add(sidecar), in: TakesFolder(path: takes.disk.takes))
        #expect(try SidecarFile.sidecar(take.json, path: "kept") == sidecar)
        var expected = sidecar
        expected.clockMap = []
        #expect(take.sidecar == expected)
        sidecar.clockMap[1].atFrame = TakeFrame(-1)
        let wrong = try takes.disk.add(sidecar)
        let error = #expect(throws: SidecarError.self) {
            try StoredTake(wrong, in: TakesFolder(path: takes.disk.takes))
        }
        #expect(error?.problem == "clock_map.1.at_frame has a value that is not allowed")
    }
}

import PowerCuts
import SeededRandom
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Arbitrary bytes in files with the names of a take's remains, and damaged takes.
struct HostileRemainsTests {
    static let names = [
        ".wav.part", ".wav", "-raw.wav.part", "-p2.wav.part", "-p3-raw.wav.part", "-p99999999999999999999.wav.part",
        ".json.part", ".json.part.tmp", ".dat.part", ".dat", ".json.tmp", ".wav.tail", "-p2.wav.tail", "-p0.wav.part",
        "-p02.wav.part",
    ]

    /// A sidecar and a header from a recorder, which the tests damage.
    static let whole: [String: [UInt8]] = {
        let scratch = TestFolder(in: .memory)
        var found: [String: [UInt8]] = [:]
        if let directory = try? TakesDirectory(path: scratch.path + "/takes") { _ = CutTake.record(in: directory) }
        for (path, bytes) in (try? everything(in: scratch.path + "/takes")) ?? [:] { found[path] = bytes }
        return found
    }()

    func spoilt(_ bytes: [UInt8], _ dice: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0...dice.below(8) where !bytes.isEmpty {
            switch dice.below(5) {
            case 0: bytes[dice.below(bytes.count)] = UInt8(dice.below(256))
            case 1: bytes.removeLast(dice.below(bytes.count))
            case 2: bytes[dice.below(bytes.count)] ^= 1 << UInt8(dice.below(8))
            case 3:
                let start = dice.below(bytes.count)
                for index in start..<min(bytes.count, start + dice.below(64)) { bytes[index] = 0xff }
            default:
                // A number in the sidecar becomes a very large one.
                if let digit = bytes[dice.below(bytes.count)...].firstIndex(where: { (0x30...0x39).contains($0) }) {
                    bytes.insert(contentsOf: Array("999999999999999999".prefix(dice.below(18)).utf8), at: digit)
                }
            }
        }
        return bytes
    }

    /// Every take is recovered, removed or left, with the same result twice, and a healthy take next to it is not
    /// changed.
    @Test(arguments: 1...8) func `whatever lies there, nothing else is harmed`(seed: UInt64) throws {
        var dice = SeededRandom(seed: seed)
        let audio = Self.whole.filter { $0.key.hasSuffix(".wav") }.sorted { $0.key < $1.key }.map(\.value)
        let sidecar = try #require(Self.whole.first { $0.key.hasSuffix(".json") }).value
        for round in 0..<30 {
            var contents = Self.whole
            for name in Self.names where dice.below(3) > 0 {
                let bytes: [UInt8]
                switch dice.below(4) {
                case 0: bytes = (0..<dice.below(9000)).map { _ in UInt8(dice.below(256)) }
                case 1: bytes = [UInt8](repeating: 0, count: dice.below(9000))
                default:
                    let isSidecar = name.contains("json") != (dice.below(8) == 0)
                    let text = String(decoding: sidecar, as: UTF8.self)
                        .replacing("heron07-0001", with: "heron07-0002")
                        .replacing("\"number\" : 1", with: "\"number\" : 2")
                    bytes = spoilt(isSidecar ? Array(text.utf8) : audio[dice.below(audio.count)], &dice)
                }
                contents["2026-11-21/heron07-0002-061811Z\(name)"] = bytes
            }
            let scratch = TestFolder(contents)
            let directory = try TakesDirectory(path: scratch.path)
            let outcomes = try recoverAll(in: directory)
            let after = try everything(in: scratch.path)
            let isHealthy = Self.whole.filter { !$0.key.hasPrefix(".") }.allSatisfy { after[$0.key] == $0.value }
            #expect(isHealthy, "seed \(seed), round \(round)")
            for case .recovered(let found) in outcomes {
                let take = try #require(try directory.takes().first { $0.stem == found.take })
                #expect(try TakeAudio(of: take, in: directory).parts.map(\.frames) == found.parts.map(\.frames))
            }
            if case .left? = outcomes.first {
                // A readable revision replaces its sidecar before the rest is judged, and an object that is not a draft
                // is renamed.
                let isLeft = contents.allSatisfy { path, bytes in
                    path.hasPrefix(".") || after[path] == bytes || after["\(path).other1"] == bytes
                        || path.hasSuffix(".json.tmp") && after[String(path.dropLast(4))] == bytes
                }
                #expect(isLeft, "seed \(seed), round \(round)")
            }
            let again = try recoverAll(in: directory)
            // A second recovery finds nothing next to a finished take, since obstacles were renamed.
            let isAllKept = again.isEmpty && after.keys.contains { $0.hasSuffix(".other1") }
            #expect(isAllKept || again == outcomes.filter { if case .left = $0 { true } else { false } })
            #expect(try everything(in: scratch.path) == after, "seed \(seed), round \(round)")
        }
    }
}

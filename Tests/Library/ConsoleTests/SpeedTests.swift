import Control
import DiskCalls
import FinishedTakes
import Foundation
import OtherPrograms
import SeededRandom
import StoreTrials
import TakeFiles
import Takes
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(60)), .needs(.curl)) struct SpeedTests {
    private static let takes = 100_000
    /// The newest takes have sound.
    private static let soundingTakes = 20

    @Test(
        .needsServers, .needs(.chromium), .enabled(if: full(1, usually: 0) == 1, "runs with deploy/test --long"),
        .enabled(if: SpectrumTests.hasRoom, "the disk is too full"))
    func `a page with 100 000 takes has 300 elements, is painted from 40 kB, and moves with few layouts`() throws {
        let kit = try PhonesKit { folder in try Self.makeTakes(in: "\(folder)/takes") }
        kit.recorder.holdPlay()
        let answer = try kit.pair("speed", kit.code)
        let cookie = try #require(answer.headers["set-cookie"]?.split(separator: ";").first)
        let phone = try kit.cookie(of: answer)
        while try phone.get("/api/takes?limit=1").json?["total"]?.integer != Self.takes { usleep(100_000) }
        let newest = Self.sidecar(Self.takes).take
        // As with most takes that a person opens, its columns were computed before.
        while try phone.get("/api/takes/\(newest)/spectrum").status == 202 { usleep(100_000) }
        #expect(try phone.get("/api/takes/\(newest)/spectrum").status == 200)
        let arguments = [String(kit.library.port), String(cookie), newest, String(Self.takes)]
        let (status, report) = try RunningKit.run(
            "python", [RunningKit.resource("speed.py")] + arguments, in: kit.folder)
        for line in report.split(separator: "\n") where line.hasPrefix("figure:") { print(line) }
        #expect(status == 0, "\(report.suffix(4000))")
    }

    /// One take each hour. The newest has five minutes.
    private static func sidecar(_ number: Int) -> Sidecar {
        TakesOnDisk.sidecar(
            number, started: TakesOnDisk.morning + .seconds(3600 * (number - takes)),
            seconds: number == takes ? 300 : 10)
    }

    private static func makeTakes(in folder: String) throws {
        for number in 1...takes {
            var sidecar = Self.sidecar(number)
            let day = "\(folder)/\(TakesOnDisk.name(sidecar).day)"
            mkdir(day, 0o755)
            guard number <= takes - soundingTakes else {
                let size = Int(sidecar.frames) * sidecar.parts[0].streamFormat(channels: sidecar.channels).bytesPerFrame
                try TakesOnDisk.write(sidecar, TakesOnDisk.sound(bytes: size, seed: number), in: folder)
                try Data(waveform(of: sidecar)).write(to: URL(filePath: "\(day)/\(sidecar.take).dat"))
                continue
            }
            // The library neither reads nor sends a take that waits for its conversion, so that it works only for the
            // page while that is measured.
            sidecar.pendingFormat = "flac"
            try Data(SidecarFile.bytes(sidecar)).write(to: URL(filePath: "\(day)/\(sidecar.take).json"))
        }
    }

    /// That of noise at full scale.
    private static func waveform(of sidecar: Sidecar) -> [UInt8] {
        let pixels = Int(sidecar.frames) / PeaksFile.framesPerPixel
        let pairs = (0..<2 * pixels * sidecar.channels).map { $0 % 2 == 0 ? Int8(-127) : 127 }
        return PeaksFile(rateHz: sidecar.rateHz, channels: sidecar.channels, pairs: pairs).bytes
    }
}

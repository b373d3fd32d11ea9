import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@Suite(
    .waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl, .ffmpeg, .mpv)
) struct PlayersTests {
    @Test func `players seek in a take by its address, and play the sound that is there`() throws {
        let kit = try RunningKit()
        let stem = try kit.record(seconds: 2)
        let shown = try kit.phone.get("/api/takes/\(stem)").json
        let folder = try #require(shown?["take"]?["folder"]?.text)
        #expect(shown?["take"]?["format"]?.text == "S24_3LE")
        #expect(shown?["take"]?["channels"]?.integer == 1)
        let file = try Data(contentsOf: URL(filePath: "\(folder)/\(stem).wav"))
        // A quarter of a second, after the first second and a half.
        let wanted = file.dropFirst(4096 + 3 * 72_000).prefix(3 * 12_000)
        let address = "http://127.0.0.1:\(kit.library.port)/api/takes/\(stem)/files/\(stem).wav"
        let cookie = "Cookie: fieldfare=\(kit.token)"

        let (status, report) = try kit.run(
            OtherProgram.ffmpeg.path,
            [
                "-v", "error", "-headers", "\(cookie)\r\n", "-ss", "1.5", "-i", address, "-t", "0.25", "-f", "s24le",
                "\(kit.folder)/ffmpeg",
            ])
        #expect(status == 0, "\(report)")
        #expect(try Data(contentsOf: URL(filePath: "\(kit.folder)/ffmpeg")) == wanted)

        let (end, complaints) = try kit.run(
            OtherProgram.mpv.path,
            [
                "--no-config", "--no-video", "--http-header-fields=\(cookie)", "--start=1.5", "--length=0.25",
                "--ao=pcm",
                "--ao-pcm-waveheader=no", "--ao-pcm-file=\(kit.folder)/mpv", address,
            ])
        #expect(end == 0, "\(complaints)")
        // It plays 24 bits as the upper bits of 32.
        let played = try Data(contentsOf: URL(filePath: "\(kit.folder)/mpv"))
        let upper = Data(played.enumerated().filter { $0.offset % 4 != 0 }.map(\.element))
        // It rounds times to whole frames in its own way.
        let found = try #require(upper.firstRange(of: wanted.dropFirst(3).dropLast(3)))
        #expect([0, 3, 6].contains(found.lowerBound))
    }
}

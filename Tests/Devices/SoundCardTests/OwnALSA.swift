import Foundation
import Glibc

@testable import SoundCard

/// An ALSA configuration for the tests, with plug-ins as cards.
enum OwnALSA {
    /// The folder of the configuration, and of the files that its PCMs read and write.
    static func folder() throws -> String {
        try made.get()
    }

    private static let made = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldfare-alsa-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Three seconds of numbered samples, mono, 16 bits. (Where the file starts again, ALSA mixes up some samples.)
        let samples = (0..<144_000).map { Int16(truncatingIfNeeded: $0) }
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: "\(folder)/ramp.raw"))
        // Ten seconds, stereo: the first channel numbered, the second silent.
        let half = (0..<960_000).map { $0 % 2 == 0 ? Int16(truncatingIfNeeded: $0 / 2) : 0 }
        try half.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: "\(folder)/half.raw"))
        try Data(count: 960_000).write(to: URL(fileURLWithPath: "\(folder)/silence.raw"))
        let configuration = """
            pcm.ramp { type file slave.pcm null file /dev/null infile "\(folder)/ramp.raw" format raw }
            pcm.half { type file slave.pcm null file /dev/null infile "\(folder)/half.raw" format raw }
            pcm.silence { type file slave.pcm null file /dev/null infile "\(folder)/silence.raw" format raw }
            pcm.changing { type file slave.pcm null file /dev/null infile "\(folder)/changing.raw" format raw }
            pcm.broken { type hw }
            pcm.pipe { type file slave.pcm null file /dev/null infile "\(folder)/pipe" format raw }
            pcm.missing { type file slave.pcm null file /dev/null infile "\(folder)/nothing.raw" format raw }
            pcm.tape { type file slave.pcm null file "\(folder)/tape.raw" format raw }
            pcm.bytes { type plug slave { pcm null format U8 } }
            pcm.backwards { type plug slave { pcm null format S24_3BE } }
            pcm.narrow { type plug slave { pcm null rate 48000 format S16_LE channels 2 } }
            """
        try configuration.write(toFile: "\(folder)/asoundrc", atomically: true, encoding: .utf8)
        setenv("HOME", folder, 1)
        setenv("ALSA_CONFIG_PATH", "/usr/share/alsa/alsa.conf:\(folder)/asoundrc", 1)
        SoundCards.prepareProcess()
        return folder
    }
}

import Files
import Glibc
import TakeFiles
public import Takes
import TestBench

/// Finished takes in a temporary folder, for tests of code that reads them. The folder is removed with the last
/// reference.
public final class TakesOnDisk: Sendable {
    /// The parent folder of the others.
    public var path: String { folder.path }
    public var takes: String { "\(path)/takes" }
    public var library: String { "\(path)/library" }

    private let folder = TestFolder(in: .memory)

    /// Creates empty folders for takes and for a library.
    public init() {
        for name in ["takes", "library"] { folder.makeFolder(name) }
    }

    /// 2026-11-21T06:18:11.250000Z.
    public static let morning = WallTime(microseconds: 1_795_241_891_250_000)

    /// The sidecar of a take with one part.
    public static func sidecar(
        _ number: Int, kit: String = "heron07", started: WallTime = morning, seconds: Double = 10,
        markers: [String] = [], rateHz: Int = 48_000
    ) -> Sidecar {
        let name = TakeName(kit: kit, number: number, started: started)
        let format = StreamFormat(rateHz: rateHz, channels: 2, sampleFormat: .s16)
        var sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 5_000_000_000),
            bootID: "0b0c0d0e-0000-4000-8000-000000000001", clock: .ntp, card: "usb:0d8c:0014", format: format,
            preRollFrames: 0, gainDB: 12, agc: false, version: "0.1", startedBy: .button)
        sidecar.frames = Int64(seconds * Double(rateHz))
        sidecar.durationSeconds = seconds
        sidecar.endedBy = .stop
        sidecar.parts = [
            Sidecar.Part(
                file: name.audioFile(part: 1), firstFrame: .first, frames: sidecar.frames, format: format)
        ]
        sidecar.levels = [
            Sidecar.Levels(peakDBFS: -12, rmsDBFS: -20, clippedFrames: 0, filterClippedFrames: 0),
            Sidecar.Levels(peakDBFS: -13, rmsDBFS: -21, clippedFrames: 0, filterClippedFrames: 0),
        ]
        sidecar.markers = markers.map { Sidecar.Marker(atFrame: .first, note: $0) }
        return sidecar
    }

    /// The name of a take from `sidecar`.
    public static func name(_ sidecar: Sidecar) -> TakeName {
        TakeName(stem: sidecar.take, day: String(sidecar.started.prefix(10)))!
    }

    /// Writes a take as the recorder leaves it: audio files of `audioBytes` zeros, and then the sidecar, which is
    /// renamed.
    @discardableResult
    public func add(_ sidecar: Sidecar, audioBytes: Int = 44, in folder: String? = nil) throws -> TakeName {
        let name = Self.name(sidecar)
        let day = "\(folder ?? takes)/\(name.day)"
        mkdir(day, 0o755)
        for part in sidecar.parts { try write([UInt8](repeating: 0, count: audioBytes), to: "\(day)/\(part.file)") }
        try write(SidecarFile.bytes(sidecar), to: "\(day)/\(name.stem).json.tmp")
        rename("\(day)/\(name.stem).json.tmp", "\(day)/\(name.stem).json")
        return name
    }

    public func remove(_ take: TakeName) {
        for ending in ["json", "wav"] { unlink("\(takes)/\(take.day)/\(take.stem).\(ending)") }
    }

    public func write(_ bytes: [UInt8], to path: String) throws {
        let files = FileSystem()
        try files.write(bytes, to: try files.create(path, isNew: false), at: 0)
    }
}

extension TakesOnDisk {
    /// Writes a take whose audio files contain sound of the length in the sidecar, different in each file.
    /// - Parameters:
    ///   - hasFingerprint: whether the sidecar contains the fingerprints of the sound.
    ///   - folder: the folder of takes; nil for `takes`.
    ///   - makeSound: returns sound of a length in bytes. The seed is another one for each file.
    /// - Returns: the name, and the written sidecar.
    @discardableResult
    public func addSound(
        _ sidecar: Sidecar, hasFingerprint: Bool = true, in folder: String? = nil,
        makeSound: (_ bytes: Int, _ seed: Int) -> [UInt8] = { TakesOnDisk.sound(bytes: $0, seed: $1) }
    ) throws -> (name: TakeName, sidecar: Sidecar) {
        var sidecar = sidecar
        let name = Self.name(sidecar)
        let day = "\(folder ?? takes)/\(name.day)"
        mkdir(day, 0o755)
        for (index, part) in sidecar.parts.enumerated() {
            for (twin, file) in [part.file, part.unfilteredFile].enumerated() {
                guard let file else { continue }
                let format = part.streamFormat(channels: sidecar.channels).stored
                let sound = makeSound(Int(part.frames) * format.bytesPerFrame, 2 * index + twin)
                try write(Self.wave(sound, format), to: "\(day)/\(file)")
                guard hasFingerprint else { continue }
                var digest = SoundDigest()
                digest.update(sound)
                sidecar.parts[index].fingerprint = .capture
                if twin == 0 {
                    sidecar.parts[index].soundSHA256 = digest.hexadecimal
                } else {
                    sidecar.parts[index].unfilteredSoundSHA256 = digest.hexadecimal
                }
            }
        }
        try write(SidecarFile.bytes(sidecar), to: "\(day)/\(name.stem).json.tmp")
        rename("\(day)/\(name.stem).json.tmp", "\(day)/\(name.stem).json")
        return (name, sidecar)
    }

    /// Writes a take of one part with a given sound, whose fingerprint its sidecar gets.
    /// - Parameters:
    ///   - sound: whole frames, as many as the sidecar says.
    ///   - takes: the folder for takes.
    ///   - isDamaged: whether the sidecar has the fingerprint of another sound.
    public static func write(
        _ sidecar: Sidecar, _ sound: [UInt8], in takes: String, isDamaged: Bool = false
    ) throws {
        var sidecar = sidecar
        var digest = SoundDigest()
        digest.update(isDamaged ? [1, 2, 3] : sound)
        sidecar.parts[0].soundSHA256 = digest.hexadecimal
        sidecar.parts[0].fingerprint = .capture
        let format = sidecar.parts[0].streamFormat(channels: sidecar.channels).stored
        let day = "\(takes)/\(Self.name(sidecar).day)"
        let draft = "\(day)/\(sidecar.take).json.tmp"
        let files = FileSystem()
        mkdir(day, 0o755)
        let audio = try files.create("\(day)/\(sidecar.parts[0].file)", isNew: false)
        try files.write(Self.wave(sound, format), to: audio, at: 0)
        try files.write(SidecarFile.bytes(sidecar), to: try files.create(draft, isNew: false), at: 0)
        rename(draft, "\(day)/\(sidecar.take).json")
    }

    /// Pseudorandom bytes, computed from their position and `seed`.
    public static func sound(bytes: Int, seed: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: ($0 &+ seed &* 77) &* 0x9e37_79b1 >> 11) }
    }

    /// A WAV file of integers, with the shortest header.
    public static func wave(_ sound: [UInt8], _ format: StreamFormat) -> [UInt8] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let size = format.bytesPerFrame
        return Array("RIFF".utf8) + bytes(36 + sound.count, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4) + bytes(1, 2)
            + bytes(format.channels, 2) + bytes(format.rateHz, 4) + bytes(format.rateHz * size, 4) + bytes(size, 2)
            + bytes(8 * format.sampleFormat.bytesPerSample, 2) + Array("data".utf8) + bytes(sound.count, 4) + sound
    }
}

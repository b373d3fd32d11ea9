import FoundationEssentials
import Glibc
import TakeFiles
public import Takes

/// Finished takes in a folder of its own, for tests of what reads them; removed with its last reference.
public final class TakesOnDisk: Sendable {
    /// The folder around the others.
    public let path: String
    /// The folder for takes.
    public var takes: String { "\(path)/takes" }
    /// The library's folder.
    public var library: String { "\(path)/library" }

    /// An empty folder for takes, and one for a library.
    /// - Parameter place: where it is made; nil: in RAM where there is such a place.
    public init(in place: String? = nil) {
        let place = place ?? (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
        path = "\(place)/fieldfare-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        for folder in [path, takes, library] { mkdir(folder, 0o755) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// 2026-11-21T06:18:11.250000Z.
    public static let morning = WallTime(microseconds: 1_795_241_891_250_000)

    /// The sidecar of a take of one part.
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

    /// The name of a take that `sidecar` made.
    public static func name(_ sidecar: Sidecar) -> TakeName {
        TakeName(stem: sidecar.take, day: String(sidecar.started.prefix(10)))!
    }

    /// Writes a take as the recorder leaves it: the audio file, empty but for `audioBytes`, and then the sidecar, which is renamed.
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

    /// Removes a take's files.
    public func remove(_ take: TakeName) {
        for ending in ["json", "wav"] { unlink("\(takes)/\(take.day)/\(take.stem).\(ending)") }
    }

    /// Writes a file.
    public func write(_ bytes: [UInt8], to path: String) throws {
        let files = FileSystem()
        try files.write(bytes, to: try files.create(path, isNew: false), at: 0)
    }
}

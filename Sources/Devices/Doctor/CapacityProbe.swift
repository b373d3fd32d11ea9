import Glibc
package import TakeFiles
package import Takes

/// Finds out whether a storage has the memory that it says, by sentinels all over what is free of it, written and read back.
///
/// A false card takes every write and every sync. What fills the free space is one file without a name: whatever ends the process, the
/// kernel gives the space back. On FAT and exFAT, after a power cut, `fsck` does, which a kit runs before it mounts a stick.
package enum CapacityProbe {
    /// The result.
    package enum Outcome: Equatable, Sendable {
        case measured(CapacityMeasure)
        /// Nothing was written, for this reason.
        case skipped(String)
        case failed(FileError)
        case ended(Ending)
    }

    /// Why it ended before it was done.
    package enum Ending: Equatable, Sendable {
        case takeBegan
        /// A person, or the system, wanted it.
        case interrupted
    }

    /// The file's name: neither that of a day's folder nor that of a take, so that scans for takes ignore it.
    static let name = ".acceptance"
    /// Less free space is not worth it, in bytes.
    static let leastByteCount: Int64 = 32 << 20
    /// Beside the reserve so much stays free, in seconds of sound, unless that is more than an eighth of what is free: a take can begin
    /// at any moment, and the recorder does not report a disk that is nearly full.
    static let marginSeconds = 660.0

    /// Tests the storage that holds `directory`. Takes a minute at most, but for what a single write or sync takes.
    /// - Parameters:
    ///   - bytesPerSecond: what a second of a take needs.
    ///   - reserveBytes: so much stays free.
    ///   - seed: another one each time.
    ///   - device: what the folder lies on; nil: not known.
    ///   - ending: asked again and again: why it is to end now; nil: it goes on.
    package static func run(
        in directory: String, bytesPerSecond: Double, reserveBytes: Int64, seed: UInt64, device: BackingDevice?,
        files: FileSystem = FileSystem(), clock: any Clock = SystemClock(), ending: () -> Ending?
    ) -> Outcome {
        do throws(CapacityRun.Stop) {
            let place = try CapacityRun.reporting { () throws(FileError) in
                (kind: try files.kind(of: directory), free: try files.freeBytes(directory))
            }
            if case .volatile(let name) = place.kind { return .skipped("it is on \(name), which is kept in memory") }
            let mayAllocate = place.kind != .fat && place.kind != .exFAT
            if !mayAllocate, hasTakes(directory, files) {
                return .skipped(
                    "on \(place.kind.name) a false card loses takes by it, and there are some: copy them, remove them, and run "
                        + "this again")
            }
            let usable = max(0, place.free - reserveBytes)
            let margin = min(Int64(bytesPerSecond * marginSeconds), usable / 8)
            let byteCount = (usable - margin) & ~0xF_FFFF
            guard byteCount >= leastByteCount else { return .skipped("too little space is free to test it") }
            let device =
                device ?? BackingDevice(start: 0, byteCount: place.free, diskByteCount: place.free)
            let run = try CapacityRun(
                "\(directory)/\(name)", byteCount: byteCount, seed: seed, device: device, mayAllocate: mayAllocate,
                usedByteCount: max(0, device.byteCount - place.free), files: files, clock: clock)
            return .measured(try run.measure(ending))
        } catch {
            switch error {
            case .failed(let error): return .failed(error)
            case .ended(let ending): return .ended(ending)
            }
        }
    }

    private static func hasTakes(_ directory: String, _ files: FileSystem) -> Bool {
        ((try? files.entries(directory)) ?? []).contains(where: TakeName.isDay)
    }
}

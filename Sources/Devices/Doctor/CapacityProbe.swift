package import Files
import Glibc
package import Takes

/// Tests whether a storage has the capacity that it reports: it writes sentinels over all the free space and reads them
/// back.
///
/// A false card accepts every write and every sync. The free space is filled by one unlinked file: if the process ends
/// for any reason, the kernel frees the space. After a power cut on FAT and exFAT, `fsck` frees it, which a kit runs
/// before it mounts a stick.
package enum CapacityProbe {
    package enum Outcome: Equatable, Sendable {
        case measured(CapacityMeasure)
        /// Nothing was written, for this reason.
        case skipped(String)
        case failed(FileError)
        case ended(Ending)
    }

    /// Why the test ended early.
    package enum Ending: Equatable, Sendable {
        case takeBegan
        /// A person or the system stopped it.
        case interrupted
    }

    /// The file's name. It is neither the name of a day's folder nor that of a take, so scans for takes ignore it.
    static let name = ".acceptance"
    /// The least free space that is worth a test.
    static let leastByteCount: Int64 = 32 << 20
    /// In addition to the reserve, this many seconds of sound stay free, but at most an eighth of the free space. A
    /// take can begin at any moment, and the recorder must not report a nearly full disk.
    static let marginSeconds = 660.0

    /// Tests the storage that contains `directory`. The test takes at most a minute, plus the time of a single slow
    /// write or sync.
    /// - Parameters:
    ///   - bytesPerSecond: the data rate of a take.
    ///   - reserveBytes: the space that must stay free.
    ///   - seed: a different number for each test.
    ///   - device: the device of the folder, or nil if it is not known.
    ///   - ending: called repeatedly; returns why the test must end now, or nil to continue.
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

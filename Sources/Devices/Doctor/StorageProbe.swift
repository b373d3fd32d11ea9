package import Files
import Glibc
package import Takes

/// Writes to the storage of the takes, and measures the time.
package enum StorageProbe {
    package enum Outcome: Sendable {
        case measured(StorageSpeed)
        /// Nothing was written, for this reason.
        case skipped(String)
        case failed(FileError)
        /// The storage has not answered a write for this long.
        case stalled(Duration)

        static let braked = Outcome.skipped(Brake.reason)
    }

    /// Chunks are written with a sync after each. Their total is the amount that a fast card writes in a second or two.
    static let chunks = 32
    static let chunkBytes = 1 << 20
    /// Then one second of sound is written and synced this many times, as in a take.
    static let seconds = 16
    /// Each of the two phases ends after this time. A slow storage is judged by the data that it wrote until then.
    static let patience = Duration.seconds(4)
    /// The file's name. It is neither the name of a day's folder nor that of a take, so scans for takes ignore it.
    static let name = ".doctor"

    /// Measures the storage that contains `directory`. The file is unlinked before it is written, so that nothing is
    /// left behind.
    /// - Parameters:
    ///   - bytesPerSecond: the data rate of a take.
    ///   - reserveBytes: the space that must stay free.
    ///   - brake: ends the measurement after the current write.
    package static func run(
        in directory: String, bytesPerSecond: Double, reserveBytes: Int64, brake: Brake,
        files: FileSystem = FileSystem(), clock: any Clock = SystemClock()
    ) -> Outcome {
        do throws(FileError) {
            let free = try files.freeBytes(directory)
            let path = "\(directory)/\(name)"
            // A process that was killed between the next two calls left an empty file. The file may also be a link that
            // someone else made, which must not be followed.
            try? files.remove(path)
            let file = try files.create(path, isNew: true)
            try files.remove(path)
            let secondBytes = max(1 << 12, min(chunkBytes, Int(bytesPerSecond)))
            guard free - Int64(chunks * chunkBytes + secondBytes) >= reserveBytes else {
                return .skipped("too little space is free to measure it")
            }
            var speed = StorageSpeed()
            let noise = noise(chunkBytes)
            var offset: Int64 = 0
            var began = clock.now()
            var last = began
            for _ in 0..<chunks where last - began < patience {
                if brake.isPulled { return .braked }
                try files.write(noise, to: file, at: offset)
                try files.syncData(file)
                last = clock.now()
                offset += Int64(chunkBytes)
            }
            speed.bytes = offset
            speed.writing = last - began
            let second = Array(noise.prefix(secondBytes))
            began = last
            for _ in 0..<seconds where last - began < patience {
                if brake.isPulled { return .braked }
                try files.write(second, to: file, at: offset)
                let written = clock.now()
                try files.syncData(file)
                last = clock.now()
                speed.syncs.append(last - written)
            }
            return .measured(speed)
        } catch {
            return .failed(error)
        }
    }

    /// Bytes that no storage can compress.
    private static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}

/// The measured write speed of a storage.
package struct StorageSpeed: Equatable, Sendable {
    /// Bytes that were written and synced in large chunks.
    var bytes: Int64 = 0
    /// The time for these bytes.
    var writing = Duration.zero
    /// The duration of each sync of one second of sound.
    var syncs: [Duration] = []

    var bytesPerSecond: Double { Double(bytes) / max(1e-9, writing.inSeconds) }
    var median: Duration { syncs.isEmpty ? .zero : syncs.sorted()[syncs.count / 2] }
    var longest: Duration { syncs.max() ?? .zero }
}

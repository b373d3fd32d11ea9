import Glibc
package import TakeFiles
package import Takes

/// Writes to the storage where takes are kept, and measures how long it takes.
package enum StorageProbe {
    /// The result.
    package enum Outcome: Sendable {
        case measured(StorageSpeed)
        /// Nothing was written, for this reason.
        case skipped(String)
        case failed(FileError)
        /// The storage has not answered a write for this long.
        case stalled(Duration)

        static let braked = Outcome.skipped(Brake.reason)
    }

    /// Chunks are written with a sync after each: as much as a fast card writes in a second or two.
    static let chunks = 32
    static let chunkBytes = 1 << 20
    /// Then a second's sound is written and synced so often, as a take does it.
    static let seconds = 16
    /// Each of the two ends after this time: a slow storage is judged by what it wrote until then.
    static let patience = Duration.seconds(4)
    /// The file's name: neither that of a day's folder nor that of a take, so that scans for takes ignore it.
    static let name = ".doctor"

    /// Measures the storage that holds `directory`. The file is removed before it is written, so that nothing is left behind.
    /// - Parameters:
    ///   - bytesPerSecond: what a second of a take needs.
    ///   - reserveBytes: so much stays free.
    ///   - brake: ends the measurement after the write that is under way.
    package static func run(
        in directory: String, bytesPerSecond: Double, reserveBytes: Int64, brake: Brake,
        files: FileSystem = FileSystem(), clock: any Clock = SystemClock()
    ) -> Outcome {
        do throws(FileError) {
            let free = try files.freeBytes(directory)
            let path = "\(directory)/\(name)"
            // A process that was killed between the next two calls left the file, empty. It may also be a link of someone
            // else, which must not be followed.
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

/// How fast a storage writes.
package struct StorageSpeed: Equatable, Sendable {
    /// Bytes that were written and synced in large chunks.
    var bytes: Int64 = 0
    /// The time that took.
    var writing = Duration.zero
    /// How long each sync of a second's sound took.
    var syncs: [Duration] = []

    var bytesPerSecond: Double { Double(bytes) / max(1e-9, writing.inSeconds) }
    var median: Duration { syncs.isEmpty ? .zero : syncs.sorted()[syncs.count / 2] }
    var longest: Duration { syncs.max() ?? .zero }
}

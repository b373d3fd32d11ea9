import Glibc
import Synchronization
package import TakeFiles
package import Takes

/// Writes to the storage where takes are kept, and measures how long it takes.
package enum StorageProbe {
    /// What came of it.
    package enum Outcome: Sendable {
        case measured(StorageSpeed)
        /// It was not tried, because…
        case skipped(String)
        case failed(FileError)
        /// The storage has not answered for so long.
        case stalled(Duration)

        static let braked = Outcome.skipped("a take began meanwhile: run this again")
    }

    /// Ends a probe early, from another thread: a take wants the storage for itself.
    package final class Brake: Sendable {
        private let isSet = Atomic<Bool>(false)

        /// Not pulled yet.
        package init() {}

        /// The probe ends after the write that is under way.
        package func pull() { isSet.store(true, ordering: .relaxed) }

        var isPulled: Bool { isSet.load(ordering: .relaxed) }
    }

    /// Written with a sync after each, as much as a fast card takes in a second or two.
    static let chunks = 32
    static let chunkBytes = 1 << 20
    /// Syncs of a second's sound each, as a take does them.
    static let seconds = 16
    /// A slow storage is judged by what it did in this time, of each.
    static let patience = Duration.seconds(4)
    /// Neither a day's folder nor a take's file, so that whoever looks for takes passes it over.
    static let name = ".doctor"

    /// Measures where `directory` is. The file has no name any more while it is written: nothing is left behind.
    /// - Parameters:
    ///   - bytesPerSecond: what a second of a take needs.
    ///   - reserveBytes: so much stays free.
    package static func run(
        in directory: String, bytesPerSecond: Double, reserveBytes: Int64, brake: Brake,
        files: FileSystem = FileSystem(), clock: any Clock = SystemClock()
    ) -> Outcome {
        do throws(FileError) {
            let free = try files.freeBytes(directory)
            let path = "\(directory)/\(name)"
            // One that was killed between the next two calls left it, empty. Whatever bears the name, and wherever it may
            // lead, is not what is written to.
            try? files.remove(path)
            let file = try files.create(path, isNew: true)
            try files.remove(path)
            let secondBytes = max(1 << 12, min(chunkBytes, Int(bytesPerSecond)))
            guard free - Int64(chunks * chunkBytes + secondBytes) >= reserveBytes else {
                return .skipped("too little is free to try it")
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

    /// Bytes that no storage can make fewer of.
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

/// How fast a storage took what it was given.
package struct StorageSpeed: Equatable, Sendable {
    /// Written and synced in large pieces…
    var bytes: Int64 = 0
    /// …in this time.
    var writing = Duration.zero
    /// How long each sync of a second's sound took.
    var syncs: [Duration] = []

    var bytesPerSecond: Double { Double(bytes) / max(1e-9, writing.inSeconds) }
    var median: Duration { syncs.isEmpty ? .zero : syncs.sorted()[syncs.count / 2] }
    var longest: Duration { syncs.max() ?? .zero }
}

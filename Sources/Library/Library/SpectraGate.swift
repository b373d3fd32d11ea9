/// Decides when the columns of a take may be computed, and how much of the disk they may take. Pure.
struct SpectraGate: Hashable, Sendable {
    /// Whether the settings name a battery. No service knows whether a battery or the mains supplies the kit now.
    var hasBattery: Bool
    /// The recorder ends a recording before less than this is free.
    var reservedBytes: Int64

    /// The sound that the recorder has not stored yet.
    enum Recording: Hashable, Sendable {
        /// Nothing is recorded, or no recorder runs.
        case none
        /// The newest frames, of this length, are not on the disk.
        case unsynced(seconds: Double)
        /// The recorder does not answer.
        case unknown
    }

    /// For whom columns are computed, in the order of urgency.
    enum Wish: Int, Hashable, Comparable, Sendable {
        /// Nobody has looked at the take, which is an older one.
        case background
        /// The take is new, and its sound is being read to be compared anyway.
        case newTake
        /// A person is looking at the take.
        case look

        static func < (left: Wish, right: Wish) -> Bool { left.rawValue < right.rawValue }
    }

    /// The file system with the files of columns.
    struct Space: Hashable, Sendable {
        var freeBytes: Int64
        /// The size of the file system, or 0 if it is unknown.
        var totalBytes: Int64
        /// The length of all files of columns.
        var usedBytes: Int64
    }

    /// The seconds of sound that may wait to be stored. A recorder that keeps up has at most those of one sync.
    var longestLag = 2.0

    /// Whether columns may be computed while the recorder does this.
    func allows(_ wish: Wish, during recording: Recording) -> Bool {
        switch recording {
        case .none: break
        case .unsynced(let seconds): guard seconds <= longestLag else { return false }
        // It may be recording, and have no time to answer.
        case .unknown: return false
        }
        return !hasBattery || wish == .look
    }

    /// The space that columns must leave free: 5 % of the file system, and 256 MiB above the recorder's reserve. Columns
    /// are then removed before a recording ends because the disk is full.
    func leastFree(_ space: Space) -> Int64 {
        max(space.totalBytes / 20, reservedBytes + Self.leastMargin)
    }

    private static let leastMargin: Int64 = 256 << 20

    /// The most that all files may take: 2 % of the file system, and 256 MiB on a small one. A disk that is full of sound
    /// with 24 bits at 48 kHz has columns of 2 %. A day of one channel has 240 MB.
    func mostUsed(_ space: Space) -> Int64 { max(space.totalBytes / 50, Self.leastShare) }

    private static let leastShare: Int64 = 256 << 20

    /// The bytes of columns to remove before a file may be written; 0 or less if there is room for it.
    /// - Parameter needed: the length of the file, or 0 to make room for others only.
    func excess(_ space: Space, for needed: Int64 = 0) -> Int64 {
        max(leastFree(space) + needed - space.freeBytes, space.usedBytes + needed - mostUsed(space))
    }
}

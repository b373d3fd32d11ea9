package import Files
import Glibc
package import TakeFiles
package import Takes
import Workers

package enum StorageOrder: Sendable {
    /// Open the folder for takes.
    /// - `stick`: its folder is tried first.
    /// - `path`: the folder elsewhere, or nil for none.
    /// - `mustBeOwn`: the folder was on its own storage, such as a memory card. A folder with the same name on another
    ///   storage must not be used.
    /// - `recorded`: the folder of the take in progress, or nil if no take is recorded.
    case open(stick: Stick?, path: String?, mustBeOwn: Bool, recorded: String? = nil)
    /// Check whether a stick is mounted, and whether the given number of bytes is free on it.
    case findStick(Stick, leastBytes: Int64)
    /// Check that the folder is in its place and writable, and how much is free.
    /// - `day`: the folder of a take that would begin now.
    case check(TakesDirectory, day: String)
    /// As `check`, and write something.
    case probe(TakesDirectory, day: String)
}

/// The reports of the storage's worker, one for each order.
package enum StorageOutcome: Sendable {
    /// `unusedStick` says why the inserted stick is not used.
    case opened(TakesDirectory, takes: [TakeName], isOwn: Bool, unusedStick: String?)
    /// One sentence says why the folder cannot be opened.
    case absent(String)
    /// The mounted stick, or nil for none. `hasRoom`: whether the requested number of bytes is free.
    case foundStick(FileIdentity?, hasRoom: Bool)
    case checked(TakesDirectory, StorageReading)
}

package enum StorageReading: Hashable, Sendable {
    case free(Int64)
    /// The folder was removed, or another is in its place.
    case moved
    /// It cannot be read or written. `isDiskFull`: because it lacks room for a file.
    case failed(String, isDiskFull: Bool = false)
}

/// Opens and checks the folder for takes, in a worker, because the storage may block.
struct StorageWork {
    let files: FileSystem
    let mark: KitMark?
    let key: KitKey?
    let clock: any Clock

    static func worker(
        files: FileSystem, mark: KitMark?, key: KitKey?, clock: any Clock
    ) -> Worker<StorageOrder, StorageOutcome> {
        let work = StorageWork(files: files, mark: mark, key: key, clock: clock)
        var held: [Held] = []
        return Worker(clock: clock) { orders, now, outcomes in
            var still: [Held] = []
            for hold in held + orders.map({ Held(order: $0, since: now) }) {
                do throws(HeldByUs) {
                    outcomes.post(try work.carryOut(hold.order, mayBeHeld: now - hold.since < lockPatience))
                } catch {
                    still.append(hold)
                }
            }
            held = still
            return held.isEmpty ? nil : now + lockInterval
        }
    }

    /// An order that waits until this process has released the folder.
    private struct Held {
        var order: StorageOrder
        var since: Instant
    }

    /// A part of this process, such as the archivist, has not released the folder yet.
    private struct HeldByUs: Error {}

    private static let lockPatience = Duration.seconds(2)
    private static let lockInterval = Duration.milliseconds(20)

    private func carryOut(_ order: StorageOrder, mayBeHeld: Bool) throws(HeldByUs) -> StorageOutcome {
        switch order {
        case .open(let stick, let path, let mustBeOwn, let recorded):
            key?.prepare()
            return try open(stick, path, recorded, mustBeOwn: mustBeOwn, mayBeHeld: mayBeHeld)
        case .findStick(let stick, let leastBytes): return find(stick, leastBytes: leastBytes)
        case .check(let directory, let day): return .checked(directory, read(directory, day) {})
        case .probe(let directory, let day):
            return .checked(directory, read(directory, day) { () throws(FileError) in try directory.probe(day: day) })
        }
    }

    private func find(_ stick: Stick, leastBytes: Int64) -> StorageOutcome {
        guard let found = mounted(stick) else { return .foundStick(nil, hasRoom: false) }
        let free = (try? files.freeBytes(stick.mountPoint)) ?? 0
        let isOpen = (try? files.freeFiles(stick.mountPoint)) != .some(.some(0))
        return .foundStick(found, hasRoom: isOpen && free >= leastBytes)
    }

    /// The identity of the mounted stick, or nil for none.
    private func mounted(_ stick: Stick) -> FileIdentity? {
        guard let slash = stick.mountPoint.lastIndex(of: "/"),
            let around = try? files.identity(String(stick.mountPoint[..<slash])),
            let found = try? files.identity(stick.mountPoint)
        else { return nil }
        return found.device == around.device ? nil : found
    }

    private func open(
        _ stick: Stick?, _ path: String?, _ recorded: String?, mustBeOwn: Bool, mayBeHeld: Bool
    ) throws(HeldByUs) -> StorageOutcome {
        var unused: String?
        if let stick, mounted(stick) != nil {
            // A link on an unknown stick could lead into the kit's own folders.
            let outcome = try open(stick.folder, recorded, mustBeOwn: false, mayBeLink: false, mayBeHeld: mayBeHeld)
            guard case .absent(let message) = outcome, path != nil else { return outcome }
            unused = message
        }
        guard let path else { return .absent("storage: no stick for the takes is in: plug one in") }
        let outcome = try open(path, recorded, mustBeOwn: mustBeOwn, mayBeHeld: mayBeHeld)
        guard case .opened(let directory, let takes, let isOwn, _) = outcome else { return outcome }
        return .opened(directory, takes: takes, isOwn: isOwn, unusedStick: unused)
    }

    private func open(
        _ path: String, _ recorded: String?, mustBeOwn: Bool, mayBeLink: Bool = true, mayBeHeld: Bool
    ) throws(HeldByUs) -> StorageOutcome {
        do {
            if !mayBeLink {
                do throws(FileError) {
                    _ = try files.openFolder(path, followsLink: false)
                } catch {
                    // A missing folder is created later.
                    guard error.code == ENOENT else { throw error }
                }
            }
            if mustBeOwn, !TakesDirectory.isOnOwnStorage(path, files: files) {
                // Otherwise a folder with the same name would be created on the kit's own disk.
                throw FileError("open", path, code: ENOENT)
            }
            let (directory, takes) = try TakesDirectory.open(path: path, files: files, mark: mark, key: key)
            return .opened(directory, takes: takes, isOwn: directory.isOnOwnStorage, unusedStick: nil)
        } catch let error as TakesLockError where error.processID == getpid() {
            if mayBeHeld { throw HeldByUs() }
            return .absent("storage: \(path): a part of the recorder has not let go of it: if that lasts, restart it")
        } catch let error as TakesLockError where error.sign == .file && error.directory == recorded {
            let event = "it was moved or removed while a take is recorded, which goes on in a new folder"
            return .absent("storage: \(path): \(event): stop the take, then move the days of the old folder into it")
        } catch {
            return .absent("storage: \(error)")
        }
    }

    private func read(
        _ directory: TakesDirectory, _ day: String, _ attempt: () throws(FileError) -> Void
    ) -> StorageReading {
        do throws(FileError) {
            guard try directory.isInPlace() else { return .moved }
            do throws(TakesLockError) {
                try directory.renewLock()
            } catch {
                return .failed("storage: \(error)")
            }
            try directory.checkWritable()
            try directory.checkRoom(day: day)
            try attempt()
            return .free(try directory.freeBytes())
        } catch {
            return .failed("storage: \(error)", isDiskFull: error.isDiskFull)
        }
    }
}

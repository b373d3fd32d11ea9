import Glibc
package import TakeFiles
package import Takes
import Workers

/// What the deck orders from the worker of the storage.
package enum StorageOrder: Sendable {
    /// Open the folder for takes.
    /// - `stick`: its folder comes first.
    /// - `path`: the folder elsewhere; nil: there is none.
    /// - `mustBeOwn`: it was on a storage of its own, such as a card: a folder of the same name elsewhere is not it.
    case open(stick: Stick?, path: String?, mustBeOwn: Bool)
    /// Look whether a stick is mounted.
    case findStick(Stick)
    /// Check that the folder is in its place and can be written, and how much is free.
    case check(TakesDirectory)
    /// The same, and write something.
    case probe(TakesDirectory)
}

/// What the worker of the storage reports; one outcome for each order.
package enum StorageOutcome: Sendable {
    case opened(TakesDirectory, takes: [TakeName], isOwn: Bool)
    /// One sentence says why it cannot be opened.
    case absent(String)
    /// What is mounted for the stick; nil: nothing.
    case foundStick(FileIdentity?)
    case checked(TakesDirectory, StorageReading)
}

/// What a check of the storage found.
package enum StorageReading: Hashable, Sendable {
    case free(Int64)
    /// The folder was removed, or another is in its place.
    case moved
    /// It cannot be read or written.
    case failed(String)
}

/// Opens and checks the folder for takes: what may last as long as the storage does.
struct StorageWork {
    let files: FileSystem
    let mark: KitMark?

    /// A worker of the storage.
    static func worker(
        files: FileSystem, mark: KitMark?, clock: any Clock
    ) -> Worker<StorageOrder, StorageOutcome> {
        let work = StorageWork(files: files, mark: mark)
        return Worker(clock: clock) { orders, _, outcomes in
            for order in orders { outcomes.post(work.carryOut(order)) }
            return nil
        }
    }

    private func carryOut(_ order: StorageOrder) -> StorageOutcome {
        switch order {
        case .open(let stick, let path, let mustBeOwn): open(stick, path, mustBeOwn: mustBeOwn)
        case .findStick(let stick): .foundStick(mounted(stick))
        case .check(let directory): .checked(directory, read(directory) {})
        case .probe(let directory):
            .checked(directory, read(directory) { () throws(FileError) in try directory.probe() })
        }
    }

    /// What is mounted for a stick; nil: nothing.
    private func mounted(_ stick: Stick) -> FileIdentity? {
        guard let slash = stick.mountPoint.lastIndex(of: "/"),
            let around = try? files.identity(String(stick.mountPoint[..<slash])),
            let found = try? files.identity(stick.mountPoint)
        else { return nil }
        return found.device == around.device ? nil : found
    }

    private func open(_ stick: Stick?, _ path: String?, mustBeOwn: Bool) -> StorageOutcome {
        var problem = "there is no stick for the takes: plug one in"
        if let stick, mounted(stick) != nil {
            let outcome = open(stick.folder, mustBeOwn: false)
            guard case .absent(let message) = outcome, path != nil else { return outcome }
            problem = message
        }
        guard let path else { return .absent("storage: \(problem)") }
        return open(path, mustBeOwn: mustBeOwn)
    }

    private func open(_ path: String, mustBeOwn: Bool) -> StorageOutcome {
        do {
            if mustBeOwn, !TakesDirectory.isOnOwnStorage(path, files: files) {
                // A folder of the same name would be made on the kit's own disk.
                throw FileError("open", path, code: ENOENT)
            }
            let (directory, takes) = try TakesDirectory.open(path: path, files: files, mark: mark)
            return .opened(directory, takes: takes, isOwn: directory.isOnOwnStorage)
        } catch {
            return .absent("storage: \(error)")
        }
    }

    private func read(
        _ directory: TakesDirectory, _ attempt: () throws(FileError) -> Void
    ) -> StorageReading {
        do throws(FileError) {
            guard try directory.isInPlace() else { return .moved }
            try directory.checkWritable()
            try attempt()
            return .free(try directory.freeBytes())
        } catch {
            return .failed("storage: \(error)")
        }
    }
}

import Catalog
import Glibc
import TakeFiles
import Takes

/// Compares a folder for takes with the catalog, and catalogs the changes.
struct FolderScan {
    let catalog: Catalog
    let storage: Storage
    /// The number of the storage in the catalog.
    let number: Int64
    let files: FileSystem
    let progress: ScanProgress
    /// Receives a sentence about each file or folder that cannot be cataloged.
    let report: (String) -> Void

    /// The number of takes in one transaction: large enough to make the sync cheap, small enough to need little memory.
    private static let batch = 200

    private var folder: TakesFolder { TakesFolder(path: storage.path, files: files) }

    /// Scans all days.
    /// - Throws: `Stopped`; `StorageChanged`; `FileError` if the folder cannot be read; an error of the database.
    func all() throws {
        let noted = Set(try catalog.takesWithNotes().map(\.stem))
        let days = try files.entries(storage.path).filter(TakeName.isDay)
        for day in days.sorted() { try scan(day: day, noted: noted) }
        let gone = try catalog.days(of: number).subtracting(days)
        try checkStorage()
        for day in gone {
            try catalog.remove(Array(try catalog.known(of: number, day: day).keys), of: day, on: number)
        }
    }

    /// Scans one day. A day that cannot be read is skipped and reported.
    /// - Parameter noted: the stems for which the library has files of its own, or nil if not known.
    func scan(day: String, noted: Set<String>? = nil) throws {
        let entries: [String]
        do throws(FileError) {
            entries = try files.dayEntries("\(storage.path)/\(day)")
        } catch {
            guard error.code != ENOENT else { return try removeDay(day) }
            return report("library: \(error.fact): its takes are passed over")
        }
        var known = try catalog.known(of: number, day: day)
        let takes = entries.compactMap { finished($0, day: day) }
        progress.add(total: takes.count)
        var changed: [StoredTake] = []
        for take in takes.sorted() {
            progress.add(done: 1)
            let old = known.removeValue(forKey: take.stem)
            guard try isChanged(take, from: old, noted), let stored = read(take) else { continue }
            changed.append(stored)
            if changed.count >= Self.batch { try index(&changed) }
        }
        try index(&changed)
        guard !known.isEmpty else { return }
        try checkStorage()
        try catalog.remove(Array(known.keys), of: day, on: number)
    }

    /// Catalogs one take, or removes it from the catalog if its sidecar is gone.
    func scan(_ take: TakeName) throws {
        do throws(FileError) {
            _ = try folder.sidecarAttributes(of: take)
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { return report("library: \(error.fact)") }
            try checkStorage()
            progress.settle(take.stem)
            return try catalog.remove([take.stem], of: take.day, on: number)
        }
        guard let stored = read(take) else { return }
        var changed = [stored]
        try index(&changed)
    }

    /// The take that has this file as its sidecar, or nil if the file is not a sidecar.
    func finished(_ file: String, day: String) -> TakeName? {
        guard file.hasSuffix(".json") else { return nil }
        return TakeName(stem: String(file.dropLast(5)), day: day)
    }

    private func removeDay(_ day: String) throws {
        try checkStorage()
        try catalog.remove(Array(try catalog.known(of: number, day: day).keys), of: day, on: number)
    }

    private func isChanged(_ take: TakeName, from old: Catalog.Known?, _ noted: Set<String>?) throws -> Bool {
        guard !progress.isStopping else { throw Stopped() }
        guard let old else { return true }
        guard let attributes = try? folder.sidecarAttributes(of: take) else { return false }
        let hasNotes = noted?.contains(take.stem) ?? true
        return !old.isOf(attributes, notesModifiedNs: hasNotes ? catalog.notesModified(of: old.identity) : 0)
    }

    private func read(_ take: TakeName) -> StoredTake? {
        do {
            return try StoredTake(take, in: folder)
        } catch let error as FileError where error.code == ENOENT {
            // The take was deleted in the meantime.
            return nil
        } catch {
            progress.note("\(error)", of: take.stem)
            report("library: \(error)")
            return nil
        }
    }

    private func index(_ takes: inout [StoredTake]) throws {
        guard !takes.isEmpty else { return }
        let failures = try catalog.index(takes, on: number, at: storage.path)
        for take in takes { progress.settle(take.name.stem) }
        for failure in failures {
            progress.note(failure.description, of: failure.take)
            report("library: \(failure)")
        }
        takes = []
    }

    /// A folder that is empty because its storage was unmounted does not mean that takes were deleted.
    private func checkStorage() throws {
        guard Storage(at: storage.path) == storage else { throw StorageChanged() }
    }

    /// The storage was removed, or another one is in its place.
    struct StorageChanged: Error {}
    /// The library is shutting down.
    struct Stopped: Error {}
}

/// The progress of a scan. Thread-safe.
final class ScanProgress: Sendable {
    private let state = Locked(State())

    private struct State {
        var scan: Scan?
        var isStopping = false
        var scans = 0
        /// One sentence per stem.
        var problems: [String: String] = [:]
    }

    /// The number of compared takes (`done`), and of takes found so far (`total`).
    struct Scan: Hashable, Sendable {
        var done = 0
        var total = 0
    }

    /// The scan in progress, or nil.
    var scan: Scan? { state.withLock(\.scan) }

    /// Whether a scan of all takes was completed.
    var hasScanned: Bool { state.withLock { $0.scans > 0 } }

    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Begins a scan of everything and forgets all problems, because the scan finds those that remain.
    func begin() {
        state.withLock { state in
            state.scan = Scan()
            state.problems = [:]
        }
    }

    func add(done: Int = 0, total: Int = 0) {
        state.withLock { state in
            state.scan?.done += done
            state.scan?.total += total
        }
    }

    func end() -> Scan {
        state.withLock { state in
            defer { state.scan = nil }
            state.scans += 1
            return state.scan ?? Scan()
        }
    }

    /// The takes that cannot be used, sorted by stem, each with a sentence.
    var problems: [(take: String, problem: String)] {
        state.withLock(\.problems).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Records why a take or its notes cannot be used.
    func note(_ problem: String, of take: String) { state.withLock { $0.problems[take] = problem } }

    /// Forgets the problem of a take that is gone or was repaired.
    func settle(_ take: String) { state.withLock { $0.problems[take] = nil } }

    func stop() { state.withLock { $0.isStopping = true } }
}

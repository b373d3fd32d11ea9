import Catalog
import Files
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
    var release = StickRelease()
    /// Receives a sentence about each file or folder that cannot be cataloged.
    let report: (String) -> Void

    private var folder: TakesFolder { TakesFolder(path: storage.path, files: files) }

    /// Scans all days.
    /// - Throws: `Stopped`; `StickLeaves`; `StorageChanged`; `FileError` if the folder cannot be read; an error of the
    ///   database.
    func all() throws {
        let noted = Set(try catalog.takesWithNotes().map(\.stem))
        let days = try files.entries(storage.path).filter(TakeName.isDay)
        let changed = ScannedTakes(of: self)
        for day in days.sorted() { try compare(day, noted, changed) }
        try changed.finish()
        let gone = try catalog.days(of: number).subtracting(days)
        try checkStorage()
        for day in gone {
            try catalog.remove(Array(try catalog.known(of: number, day: day).keys), of: day, on: number)
        }
    }

    /// Scans one day. A day that cannot be read is skipped and reported.
    func scan(day: String) throws {
        let changed = ScannedTakes(of: self)
        try compare(day, nil, changed)
        try changed.finish()
    }

    /// Reads the changed takes of a day.
    /// - Parameter noted: the stems for which the library has files of its own, or nil if not known.
    private func compare(_ day: String, _ noted: Set<String>?, _ changed: ScannedTakes) throws {
        try checkMayOpen()
        let folder: TakesDay
        let entries: [String]
        do throws(FileError) {
            folder = try self.folder.open(day: day)
            entries = try folder.entries()
        } catch {
            guard error.code == ENOENT else {
                return report("library: \(error.fact): its takes are passed over")
            }
            // This comes first: takes of the removed day may have been moved to another day that was read.
            try changed.finish()
            return try removeDay(day)
        }
        let takes = entries.compactMap { finished($0, day: day) }
        var known = try catalog.known(of: number, day: day)
        if changed.contains(anyOf: known.keys) || changed.contains(anyOf: takes.map(\.stem)) {
            // The take is on another day that was read as well, or was moved there. That day comes first.
            try changed.finish()
            known = try catalog.known(of: number, day: day)
        }
        progress.add(total: takes.count)
        for take in takes.sorted() {
            progress.add(done: 1)
            try checkMayOpen()
            let old = known.removeValue(forKey: take.stem)
            guard isChanged(take, in: folder, from: old, noted), var stored = read(take, in: folder) else { continue }
            stored.mayHaveNotes = noted?.contains(take.stem) ?? true
            try changed.add(stored)
        }
        guard !known.isEmpty else { return }
        try checkStorage()
        try catalog.remove(Array(known.keys), of: day, on: number)
    }

    /// Catalogs one take, or removes it from the catalog if its sidecar is gone.
    func scan(_ take: TakeName) throws {
        try checkMayOpen()
        let day: TakesDay
        do throws(FileError) {
            day = try folder.open(day: take.day)
            _ = try day.sidecarAttributes(of: take)
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { return report("library: \(error.fact)") }
            try checkStorage()
            progress.settle(take.stem)
            return try catalog.remove([take.stem], of: take.day, on: number)
        }
        guard let stored = read(take, in: day) else { return }
        let changed = ScannedTakes(of: self)
        try changed.add(stored)
        try changed.finish()
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

    private func isChanged(
        _ take: TakeName, in day: TakesDay, from old: Catalog.Known?, _ noted: Set<String>?
    ) -> Bool {
        guard let old else { return true }
        guard let attributes = try? day.sidecarAttributes(of: take) else { return false }
        let hasNotes = noted?.contains(take.stem) ?? true
        return !old.isOf(attributes, notesModifiedNs: hasNotes ? catalog.notesModified(of: old.identity) : 0)
    }

    private func read(_ take: TakeName, in day: TakesDay) -> StoredTake? {
        do {
            return try StoredTake(take, in: folder, day)
        } catch let error as FileError where error.code == ENOENT {
            // The take was deleted in the meantime.
            return nil
        } catch {
            progress.note("\(error)", of: take.stem)
            report("library: \(error)")
            return nil
        }
    }

    /// Must be called before the files of each take are opened.
    private func checkMayOpen() throws {
        guard !progress.isStopping else { throw Stopped() }
        guard !release.concerns(storage.path) else { throw StickLeaves() }
    }

    /// A folder that is empty because its storage was unmounted does not mean that takes were deleted.
    private func checkStorage() throws {
        guard Storage(at: storage.path) == storage else { throw StorageChanged() }
    }

    /// The storage was removed, or another one is in its place.
    struct StorageChanged: Error {}
    /// The storage is a stick that is being unmounted.
    struct StickLeaves: Error {}
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

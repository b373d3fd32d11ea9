import Catalog
import Files
import Logging
import TakeFiles
import Takes

/// Computes the columns of takes without files: first those that somebody looks at, then all others, the newest first.
/// Not thread-safe.
///
/// It works in slices, each a call of `turn`, so that it ends and changes its mind at once.
final class SpectraWork {
    private let desk: SpectraDesk
    private let catalogs: CatalogSlot
    /// Whether the catalog has all takes. Before that, a file without a take is not that of a deleted one.
    private let isScanned: () -> Bool
    private let files: FileSystem
    private let release: StickRelease
    private let log: Logger
    private var stage = Stage.resting
    private var queue: Queue?
    private var reading: Reading?
    /// The parts that had a file when it last looked.
    private var known: Set<String> = []
    /// When the room and the files are examined again.
    private var due: Instant?
    private var reported = ""

    /// The work while nobody looks at a take.
    private enum Stage {
        case resting
        /// Examines which of these files belong to a take.
        case tidying([String])
        /// Looks for takes without files, behind this row of the catalog.
        case searching(before: Int64?)
    }

    /// The parts of one take that are still to be computed.
    private struct Queue {
        var take: TakeIdentity
        var wish: SpectraGate.Wish
        /// The folder of the take's day.
        var folder = ""
        var sounds: [RecordedSound] = []
    }

    private struct Reading {
        var check: SoundCheck
        var columns: SpectrumRecording
    }

    /// Space is short within minutes, at the highest rates.
    static let interval = Duration.seconds(60)
    private static let rowsAtATime = 50
    private static let filesAtATime = 100

    init(
        _ desk: SpectraDesk, _ catalogs: CatalogSlot, isScanned: @escaping () -> Bool,
        files: FileSystem = FileSystem(), release: StickRelease = StickRelease(), log: Logger
    ) {
        self.release = release
        self.desk = desk
        self.catalogs = catalogs
        self.isScanned = isScanned
        self.files = files
        self.log = log
    }

    /// Does what is due.
    /// - Returns: the time of the next call, unless there is work earlier.
    func turn(_ now: Instant) -> Instant {
        if let queue, release.concerns(queue.folder) {
            reading = nil
            leave()
            return now + SpectraDesk.pause
        }
        // Nobody looks any more, and this kit computes nothing unasked.
        if let queue, queue.wish == .look, !desk.worksUnasked, !desk.isAwaited(queue.take) {
            reading = nil
            leave()
        }
        if let reading { return goOn(reading, now) }
        do {
            let next = try next(now)
            reported = ""
            return next
        } catch {
            if reported != "\(error)" { log.info("spectra: \(error): the next attempt is in a minute") }
            reported = "\(error)"
            leave()
            return now + Self.interval
        }
    }

    /// Leaves the present take, which is found again.
    private func leave() {
        if queue != nil, case .searching = stage { stage = .searching(before: nil) }
        queue = nil
    }

    private func goOn(_ reading: Reading, _ now: Instant) -> Instant {
        do throws(FileError) {
            if let finding = try reading.check.step() {
                reading.columns.finish(finding)
                self.reading = nil
            } else if !reading.columns.isOpen {
                // The desk decides whether, and when, it begins again.
                queue?.sounds.insert(reading.columns.sound, at: 0)
                self.reading = nil
            }
        } catch {
            desk.refuse(reading.columns.sound.base, .failure(error.fact))
            self.reading = nil
        }
        return now
    }

    private func next(_ now: Instant) throws -> Instant {
        if due.map({ $0 <= now }) ?? true { examine(now) }
        if let take = desk.nextLook(), queue?.take != take {
            leave()
            queue = try parts(of: catalogs.catalog.location(of: take), take, .look)
        }
        if let queue { return begin(queue, now) }
        guard isScanned() else { return now + SpectraDesk.pause }
        let chores = desk.takeChores()
        if chores.contains(.tidy) {
            desk.removeDrafts()
            stage = .tidying(Array(desk.bases()))
        } else if chores.contains(.search) {
            switch stage {
            // It searches afterwards.
            case .tidying: break
            case .resting, .searching: stage = .searching(before: nil)
            }
        }
        switch stage {
        case .resting: return due ?? now + Self.interval
        case .tidying(let bases):
            for base in bases.prefix(Self.filesAtATime) {
                guard try !catalogs.catalog.listsSound(base) else { continue }
                desk.remove(base)
                known.remove(base)
            }
            let rest = Array(bases.dropFirst(Self.filesAtATime))
            stage = rest.isEmpty ? .searching(before: nil) : .tidying(rest)
        case .searching(let before): try search(before)
        }
        return now
    }

    /// Looks whether space is short, and whether somebody deleted files.
    private func examine(_ now: Instant) {
        desk.makeRoom()
        desk.forgetRefusals()
        let bases = desk.bases()
        if !known.isSubset(of: bases) { desk.add(.search) }
        known = bases
        due = now + Self.interval
    }

    /// Begins the first part of a take that is waiting.
    private func begin(_ queue: Queue, _ now: Instant) -> Instant {
        guard let sound = queue.sounds.first else {
            desk.settle(queue.take)
            self.queue = nil
            return now
        }
        switch desk.begin(sound, of: queue.take, queue.wish) {
        case .open(let columns):
            self.queue?.sounds.removeFirst()
            let check = SoundCheck(sound, in: queue.folder, files: files) { columns.append($0) }
            reading = Reading(check: check, columns: columns)
        case .needless: self.queue?.sounds.removeFirst()
        case .later: return now + SpectraDesk.pause
        case .noRoom:
            desk.settle(queue.take)
            self.queue = nil
            // Older takes need the room, too.
            if queue.wish == .background { stage = .resting }
        }
        return now
    }

    /// Finds the next take without files among some rows.
    private func search(_ before: Int64?) throws {
        guard desk.worksUnasked else {
            stage = .resting
            return
        }
        let page = try catalogs.catalog.heldSounds(before: before, limit: Self.rowsAtATime)
        let bases = desk.bases()
        known.formUnion(bases)
        guard let last = page.last else {
            stage = .resting
            return
        }
        guard let row = page.first(where: { !bases.isSuperset(of: $0.bases) }) else {
            stage = .searching(before: last.id)
            return
        }
        stage = .searching(before: row.id)
        queue = try parts(of: row.take, row.take.identity, .background)
    }

    /// The parts of a take whose columns can be computed: sound whose fingerprint is known, and that is not damaged.
    private func parts(
        of found: LocatedTake?, _ take: TakeIdentity, _ wish: SpectraGate.Wish
    ) throws -> Queue {
        var queue = Queue(take: take, wish: wish)
        guard let found else { return queue }
        let place = TakesFolder(path: found.folder, files: files)
        // The take may have been deleted meanwhile, or its storage removed.
        guard let sidecar = try? place.sidecar(of: found.take) else { return queue }
        let notes = try catalogs.catalog.readableNotes(of: take).notes.of(sidecar.recordingStart)
        queue.folder = place.folder(of: found.take)
        queue.sounds = sidecar.filteredSounds(notes).filter { sound in
            sound.sha256 != nil && notes.sound(of: sound.file)?.problem == nil
        }
        return queue
    }
}

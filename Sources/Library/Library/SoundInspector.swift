import CLinux
import Catalog
import Files
import Glibc
import Logging
import ServiceLifecycle
import TakeFiles
import Takes
import Transport
import Upload
import Workers

/// Compares the sound of takes with their sidecars: when they are first seen, before they are sent, and before they may
/// be deleted. The results are in the library's own file of the take. A damaged take is held until a person accepts it.
actor SoundInspector: ServiceLifecycle.Service {
    /// The files that are read.
    enum Depth {
        /// Only files that were never compared, or whose length or timestamps changed since.
        case changed
        /// All files, because bit rot changes neither length nor timestamps.
        case all
    }

    private let catalogs: CatalogSlot
    /// Gets the columns of sound that is read for the first time, or nil.
    private let spectra: SpectraDesk?
    /// Makes the recorder show a fault, or none with nil.
    private let show: @Sendable (String?) -> Void
    private let log: Logger
    private let files: FileSystem
    private let clock: any Clock
    private let release: StickRelease
    private let executor: ThreadExecutor
    private nonisolated let freed = Locked<@Sendable () -> Void>({})
    private nonisolated let isEnding = Locked(false)
    private nonisolated let looks = Looks()
    /// Why takes could not be compared. Each reason is logged once.
    private var reported: [TakeIdentity: String] = [:]
    private var isLogged: Set<TakeIdentity> = []
    private var rotation = SoundRotation()
    /// Takes with files that cannot be read because the storage reports an error.
    private var unreadable: [TakeIdentity: Unreadable] = [:]

    /// A take that cannot be read. Each further attempt is a load on a failing storage.
    private struct Unreadable {
        /// The time of the next attempt.
        var until: Instant
        var why: String
    }

    /// The time before such a take is read again.
    private static let unreadablePause = Duration.seconds(3600)
    /// The interval of the checks for repaired and newly damaged takes.
    private static let interval = Duration.seconds(60)
    /// Limits the attempts if the sidecar is replaced again and again while its take is read.
    private static let mostAttempts = 3

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
        _ catalogs: CatalogSlot, spectra: SpectraDesk? = nil, files: FileSystem = FileSystem(),
        clock: any Clock = SystemClock(), release: StickRelease = StickRelease(),
        show: @escaping @Sendable (String?) -> Void, log: Logger
    ) throws {
        self.spectra = spectra
        self.clock = clock
        self.release = release
        self.catalogs = catalogs
        self.files = files
        self.show = show
        self.log = log
        executor = try ThreadExecutor(name: "sound")
    }

    /// Sets a callback for each take that is no longer held.
    nonisolated func onFree(_ handler: @escaping @Sendable () -> Void) { freed.withLock { $0 = handler } }

    /// Requests a check. Thread-safe.
    nonisolated func look() { looks.ask() }

    /// Compares takes one after the other until shutdown, first those that were never compared.
    func run() async throws {
        fieldfare_be_idle_at_disk()
        let isEnding = isEnding
        await looks.run(each: Self.interval, onEnd: { isEnding.withLock { $0 = true } }, look: inspectAll)
    }

    private func inspectAll() async {
        report()
        var passed: ClosedRange<Int64>?
        while !isEnding.withLock({ $0 }), let next = try? catalogs.catalog.nextUncompared(&passed) {
            await inspect(next)
        }
        for (take, _) in (try? catalogs.catalog.damagedTakes()) ?? [] { await inspect(take) }
        await inspectAgain()
        let (now, count) = (clock.now(), unreadable.count)
        unreadable = unreadable.filter { now < $0.value.until && mayBeReadAgain($0.key) }
        if unreadable.count != count { report() }
    }

    /// Compares earlier takes again, because sound can also be damaged after it was sent.
    private func inspectAgain() async {
        for take in (try? rotation.next(of: catalogs.catalog)) ?? [] where !isEnding.withLock({ $0 }) {
            await inspect(take)
        }
        if let take = try? rotation.nextWhole(of: catalogs.catalog, at: clock.now()) { await inspect(take, .all) }
    }

    /// Whether a take is still present: it may have been deleted, or its stick removed.
    private func mayBeReadAgain(_ take: TakeIdentity) -> Bool {
        guard let found = try? catalogs.catalog.find(.stem(take.origin.description)) else { return true }
        return found.contains { $0.place == .here }
    }

    private func inspect(_ take: LocatedTake, _ depth: Depth = .changed) async {
        let identity = take.identity
        if let until = unreadable[identity]?.until, clock.now() < until { return }
        do {
            _ = try await damage(of: take.take, in: take.folder, depth)
            reported[identity] = nil
        } catch is CancellationError {
        } catch is Catalog.NoSuchTake {
        } catch {
            let failure = error as? FileError
            let reason = failure?.fact ?? (error as? StoreError)?.sentence ?? "\(error)"
            if reported[identity] != reason { log.info("takes: \(identity.stem): not compared: \(reason)") }
            reported[identity] = reason
            guard failure != nil else { return }
            unreadable[identity] = Unreadable(until: clock.now() + Self.unreadablePause, why: reason)
            report()
        }
    }

    /// Logs damaged takes, and makes the recorder show how many there are.
    private func report() {
        guard let damaged = try? catalogs.catalog.damagedTakes() else { return }
        for (take, why) in damaged where isLogged.insert(take.identity).inserted {
            log.error("takes: \(take.take.stem): damaged: \(why): it is neither sent nor deleted")
        }
        isLogged.formIntersection(damaged.map(\.take.identity))
        guard let first = damaged.first else { return show(unreadableFault) }
        let advice = "neither sent nor deleted: see 'fieldfare takes --damaged'"
        guard damaged.count > 1 else {
            // The recorder accepts sentences of at most 1000 bytes.
            let why = String(first.why.prefix(300))
            return show("takes: \(first.take.take.stem): its sound is damaged: \(why): it is \(advice)")
        }
        show("takes: \(damaged.count) takes are damaged, the first is \(first.take.take.stem): they are \(advice)")
    }

    /// The sentence about takes that cannot be read, or nil if there is none.
    private var unreadableFault: String? {
        guard let (take, first) = unreadable.min(by: { $0.key.stem < $1.key.stem }) else { return nil }
        let others = unreadable.count > 1 ? " (and \(unreadable.count - 1) more takes)" : ""
        return
            "takes: \(take.stem): cannot be compared with the recorded sound: \(first.why.prefix(300))\(others): check the storage; "
            + "the next attempt is in an hour"
    }

    // MARK: One take

    /// Checks that a take may be sent, or counted for deletion.
    /// - Throws: `StoreError`: `.conflict` if the take is damaged, `.unreadable` if that is unknown.
    func check(_ take: TakeName, in folder: String, _ depth: Depth) async throws {
        if let damage = try await damage(of: take, in: folder, depth) {
            throw StoreError(.conflict, "damaged: \(damage): see 'fieldfare takes --damaged'")
        }
        guard case .all = depth else { return }
        let place = TakesFolder(path: folder, files: files)
        guard try sidecar(of: take, place).surroundings(in: place.folder(of: take), files: files) != .goesOn else {
            throw StoreError(.unreadable, "outbox: \(take.stem): it is being recorded, or waits for its recovery")
        }
    }

    /// Compares the sound of a take and notes the result.
    /// - Returns: why it is damaged, or nil if it is intact or was accepted by a person.
    /// - Throws: `StoreError`, `FileError`, `Catalog.NoSuchTake`, `CancellationError`, or an error of the database.
    private func damage(of take: TakeName, in folder: String, _ depth: Depth) async throws -> String? {
        let place = TakesFolder(path: folder, files: files)
        for _ in 0..<Self.mostAttempts {
            guard !release.concerns(place.path) else { throw CancellationError() }
            let sidecar = try sidecar(of: take, place)
            let notes = try notes(of: sidecar.identity).of(sidecar.recordingStart)
            var found: [TakeNotes.SoundNote] = []
            for sound in sidecar.sounds {
                found.append(try await compare(sound, in: place.folder(of: take), sidecar, notes, depth))
            }
            switch try sidecar.surroundings(in: place.folder(of: take), files: files) {
            // Files being recorded are sent later, with the sidecar that will list them.
            case .goesOn: break
            case .finished(let omissions):
                for omission in omissions {
                    found.append(try await note(omission, in: place.folder(of: take), notes))
                }
            }
            // Files are missing temporarily while a take is converted or deleted.
            if found.contains(where: \.isDamage), try self.sidecar(of: take, place) != sidecar { continue }
            let isReadAgain = unreadable.removeValue(forKey: sidecar.identity) != nil
            // An older version writes rows without the state of the sound.
            let isNoted = try found == notes.sounds && catalogs.catalog.saysSound(of: sidecar.identity) != false
            if !isNoted { try note(found, of: sidecar) }
            if !isNoted || isReadAgain { report() }
            var judged = TakeNotes(take: take.stem)
            judged.sounds = found
            return judged.damage(of: sidecar)
        }
        throw CancellationError()
    }

    private func note(_ found: [TakeNotes.SoundNote], of sidecar: Sidecar) throws {
        let stem = sidecar.take
        let wasDamaged = (try? catalogs.catalog.notes(of: sidecar.identity))?.damage(of: sidecar) != nil
        var isReopened = false
        let entry = try catalogs.catalog.note(sidecar.identity) { notes in
            notes.attribute(to: sidecar.recordingStart)
            isReopened = notes.reopenReceipts(before: found)
            notes.sounds = found
            for sound in found where sound.isUnlisted != true {
                guard let sha256 = sound.fitSHA256 else { continue }
                notes.setHash(
                    .init(file: sound.file, bytes: sound.bytes, sha256: sha256, modifiedNs: sound.modifiedNs))
            }
            // The file changed since it was hashed, so the hash does not match what is sent.
            notes.hashes.removeAll { hash in
                guard let hashed = hash.modifiedNs else { return false }
                return found.contains { $0.file == hash.file && $0.modifiedNs != hashed }
            }
        }
        if wasDamaged, entry.damaged == nil { log.notice("takes: \(stem): is damaged no longer") }
        if isReopened { log.notice("takes: \(stem): differs from the accepted one: it will be sent again") }
        if wasDamaged && entry.damaged == nil || isReopened { freed.withLock { $0 }() }
    }

    private func sidecar(of take: TakeName, _ place: TakesFolder) throws -> Sidecar {
        do {
            return try place.sidecar(of: take)
        } catch let error as FileError where [ENOENT, ENOTDIR].contains(error.code) {
            throw StoreError(.unreadable, "outbox: \(error.fact)")
        } catch let error as SidecarError {
            throw StoreError(.unreadable, "outbox: \(error)")
        }
    }

    private func notes(of take: TakeIdentity) throws -> TakeNotes {
        do {
            return try catalogs.catalog.notes(of: take)
        } catch is NotesError {
            return TakeNotes(take: take.stem)
        }
    }

    private func compare(
        _ sound: RecordedSound, in folder: String, _ sidecar: Sidecar, _ notes: TakeNotes, _ depth: Depth
    ) async throws -> TakeNotes.SoundNote {
        let attributes = try? files.takeFileAttributes("\(folder)/\(sound.file)")
        var note = TakeNotes.SoundNote(
            file: sound.file, bytes: attributes?.byteCount ?? 0, modifiedNs: attributes?.modifiedNs ?? 0,
            frames: sound.frames)
        note.changedNs = attributes?.changedNs
        let old = notes.sound(of: sound.file)
        if case .changed = depth, let old, old.isUnlisted != true, old.frames == note.frames, old.bytes == note.bytes,
            old.modifiedNs == note.modifiedNs, old.changedNs == note.changedNs,
            old.wholeSHA256 != nil || attributes == nil, sound.sha256 == nil || old.soundSHA256 == sound.sha256
        {
            return old
        }
        // A fingerprint that was computed later is also found if the file has since been converted to FLAC and renamed.
        let later = notes.sounds?.first { $0.base == note.base && $0.frames == note.frames }
        var expected = sound
        expected.sha256 = sound.sha256 ?? later?.soundSHA256
        let columns = columns(of: expected, sidecar, isNew: old == nil)
        let check = SoundCheck(expected, in: folder, hashesWhole: true, files: files) { columns?.append($0) }
        let finding = try await run(check)
        columns?.finish(finding)
        note.wholeSHA256 = check.wholeSHA256
        note.soundSHA256 = expected.sha256
        note.fingerprint = sound.sha256 == nil ? nil : sidecar.fingerprint(of: sound.file) ?? .capture
        if note.fingerprint == nil, later?.soundSHA256 != nil { note.fingerprint = .later }
        switch finding {
        case .asRecorded: spectra?.accept(String(note.base))
        case .unproven(let sha256):
            (note.soundSHA256, note.fingerprint) = (sha256, .later)
            spectra?.accept(String(note.base))
        case .missing, .unreadable, .otherFormat, .cut, .otherLength, .differs:
            note.problem = finding.sentence(expected)
            let content = finding == .missing ? TakeNotes.SoundNote.missing : check.wholeSHA256
            if let accepted = old?.acceptedSHA256, accepted == content { note.acceptedSHA256 = accepted }
        }
        return note
    }

    /// The columns to compute while a sound is read, or nil. Twins have none.
    private func columns(of sound: RecordedSound, _ sidecar: Sidecar, isNew: Bool) -> SpectrumRecording? {
        guard let spectra, sidecar.parts.contains(where: { $0.file == sound.file }) else { return nil }
        switch spectra.begin(sound, of: sidecar.identity, isNew ? .newTake : .background) {
        case .open(let columns): return columns
        case .needless, .later, .noRoom: return nil
        }
    }

    /// The note on sound that the sidecar does not list. An accepted file is hashed again if it changed.
    private func note(
        _ omission: SoundOmission, in folder: String, _ notes: TakeNotes
    ) async throws -> TakeNotes.SoundNote {
        var note = TakeNotes.SoundNote(
            file: omission.file, bytes: omission.byteCount, modifiedNs: omission.modifiedNs, frames: 0)
        note.isUnlisted = true
        note.problem = omission.sentence
        guard let old = notes.sound(of: omission.file), let accepted = old.acceptedSHA256 else { return note }
        if old.isUnlisted == true, old.bytes == note.bytes, old.modifiedNs == note.modifiedNs {
            note.acceptedSHA256 = accepted
        } else if try await content(of: omission.file, in: folder) == accepted {
            note.acceptedSHA256 = accepted
        }
        return note
    }

    /// SHA-256 of a whole file, `SoundNote.missing`, or nil if it cannot be read as a file.
    private func content(of file: String, in folder: String) async throws -> String? {
        // The format is irrelevant, because only the hash of the whole file is used.
        let sound = RecordedSound(
            file: file, frames: 0, format: StreamFormat(rateHz: 1, channels: 1, sampleFormat: .s16))
        let check = SoundCheck(sound, in: folder, hashesWhole: true, files: files)
        return try await run(check) == .missing ? TakeNotes.SoundNote.missing : check.wholeSHA256
    }

    /// Reads a file slice by slice, so that other takes can be compared while a long one is read.
    private func run(_ check: SoundCheck) async throws -> SoundFinding {
        while true {
            if let finding = try check.step() { return finding }
            guard !isEnding.withLock({ $0 }), !release.concerns(check.path) else { throw CancellationError() }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    // MARK: A person

    /// Accepts a take as it is: it is sent and may be deleted like any other take, unless one of its files is missing.
    /// - Throws: `Refusal` if it is not damaged or cannot be read.
    func accept(_ take: TakeName, in folder: String) async throws {
        guard try await damage(of: take, in: folder, .all) != nil else {
            throw Refusal(.notDamaged(stem: take.stem))
        }
        let place = TakesFolder(path: folder, files: files)
        let sidecar = try sidecar(of: take, place)
        var found = try notes(of: sidecar.identity).of(sidecar.recordingStart).sounds ?? []
        for index in found.indices where found[index].isDamage {
            guard let content = try await content(of: found[index].file, in: place.folder(of: take)) else {
                throw Refusal(.fileUnreadable(stem: take.stem, file: found[index].file))
            }
            found[index].acceptedSHA256 = content
        }
        try note(found, of: sidecar)
        report()
    }
}

extension Sidecar {
    /// Whether the fingerprint of an audio file was computed during capture or later.
    fileprivate func fingerprint(of file: String) -> Part.Fingerprint? {
        parts.first { $0.file == file || $0.unfilteredFile == file }?.fingerprint
    }
}

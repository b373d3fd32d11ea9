import Files
import Logging
import Spectra
import TakeFiles
import Takes

/// Decides which columns of takes are computed now, and keeps track of their files. One part is computed at a time,
/// wherever its sound is read. Thread-safe. All functions but `look` may block on the disk, or ask the recorder.
final class SpectraDesk: Sendable {
    private let folder: SpectraFolder
    private let gate: SpectraGate
    private let clock: any Clock
    /// Asks the recorder.
    private let recording: @Sendable () -> SpectraGate.Recording
    private let log: Logger
    private let state = Locked(State())
    /// Its lock is held while files are measured.
    private let lengths = Locked(SpectraLengths())
    private let wake = Locked<@Sendable () -> Void>({})

    /// The time before a gate that is closed is asked again, and how long an answer of the recorder is used.
    static let pause = Duration.seconds(10)
    /// A page asks again each second while it waits.
    private static let longestLook = Duration.seconds(30)
    /// The time before a part is read again whose sound or columns failed, unless its sound is found intact before.
    private static let failurePause = Duration.seconds(600)

    private struct State {
        var work: Work?
        var lastWork = 0
        /// The takes that somebody waits for, in the order of the first request.
        var looks: [(take: TakeIdentity, until: Instant)] = []
        /// Parts that are not computed for some time.
        var refusals: [String: (obstacle: TakeColumns.Obstacle, until: Instant)] = [:]
        /// Parts whose files were removed for space. They are computed again only when somebody looks.
        var evicted: Set<String> = []
        var uses = SpectraUses()
        var answer: (recording: SpectraGate.Recording, at: Instant)?
        var chores = Set(Chore.allCases)
        /// Kinds of errors that were logged since the last success.
        var reported: Set<String> = []
    }

    /// The part that is computed now.
    private struct Work {
        let id: WorkID
        let base: String
        let take: TakeIdentity
        var wish: SpectraGate.Wish
        var frames: Int64 = 0
        /// Set when somebody looks at another take.
        var isWithdrawn = false
    }

    struct WorkID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Work that `SpectraWork` does when it is due.
    enum Chore: CaseIterable, Sendable {
        /// Remove files of takes that are gone.
        case tidy
        /// Look for takes without files.
        case search
    }

    enum Beginning {
        case open(SpectrumRecording)
        /// There is a file, or the part is not computed for some time.
        case needless
        /// Ask again after `pause`.
        case later
        case noRoom
    }

    /// - Parameters:
    ///   - recording: asks the recorder. It may block.
    init(
        in folder: String, _ gate: SpectraGate, files: FileSystem = FileSystem(), clock: any Clock = SystemClock(),
        recording: @escaping @Sendable () -> SpectraGate.Recording, log: Logger
    ) {
        self.folder = SpectraFolder(folder, files: files)
        self.gate = gate
        self.clock = clock
        self.recording = recording
        self.log = log
    }

    /// Sets a callback for new work. It must not block.
    func onWork(_ handler: @escaping @Sendable () -> Void) { wake.withLock { $0 = handler } }

    private func callWork() { wake.withLock { $0 }() }

    /// Whether the columns of a take may be computed although nobody looks at it.
    var worksUnasked: Bool { gate.allows(.background, during: .none) }

    // MARK: - People

    /// Somebody looks at a take: its columns are computed next. Does not block.
    func look(at take: TakeIdentity) {
        let until = clock.now() + Self.longestLook
        state.withLock { state in
            if let index = state.looks.firstIndex(where: { $0.take == take }) {
                state.looks[index].until = until
            } else {
                state.looks.append((take: take, until: until))
            }
            guard let work = state.work else { return }
            if work.take == take {
                state.work?.wish = .look
            } else if work.wish != .look {
                state.work?.isWithdrawn = true
            }
        }
        callWork()
    }

    /// The take that somebody has waited for longest.
    func nextLook() -> TakeIdentity? {
        let now = clock.now()
        return state.withLock { state in
            state.looks.removeAll { $0.until < now }
            return state.looks.first?.take
        }
    }

    /// Whether somebody waits for the columns of a take.
    func isAwaited(_ take: TakeIdentity) -> Bool {
        let now = clock.now()
        return state.withLock { state in state.looks.contains { $0.take == take && now <= $0.until } }
    }

    /// Nothing more can be computed for a take now.
    func settle(_ take: TakeIdentity) { state.withLock { $0.looks.removeAll { $0.take == take } } }

    /// The files of columns of a take. They count as used.
    func columns(of sidecar: Sidecar, _ notes: TakeNotes) -> TakeColumns {
        let (sounds, notes) = (sidecar.filteredSounds(notes), notes.of(sidecar.recordingStart))
        let readers = sounds.map { folder.reader(of: $0) }
        let now = clock.now()
        let (work, refusals) = state.withLock { state in
            for (sound, reader) in zip(sounds, readers) where reader != nil { state.uses.use(sound.base) }
            return (state.work, state.refusals)
        }
        var (computed, total) = (0.0, 0.0)
        var obstacle: TakeColumns.Obstacle?
        for (sound, reader) in zip(sounds, readers) {
            let seconds = Double(sound.frames) / Double(sound.format.rateHz)
            total += seconds
            if reader != nil {
                computed += seconds
            } else if let problem = notes.sound(of: sound.file)?.problem {
                obstacle = obstacle ?? .damage("\(sound.file): \(problem)")
            } else if let refusal = refusals[sound.base], now < refusal.until {
                obstacle = obstacle ?? refusal.obstacle
            } else if let work, work.take == sidecar.identity, work.base == sound.base {
                computed += min(seconds, Double(work.frames) / Double(sound.format.rateHz))
            }
        }
        let fingerprints = sounds.compactMap(\.sha256)
        return TakeColumns(
            readers: readers, sounds: fingerprints.count == sounds.count ? fingerprints : nil,
            computed: total > 0 ? computed / total : 1, obstacle: obstacle)
    }

    // MARK: - Recordings of columns

    /// Begins to compute the columns of a part.
    /// - Parameter wish: it counts as `look` if somebody looks at the take.
    func begin(_ sound: RecordedSound, of take: TakeIdentity, _ wish: SpectraGate.Wish) -> Beginning {
        let (base, now) = (sound.base, clock.now())
        let urgency = isAwaited(take) ? .look : wish
        let isRefused = state.withLock { state in
            (state.refusals[base].map { now < $0.until } ?? false)
                || urgency == .background && state.evicted.contains(base)
        }
        guard !isRefused, folder.reader(of: sound) == nil else { return .needless }
        guard gate.allows(urgency, during: answer(now)), let id = occupy(base, of: take, urgency) else {
            // Others read the sound for themselves, and come back only by chance.
            if wish == .newTake { add(.search) }
            return .later
        }
        do {
            try folder.make()
            let needed = try SpectraWriter.byteCount(of: sound.format, frames: sound.frames)
            guard try makeRoom(for: needed, urgency) else {
                end(id)
                if urgency == .look { refuse(base, .noRoom) }
                return .noRoom
            }
            return .open(SpectrumRecording(try folder.writer(of: sound), of: sound, id, at: self))
        } catch {
            end(id)
            fail(base, error)
            return .needless
        }
    }

    /// Reserves the computation for a part, or returns nil while another part is computed.
    private func occupy(_ base: String, of take: TakeIdentity, _ wish: SpectraGate.Wish) -> WorkID? {
        state.withLock { state in
            guard state.work == nil else { return nil }
            state.lastWork += 1
            let id = WorkID(number: state.lastWork)
            state.work = Work(id: id, base: base, take: take, wish: wish)
            return id
        }
    }

    /// Whether a part may be computed further.
    /// - Parameter frames: the frames so far.
    func mayGoOn(_ id: WorkID, frames: Int64) -> Bool {
        let now = clock.now()
        let wish = state.withLock { state -> SpectraGate.Wish? in
            guard let work = state.work, work.id == id, !work.isWithdrawn else { return nil }
            state.work?.frames = frames
            return work.wish
        }
        if let wish, gate.allows(wish, during: answer(now)) { return true }
        add(.search)
        return false
    }

    /// A part is not computed any more.
    func end(_ id: WorkID) {
        let base = state.withLock { state in state.work?.id == id ? state.work?.base : nil }
        // Before another part is begun, for which the files are measured.
        if let base { lengths.withLock { $0.forget(base) } }
        let isWaitedFor = state.withLock { state in
            guard state.work?.id == id else { return false }
            state.work = nil
            return !state.looks.isEmpty
        }
        if isWaitedFor { callWork() }
    }

    func succeed(_ base: String) {
        state.withLock { state in
            state.refusals[base] = nil
            state.evicted.remove(base)
            state.reported = []
        }
    }

    /// A part's columns could not be stored. That is logged once.
    func fail(_ base: String, _ error: any Error) {
        let file = error as? FileError
        let sentence = file?.fact ?? "\(error)"
        refuse(base, .failure(sentence))
        let kind = file.map { "\($0.operation) \($0.code)" } ?? sentence
        guard state.withLock({ $0.reported.insert(kind).inserted }) else { return }
        log.warning("spectra: \(base): \(sentence): its spectrogram is computed later")
    }

    /// The sound of a part was found intact, for example after it was put back.
    func accept(_ base: String) {
        let wasRefused = state.withLock { $0.refusals.removeValue(forKey: base) != nil }
        if wasRefused { add(.search) }
    }

    /// Leaves a part out for some time.
    func refuse(_ base: String, _ obstacle: TakeColumns.Obstacle) {
        let pause =
            switch obstacle {
            case .damage, .failure: Self.failurePause
            case .noRoom: Self.pause
            }
        let until = clock.now() + pause
        state.withLock { $0.refusals[base] = (obstacle: obstacle, until: until) }
    }

    /// Requests a search if parts may be computed again that were left out.
    func forgetRefusals() {
        let now = clock.now()
        let isAnyOver = state.withLock { state in
            let left = state.refusals.filter { now < $0.value.until }
            defer { state.refusals = left }
            return left.count < state.refusals.count
        }
        if isAnyOver { add(.search) }
    }

    /// The recorder's last answer, if it is new enough.
    private func answer(_ now: Instant) -> SpectraGate.Recording {
        if let answer = state.withLock({ $0.answer }), now - answer.at < Self.pause { return answer.recording }
        let found = recording()
        state.withLock { $0.answer = (recording: found, at: now) }
        return found
    }

    // MARK: - Files

    /// Requests a chore. Does not block.
    func add(_ chore: Chore) {
        state.withLock { _ = $0.chores.insert(chore) }
        callWork()
    }

    /// The chores that were requested since the last call.
    func takeChores() -> Set<Chore> {
        state.withLock { state in
            defer { state.chores = [] }
            return state.chores
        }
    }

    /// The parts that have a file.
    func bases() -> Set<String> { folder.bases() }

    /// Removes the file of a part whose take is gone.
    func remove(_ base: String) {
        folder.remove(base)
        state.withLock { state in
            state.uses.forget(base)
            state.evicted.remove(base)
        }
    }

    /// Removes the drafts that a process left that was killed.
    func removeDrafts() {
        // The order matters: a draft that is begun in between is not among these.
        let drafts = folder.drafts()
        let work = state.withLock { $0.work?.base }
        for base in drafts where base != work { folder.removeDraft(base) }
    }

    /// Removes files while space is short, until there is enough or none is left.
    func makeRoom() {
        guard let space = try? folder.space(usedBytes: 0), gate.excess(space) > 0 else { return }
        evict(byteCounts(), gate.excess(space))
    }

    /// Removes files so that another one fits.
    /// - Returns: false if that is not possible, or not worth it.
    private func makeRoom(for needed: Int64, _ wish: SpectraGate.Wish) throws -> Bool {
        let counts = byteCounts()
        let used = counts.values.reduce(0, +)
        let excess = gate.excess(try folder.space(usedBytes: used), for: needed)
        guard excess > 0 else { return true }
        // Older takes would push out each other.
        guard wish > .background, excess <= used else { return false }
        evict(counts, excess)
        return true
    }

    /// The length of each part's file.
    private func byteCounts() -> [String: Int64] {
        lengths.withLock { lengths in
            lengths.follow(folder.bases()) { folder.byteCount(of: $0) }
            return lengths.byteCounts
        }
    }

    private func evict(_ byteCounts: [String: Int64], _ excess: Int64) {
        var left = excess
        for base in state.withLock({ $0.uses }).inOrder(byteCounts.keys) where left > 0 {
            folder.remove(base)
            left -= byteCounts[base] ?? 0
            state.withLock { state in
                state.uses.forget(base)
                state.evicted.insert(base)
            }
        }
    }
}

extension Sidecar {
    /// The sound of each filtered part, in order, with fingerprints that were computed after the recording.
    func filteredSounds(_ notes: TakeNotes) -> [RecordedSound] {
        let found = notes.of(recordingStart).sounds ?? []
        let filtered = Set(parts.map(\.file))
        return sounds.filter { filtered.contains($0.file) }.map { sound in
            var sound = sound
            if sound.sha256 == nil {
                sound.sha256 = found.first { $0.base == sound.base && $0.frames == sound.frames }?.soundSHA256
            }
            return sound
        }
    }
}

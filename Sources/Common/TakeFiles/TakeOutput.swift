import Glibc
public import Takes

/// A take while it is written: audio files, which it appends to and splits, and the sidecar beside them.
///
/// All methods are called by the writer's thread. `syncPoint` returns what another thread runs; while that thread runs it, the
/// writer appends, notes and splits, and calls neither `finish`, `abandon`, `rejoin` nor `dropTail` before it has reported
/// the outcome to `synced`.
public final class TakeOutput {
    /// The take's name.
    public let name: TakeName
    /// What is known of the take. `parts`, `frames` and `duration_seconds` are filled in where it is written.
    public var sidecar: Sidecar { ledger.sidecar }
    /// Frames of the take so far, of all parts.
    public internal(set) var frames: Int64 = 0
    /// Frames of the take that are on the disk.
    public internal(set) var syncedFrames: Int64 = 0
    /// `frames`, counted at the take's rate: a part may have another.
    public var takeFrames: Int64 { counted { $0.frames } }
    /// `syncedFrames`, counted the same way.
    public var syncedTakeFrames: Int64 { counted { $0.synced(of: syncedFrames) } }
    /// Whether all frames of the take, and all of its sidecar that is due, are on the disk, and no file waits for a rescue.
    public var isSynced: Bool {
        if case .tail = state { return syncedFrames == frames }
        return syncedFrames == frames && !ledger.isDue(frames: frames) && rescues.isEmpty
    }
    /// The reason why the take will have no waveform, or nil if it will have one. The take itself is not affected.
    public var peaksFailure: FileError? { peaks.failure }

    enum State {
        case recording
        /// Finished.
        case finished
        /// Finished, and what the card delivers goes into tail files.
        case tail
        /// Nothing more is written.
        case over
    }

    /// The state of the syncs. After one that failed none counts: the kernel reports a lost write once only.
    enum SyncState {
        case idle
        case underWay
        case failed(FileError)
    }

    let directory: TakesDirectory
    var site: TakeSite
    var started: WallTime
    let keepsUnfiltered: Bool
    let hasFingerprint: Bool
    let splitBytes: Int64
    let nameTime: NameTime
    /// The card that delivers the sound; nil: that is not known.
    public internal(set) var card: CardPlace?
    var ledger: SidecarLedger
    var state = State.recording
    var syncState = SyncState.idle
    /// The change of the sidecar that lists the newest part.
    var partChange = 1
    var parts: [TakePart] = []
    /// Parts that turned out to have no frame.
    var empty: [TakePart] = []
    var peaks: SideFile
    /// The files beside the sound that the take can do without.
    var sides: [SideFile] {
        get { [peaks] }
        set { peaks = newValue[0] }
    }
    /// The attributes of the sidecar's draft as it was written last, if they could be read.
    var draft: FileAttributes?
    /// The last change of the sidecar that was written over its draft.
    var overwrittenChange = 0
    /// Files that lost their names, the first one to be rescued first.
    var rescues: [Rescue] = []
    /// News of the take's files that was not reported yet.
    var news: [TakeNews] = []
    /// The first loss of a removed file that was not saved, as a sentence; nil: there is none.
    var loss: String?
    /// Audio files in whose place something else may lie.
    var strayNames: Set<String> = []
    /// The reason why the sidecar's draft is out of date, or nil if it is not.
    public internal(set) var draftFailure: FileError?
    /// Why the sound goes on in a part that is full, or whose file another program touched.
    public internal(set) var partFailure: FileError?
    /// So many bytes stay free when what a removed file still holds is copied.
    public var leastFreeBytes: Int64 = 0
    /// Bytes of it that are copied at a sync.
    public var rescuedBytes: Int64 = 1 << 20

    /// The largest part there is: `split_mib` at most.
    public static let largestSplitBytes: Int64 = 4000 << 20
    /// A part grows up to this while no other one can be made: RIFF counts 4 GiB, and closing chunks follow.
    static let largestBytes: Int64 = (4 << 30) - (16 << 20)
    /// After so much more sound it is tried again to make another part.
    static let splitRetrySeconds: Int64 = 10

    /// Begins a take: the sidecar, then the audio files are on the disk when this returns, with no frame in them.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - name: from `directory.nextTake`. Another take may be under way in the same directory.
    ///   - sidecar: what is known of the take at its start.
    ///   - started: when its first frame was sampled, as the sidecar says.
    ///   - format: as the card delivers the sound; it is stored as `format.stored`.
    ///   - card: the card, and where it is.
    ///   - keepsUnfiltered: whether the unfiltered sound is kept beside the filtered one.
    ///   - splitBytes: no audio file grows past this.
    ///   - hasFingerprint: whether the fingerprints of the sound are computed; `deploy/bench` measures what they cost.
    ///   - nameTime: the clock by which later parts are named.
    /// - Throws: `FileError`; then nothing of the take is left but its number, as far as the storage lets it be removed.
    public init(
        in directory: TakesDirectory, name: TakeName, sidecar: Sidecar, started: WallTime, format: StreamFormat,
        card: CardPlace? = nil, keepsUnfiltered: Bool = false, splitBytes: Int64 = TakeOutput.largestSplitBytes,
        hasFingerprint: Bool = true, nameTime: NameTime = .utc
    ) throws(FileError) {
        self.nameTime = nameTime
        self.directory = directory
        self.name = name
        ledger = SidecarLedger(sidecar)
        self.started = started
        self.card = card
        self.keepsUnfiltered = keepsUnfiltered
        self.hasFingerprint = hasFingerprint
        self.splitBytes = min(splitBytes, Self.largestSplitBytes)
        peaks = .peaks(rateHz: sidecar.rateHz, channels: sidecar.channels)
        site = TakeSite(files: directory.files, takes: directory.folder, name: name)
        addPart(format: format, firstFrame: .first)
        do throws(FileError) {
            try site.perform(.begin, audio: &parts[0].audio, content: SidecarFile.bytes(snapshot()))
        } catch {
            removeAudio(of: parts[0])
            for document in [TakeDocument.sidecarDraft, .sidecarPart] { try? site.files.remove(site.path(document)) }
            throw error
        }
        ledger.written(ledger.change)
        draft = site.draftOnDisk
        if let sentence = site.dayNews { news.append(.trouble(sentence)) }
    }

    /// Notes what happened to the take. It is on the disk after the next sync, or a minute later, as `SidecarLedger` says.
    ///
    /// `.started` is noted before the first frame is appended; the headers on the disk follow with the next sync.
    public func note(_ event: TakeEvent) {
        if case .started(let started, _) = event {
            precondition(frames == 0, "the start of a take is known before its first frame is written")
            self.started = started
        }
        ledger.note(event)
        guard case .started = event else { return }
        for part in parts.indices {
            for index in parts[part].audio.indices {
                parts[part].audio[index].header = header(
                    format: parts[part].format, firstFrame: parts[part].audio[index].firstFrame,
                    isUnfiltered: index == 1)
            }
            parts[part].reportedFrames = nil
        }
    }

    /// Appends frames, to as many parts as it takes.
    ///
    /// - Parameters:
    ///   - bytes: whole frames in the stored format of the part that was begun last.
    ///   - unfiltered: the same frames as they were before the filter; nil exactly if they are not kept.
    /// - Throws: `FileError`; then `frames` counts what was written before, and the take is to be abandoned.
    public func append(
        _ bytes: UnsafeRawBufferPointer, unfiltered: UnsafeRawBufferPointer? = nil
    ) throws(FileError) {
        precondition(unsafe (unfiltered != nil) == keepsUnfiltered)
        var done = 0
        while done < bytes.count {
            var part = parts.count - 1
            if parts[part].frames >= parts[part].capacityFrames {
                try splitOrGrow()
                part = parts.count - 1
            }
            let bytesPerFrame = parts[part].format.stored.bytesPerFrame
            let room = Int(parts[part].capacityFrames - parts[part].frames) * bytesPerFrame
            let range = done..<min(bytes.count, done + room)
            precondition(range.count % bytesPerFrame == 0)
            if try leaveShortened() { continue }
            var index = 0
            do throws(FileError) {
                try unsafe write(bytes, range, to: parts[part].audio[0])
                index = 1
                if let unfiltered = unsafe unfiltered, parts[part].writesTwin {
                    try unsafe write(unfiltered, range, to: parts[part].audio[1])
                }
            } catch {
                try leave(frozen: index, error)
                continue
            }
            unsafe parts[part].audio[0].wrote(UnsafeRawBufferPointer(rebasing: bytes[range]))
            if let unfiltered = unsafe unfiltered, parts[part].writesTwin {
                unsafe parts[part].audio[1].wrote(UnsafeRawBufferPointer(rebasing: unfiltered[range]))
            }
            parts[part].frames += Int64(range.count / bytesPerFrame)
            frames += Int64(range.count / bytesPerFrame)
            done = range.upperBound
        }
    }

    /// Appends to the waveform.
    ///
    /// A waveform that cannot be written is given up, which `peaksFailure` reports, and the take goes on without it: it
    /// can be made again from the sound.
    /// - Parameter pairs: as `PeaksFile.pairs`, those that come next.
    public func appendPeaks(_ pairs: [Int8]) {
        peaks.append(pairs)
        guard case .recording = state, peaks.isDue else { return }
        site.perform(.appendSide, side: &peaks)
    }

    /// Begins another part, with a format and at a frame of its own: the card was away and is back.
    ///
    /// - Parameters:
    ///   - format: as the card delivers the sound from now on.
    ///   - firstFrame: of the take, at the rate of the sidecar; the time without sound is left out of the file.
    ///   - card: the card, and where it is; nil: as before.
    public func beginPart(
        format: StreamFormat, firstFrame: TakeFrame, card: CardPlace? = nil
    ) throws(FileError) {
        self.card = card ?? self.card
        do throws(FileError) {
            try split(format: format, firstFrame: firstFrame)
            partFailure = nil
        } catch {
            partFailure = error
            throw error
        }
    }
}

// MARK: - Sync

extension TakeOutput {
    /// The first half of a sync: writes the header, where that is due.
    ///
    /// - Returns: the second half, for another thread. Its outcome is to be reported to `synced`.
    /// - Throws: `FileError`, of this half, or of a sync that failed before: the take is to be abandoned.
    public func syncPoint() throws(FileError) -> SyncPoint {
        try checkSync()
        let last = parts.count - 1
        if parts[last].isHeaderDue { try writeHeader(of: last) }
        var known: (Sidecar, change: Int)?
        var isDue = false
        var isNamed = true
        if case .recording = state {
            isNamed = partChange <= ledger.writtenChange
            isDue = ledger.isDue(frames: frames)
            known = (snapshot(), ledger.change)
            if isDue { ledger.giveOut(frames: frames) }
        }
        syncState = .underWay
        return SyncPoint(
            frames: frames, site: site, audio: parts.flatMap(\.audio).filter { $0.file != nil }, sidecar: known,
            isSidecarDue: isDue, overwrittenChange: overwrittenChange, draft: draft, isNamed: isNamed,
            closed: closedAudio,
            rescue: rescues.first.map { ($0, rescuedBytes, leastFreeForRescue) })
    }

    /// Bytes in the bin count as free: it is emptied while a rescue goes on.
    var leastFreeForRescue: Int64 { leastFreeBytes - directory.bin.byteCount }

    /// Takes note of what a sync made safe, and of what other programs did to the take's files: `newNews` reports it.
    /// - Throws: `FileError`, the sync's failure: the take is to be abandoned.
    public func synced(_ synced: Synced) throws(FileError) {
        syncedFrames = max(syncedFrames, synced.frames)
        ledger.written(synced.sidecarChange)
        releaseSynced()
        if let failure = synced.failure {
            syncState = .failed(failure)
            throw failure
        }
        syncState = .idle
        try take(strays: synced)
    }

    /// Fails after a sync that failed, or whose outcome is not known.
    func checkSync() throws(FileError) {
        switch syncState {
        case .idle: break
        case .failed(let failure): throw failure
        case .underWay: throw FileError("sync", site.path(name.stem), code: EINPROGRESS)
        }
    }

    /// Takes note of what is on the disk, and closes the parts before the last one that are there.
    func releaseSynced() {
        for part in parts.indices {
            let bytes = parts[part].synced(of: syncedFrames) * Int64(parts[part].format.stored.bytesPerFrame)
            for index in parts[part].audio.indices { parts[part].audio[index].written.settle(bytes) }
        }
        for part in parts.indices.dropLast() where parts[part].framesBefore + parts[part].frames <= syncedFrames {
            for index in parts[part].audio.indices where !parts[part].audio[index].owesHeader {
                parts[part].audio[index].file = nil
            }
        }
    }

    func writeHeader(of part: Int) throws(FileError) {
        for index in parts[part].audio.indices {
            var one = [parts[part].audio[index]]
            do throws(FileError) {
                try site.perform(.writeHeader, audio: &one)
                parts[part].audio[index].owesHeader = false
            } catch {
                // The next sound shows what comes of that file.
                guard error.isOfOneFile else { throw error }
                parts[part].audio[index].owesHeader = true
            }
        }
        parts[part].reportedFrames = parts[part].frames
    }
}

// MARK: - Parts

extension TakeOutput {
    /// The frame of the take that comes next, at the rate of the sidecar.
    public var nextFrame: TakeFrame {
        guard let last = parts.last else { return .first }
        return last.firstFrame + Sidecar.frames(last.frames, at: last.format.rateHz, countedAt: sidecar.rateHz)
    }

    private func counted(_ frames: (TakePart) -> Int64) -> Int64 {
        parts.reduce(0) {
            $0 + Sidecar.frames(frames($1), at: $1.format.rateHz, countedAt: sidecar.rateHz)
        }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, to audio: AudioFile
    ) throws(FileError) {
        guard let file = audio.file else { preconditionFailure("\(audio.name) is closed") }
        // Checked: slicing traps if the twin is shorter than the filtered sound.
        let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        try unsafe site.files.write(piece, to: file, at: audio.end)
    }

    /// The sidecar with what this output knows.
    /// - Parameter completeParts: how many of the first parts get no more frames and lose none; nil: all but the last.
    func snapshot(completeParts: Int? = nil) -> Sidecar {
        let complete = completeParts ?? parts.count - 1
        var copy = sidecar
        copy.setParts(parts.enumerated().map { index, part in part.listed(isComplete: index < complete) })
        if copy.endedBy != nil {
            for index in copy.markers.indices { copy.markers[index].endRegion(before: copy.end) }
        }
        return copy
    }
}

extension Sidecar {
    /// Sets the parts, and what follows from them.
    mutating func setParts(_ parts: [Part]) {
        self.parts = parts
        frames = parts.reduce(0) { $0 + Sidecar.frames($1.frames, at: $1.rateHz, countedAt: rateHz) }
        durationSeconds = parts.reduce(0) { $0 + Double($1.frames) / Double($1.rateHz) }
    }
}

public import Files
import Glibc
public import Takes

/// A take that is being written: appends to and splits its audio files, and writes its sidecar.
///
/// The writer's thread calls all methods. `syncPoint` returns a value for another thread to run. During that run, the
/// writer may append, note and split. It must call `synced` with the outcome before it calls `finish`, `abandon`,
/// `rejoin` or `dropTail`.
public final class TakeOutput {
    public let name: TakeName
    /// The sidecar so far. `parts`, `frames` and `duration_seconds` are filled in when it is written.
    public var sidecar: Sidecar { ledger.sidecar }
    /// Frames of all parts so far.
    public internal(set) var frames: Int64 = 0
    /// Frames that are on the disk.
    public internal(set) var syncedFrames: Int64 = 0
    /// `frames`, counted at the take's rate. A part may have another rate.
    public var takeFrames: Int64 { counted { $0.frames } }
    /// `syncedFrames`, counted the same way.
    public var syncedTakeFrames: Int64 { counted { $0.synced(of: syncedFrames) } }
    /// Whether all frames and all due changes of the sidecar are on the disk, and no file waits for a rescue.
    public var isSynced: Bool {
        if case .tail = state { return syncedFrames == frames }
        return syncedFrames == frames && !ledger.isDue(frames: frames) && rescues.isEmpty
    }
    /// Why the take will have no waveform, or nil if it will have one. The take itself is not affected.
    public var peaksFailure: FileError? { peaks.failure }

    enum State {
        case recording
        case finished
        /// Finished, and the card's sound goes to tail files.
        case tail
        /// The output does not write any more.
        case over
    }

    /// The state of the syncs. After one failure no later sync counts, since the kernel reports a lost write only once.
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
    /// The card that delivers the sound, or nil if unknown.
    public internal(set) var card: CardPlace?
    var ledger: SidecarLedger
    var state = State.recording
    var syncState = SyncState.idle
    /// The change of the sidecar that lists the newest part.
    var partChange = 1
    var parts: [TakePart] = []
    /// Parts that ended without a frame.
    var empty: [TakePart] = []
    var peaks: SideFile
    /// The files that the take does not need.
    var sides: [SideFile] {
        get { [peaks] }
        set { peaks = newValue[0] }
    }
    /// The attributes of the sidecar's draft after it was last written, if they could be read.
    var draft: FileAttributes?
    /// The last change of the sidecar that was written over its draft.
    var overwrittenChange = 0
    /// Files that lost their names, in the order in which they are rescued.
    var rescues: [Rescue] = []
    /// News of the take's files that was not reported yet.
    var news: [TakeNews] = []
    /// The first loss in a removed file that was not rescued, as a sentence, or nil if nothing was lost.
    var loss: String?
    /// Audio files whose names may refer to something else.
    var strayNames: Set<String> = []
    /// Why the sidecar's draft is out of date, or nil if it is not.
    public internal(set) var draftFailure: FileError?
    /// Why recording continues in a part that is full, or whose file another program touched.
    public internal(set) var partFailure: FileError?
    /// The number of bytes that must stay free when the content of a removed file is copied.
    public var leastFreeBytes: Int64 = 0
    /// Bytes of a removed file that are copied per sync.
    public var rescuedBytes: Int64 = 1 << 20

    /// The size limit of a part: the maximum of `split_mib`.
    public static let largestSplitBytes: Int64 = 4000 << 20
    /// The size limit of a part while no other part can be made. RIFF counts up to 4 GiB, and closing chunks follow.
    static let largestBytes: Int64 = (4 << 30) - (16 << 20)
    /// Making another part is tried again after this much more sound.
    static let splitRetrySeconds: Int64 = 10

    /// Begins a take. When this returns, the sidecar and the audio files are on the disk, with no frame in them.
    ///
    /// - Parameters:
    ///   - name: from `directory.nextTake`. Another take may be in progress in the same directory.
    ///   - sidecar: the sidecar at the take's start.
    ///   - started: when its first frame was sampled, as in the sidecar.
    ///   - format: as the card delivers the sound. It is stored as `format.stored`.
    ///   - card: the card and its place.
    ///   - keepsUnfiltered: whether to store the unfiltered sound, too.
    ///   - splitBytes: the size limit of an audio file.
    ///   - hasFingerprint: whether to compute the fingerprints of the sound. `deploy/bench` measures their cost.
    ///   - nameTime: the clock for the names of later parts.
    /// - Throws: `FileError`. All files of the take are then removed as far as the storage allows, and only its number
    ///   is used up.
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

    /// Notes an event of the take. It is on the disk after the next sync, or a minute later, depending on
    /// `SidecarLedger`.
    ///
    /// `.started` must be noted before the first frame is appended. The headers on the disk follow with the next sync.
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

    /// Appends frames, and begins further parts as needed.
    ///
    /// - Parameters:
    ///   - bytes: whole frames in the stored format of the newest part.
    ///   - unfiltered: the same frames before the filter. Must be nil exactly if they are not stored.
    /// - Throws: `FileError`. `frames` then counts the frames that were written before, and the caller must abandon the
    ///   take.
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
    /// A waveform that cannot be written is dropped, which `peaksFailure` reports, and the take continues without it.
    /// It can be made again from the sound.
    /// - Parameter pairs: the next ones, in the layout of `PeaksFile.pairs`.
    public func appendPeaks(_ pairs: [Int8]) {
        peaks.append(pairs)
        guard case .recording = state, peaks.isDue else { return }
        site.perform(.appendSide, side: &peaks)
    }

    /// Begins another part with its own format and first frame, after the card was away.
    ///
    /// - Parameters:
    ///   - format: as the card delivers the sound from now on.
    ///   - firstFrame: in the take, at the rate of the sidecar. The time without sound is not stored in the file.
    ///   - card: the card and its place, or nil if unchanged.
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
    /// The first half of a sync: writes the header if it is due.
    ///
    /// - Returns: the second half, for another thread. Its outcome must be passed to `synced`.
    /// - Throws: `FileError`, of this half or of an earlier failed sync. The caller must abandon the take.
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

    /// Bytes in the bin count as free, since the bin is emptied during a rescue.
    var leastFreeForRescue: Int64 { leastFreeBytes - directory.bin.byteCount }

    /// Records what a sync made safe, and what other programs did to the take's files. `newNews` reports the latter.
    /// - Throws: `FileError`, the sync's failure. The caller must abandon the take.
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

    /// Throws after a failed sync, or one with an unknown outcome.
    func checkSync() throws(FileError) {
        switch syncState {
        case .idle: break
        case .failed(let failure): throw failure
        case .underWay: throw FileError("sync", site.path(name.stem), code: EINPROGRESS)
        }
    }

    /// Updates the parts from the synced frames, and closes all fully synced parts except the last one.
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
                // The next append finds out whether that file still accepts data.
                guard error.isOfOneFile else { throw error }
                parts[part].audio[index].owesHeader = true
            }
        }
        parts[part].reportedFrames = parts[part].frames
    }
}

// MARK: - Parts

extension TakeOutput {
    /// The next frame of the take, at the rate of the sidecar.
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

    /// The sidecar with the data of this output.
    /// - Parameter completeParts: how many of the first parts can no longer change, or nil for all except the last.
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
    /// Sets the parts and the values derived from them.
    mutating func setParts(_ parts: [Part]) {
        self.parts = parts
        frames = parts.reduce(0) { $0 + Sidecar.frames($1.frames, at: $1.rateHz, countedAt: rateHz) }
        durationSeconds = parts.reduce(0) { $0 + Double($1.frames) / Double($1.rateHz) }
    }
}

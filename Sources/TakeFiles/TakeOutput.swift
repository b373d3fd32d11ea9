import Synchronization
public import Takes

/// A take while it is written: audio files, which it appends to and splits, and the sidecar beside them.
///
/// All methods are the writer thread's. What `syncPoint` returns is run by another thread, the sync thread, at the same time;
/// `finish` and `abandon` wait for a sync that is under way, and those that come later do nothing.
public final class TakeOutput {
    /// The take's name.
    public let name: TakeName
    /// What is known of the take. Whoever changes it here (a marker, a gap, a filter, at the end the levels and why it
    /// ended) finds the change on the disk after the next sync. `parts`, `frames` and `duration_seconds` are filled in.
    public var sidecar: Sidecar {
        didSet { sidecarChange += 1 }
    }
    /// Frames of the take so far, of all parts.
    public private(set) var frames: Int64 = 0
    /// Frames of the take that are on the disk.
    public var syncedFrames: Int64 { progress.now.syncedFrames }
    /// Whether all that is known of the take, and all of its frames, are on the disk.
    public var isSynced: Bool {
        let done = progress.now
        return done.syncedFrames == frames && done.sidecarChange >= sidecarChange
    }
    /// Why the take will have no waveform; nil: nothing speaks against it. The take itself is not touched by it.
    public var peaksFailure: FileError? { peaks.failure }

    private let directory: TakesDirectory
    private var site: TakeSite
    private var started: WallTime
    private let keepsUnfiltered: Bool
    private let splitBytes: Int64
    private let progress = TakeProgress()
    private var sidecarChange = 1
    /// The change that told of the newest part.
    private var partChange = 1
    private var parts: [Part] = []
    /// Parts that turned out to have no frame.
    private var empty: [Part] = []
    private var peaks: PeaksDraft

    /// One stretch of the take: an audio file, and its unfiltered twin if there is one.
    private struct Part {
        /// As the card delivers it.
        var format: StreamFormat
        /// Frames of all parts before it: what `SyncPoint.frames` counts.
        var framesBefore: Int64
        /// The filtered file, then the unfiltered one.
        var audio: [AudioFile]
        var frames: Int64 = 0
        /// Whole frames after which it is full.
        var capacityFrames: Int64

        /// How many of its frames are on the disk, if `frames` of the take are.
        func synced(of frames: Int64) -> Int64 { min(self.frames, max(0, frames - framesBefore)) }
    }

    /// The largest part there is: `split_mib` at most.
    public static let largestSplitBytes: Int64 = 4000 << 20

    /// Begins a take: the sidecar, then the audio files are on the disk when this returns, with no frame in them.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - name: from `directory.nextTake`.
    ///   - sidecar: what is known of the take at its start.
    ///   - started: when its first frame was heard, as the sidecar says.
    ///   - format: as the card delivers the sound; it is stored as `format.stored`.
    ///   - keepsUnfiltered: whether the unfiltered sound is kept beside the filtered one.
    ///   - splitBytes: no audio file grows past this.
    /// - Throws: `FileError`; then nothing of the take is left but its number, as far as the storage lets it be removed.
    public init(
        in directory: TakesDirectory, name: TakeName, sidecar: Sidecar, started: WallTime, format: StreamFormat,
        keepsUnfiltered: Bool = false, splitBytes: Int64 = TakeOutput.largestSplitBytes
    ) throws(FileError) {
        self.directory = directory
        self.name = name
        self.sidecar = sidecar
        self.started = started
        self.keepsUnfiltered = keepsUnfiltered
        self.splitBytes = min(splitBytes, Self.largestSplitBytes)
        peaks = PeaksDraft(rateHz: sidecar.rateHz, channels: sidecar.channels)
        site = TakeSite(files: directory.files, takes: directory.folder, name: name)
        addPart(format: format, firstFrame: 0)
        do throws(FileError) {
            try site.perform(.begin, audio: &parts[0].audio, content: SidecarFile.bytes(snapshot()))
        } catch {
            removeEmpty(parts[0])
            for document in [TakeDocument.sidecarDraft, .sidecarPart] { try? site.files.remove(site.path(document)) }
            throw error
        }
        progress.didSync(frames: 0, sidecarChange: sidecarChange)
    }

    /// Tells that the first frame was heard at another time than was said at the start: not everything that was asked for was
    /// there. To be called before that frame is appended; the sidecar and the heads on the disk follow with the next sync.
    public func begins(at started: WallTime, _ instant: Instant) {
        precondition(frames == 0, "what is written tells when it was heard")
        self.started = started
        sidecar.started = started.iso8601
        sidecar.startedMonotonicNs = instant.nanoseconds
        for part in parts.indices {
            for index in parts[part].audio.indices {
                parts[part].audio[index].header = header(
                    format: parts[part].format, firstFrame: parts[part].audio[index].firstFrame,
                    isUnfiltered: index == 1)
            }
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
                try split(format: parts[part].format, firstFrame: nextFrame)
                part += 1
            }
            let bytesPerFrame = parts[part].format.stored.bytesPerFrame
            let room = Int(parts[part].capacityFrames - parts[part].frames) * bytesPerFrame
            let range = done..<min(bytes.count, done + room)
            precondition(range.count % bytesPerFrame == 0)
            try unsafe write(bytes, range, to: &parts[part].audio[0])
            if let unfiltered = unsafe unfiltered { try unsafe write(unfiltered, range, to: &parts[part].audio[1]) }
            for index in parts[part].audio.indices {
                parts[part].audio[index].dataBytes += Int64(range.count)
            }
            parts[part].frames += Int64(range.count / bytesPerFrame)
            frames += Int64(range.count / bytesPerFrame)
            done = range.upperBound
        }
    }

    /// Appends to the waveform.
    ///
    /// A waveform that cannot be written is given up, which `peaksFailure` says, and the take goes on without it: it
    /// can be made again from the sound.
    /// - Parameter pairs: as `PeaksFile.pairs`, those that come next.
    public func appendPeaks(_ pairs: [Int8]) {
        peaks.append(pairs)
        if peaks.isDue { site.perform(.appendPeaks, peaks: &peaks) }
    }

    /// Begins another part, with a format and at a frame of its own: the card was away and is back.
    ///
    /// - Parameters:
    ///   - format: as the card delivers the sound from now on.
    ///   - firstFrame: of the take, at the rate of the sidecar; the time without sound is left out of the file.
    public func beginPart(format: StreamFormat, firstFrame: Int64) throws(FileError) {
        try split(format: format, firstFrame: firstFrame)
    }

    /// The first half of a sync: the header now tells of all frames so far.
    ///
    /// - Returns: the second half, for the sync thread.
    /// - Throws: `FileError`, of this half, or of a sync that failed before: the take is to be abandoned.
    public func syncPoint() throws(FileError) -> SyncPoint {
        let done = progress.now
        if let failure = done.failure { throw failure }
        releaseSynced(frames: done.syncedFrames)
        try site.perform(.mark, audio: &parts[parts.count - 1].audio)
        return SyncPoint(
            frames: frames, site: site, audio: parts.flatMap(\.audio).filter { $0.file != nil },
            sidecar: sidecarChange > done.sidecarChange ? (snapshot(), sidecarChange) : nil,
            isNamed: partChange <= done.sidecarChange, progress: progress)
    }

    /// Ends the take: closes the audio files and gives everything its final name, the sidecar last.
    ///
    /// `sidecar.endedBy` must be set.
    /// - Returns: the sidecar as it is on the disk.
    /// - Throws: `FileError`: the take is not committed, `abandon` may still do it.
    public func finish() throws(FileError) -> Sidecar {
        precondition(sidecar.endedBy != nil, "a take that is finished says why it ended")
        return try progress.turn.withLock { _ throws(FileError) in
            progress.end()
            if let failure = progress.now.failure { throw failure }
            do throws(FileError) {
                return try carryOut(TakePhase.finish)
            } catch {
                progress.didFail(error)
                throw error
            }
        }
    }

    /// Ends the take after something failed, with what can be made safe.
    ///
    /// After a sync that failed, what was written since the last good one is read again: the kernel forgets what it failed to
    /// write. What is still what was heard is written once more, and the rest cut off. If the storage takes it, the take is
    /// committed, though without peaks and closing chunks. If not, headers and sidecar tell of the frames that are known to be on the
    /// disk, as far as the storage takes that, and the files stay as `.part`: nothing is thrown away. A recovery in the same
    /// directory believes no other frames than those that are still what was heard.
    public func abandon() -> TakeRemains {
        precondition(sidecar.endedBy != nil, "a take that is abandoned says why it ended")
        return progress.turn.withLock { _ in
            progress.end()
            let isSure = progress.now.syncedFrames == frames
            do throws(FileError) {
                try salvage()
                sidecar = try carryOut(TakePhase.abandon)
                return TakeRemains(name: name, safeFrames: frames, isFinished: true, error: nil)
            } catch {
                if !isSure, progress.now.syncedFrames < frames { cutBack() }
                return TakeRemains(name: name, safeFrames: progress.now.syncedFrames, isFinished: false, error: error)
            }
        }
    }
}

/// What is left of a take that was abandoned.
public struct TakeRemains: Sendable, Hashable {
    /// The take.
    public var name: TakeName
    /// Frames that are known to be on the disk.
    public var safeFrames: Int64
    /// Whether it became a take; if not, its `.part` files wait for recovery.
    public var isFinished: Bool
    /// Why it did not.
    public var error: FileError?
}

// MARK: - Parts

extension TakeOutput {
    /// The frame of the take that comes next, at the rate of the sidecar.
    public var nextFrame: Int64 {
        guard let last = parts.last else { return 0 }
        return last.audio[0].firstFrame
            + Sidecar.frames(last.frames, at: last.format.rateHz, countedAt: sidecar.rateHz)
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, to audio: inout AudioFile
    ) throws(FileError) {
        guard let file = audio.file else { preconditionFailure("\(audio.name) is closed") }
        // Checked: slicing traps if the twin is shorter than the filtered sound.
        let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        try unsafe site.files.write(piece, to: file, at: audio.end)
        unsafe audio.heard.append(piece)
    }

    private func header(format: StreamFormat, firstFrame: Int64, isUnfiltered: Bool) -> WAVHeader {
        WAVHeader(
            format: format,
            origin: BroadcastOrigin(
                sidecar: sidecar, started: started, firstFrame: firstFrame, format: format.stored,
                isUnfiltered: isUnfiltered))
    }

    private func addPart(format: StreamFormat, firstFrame: Int64) {
        let number = parts.count + 1
        let audio = (keepsUnfiltered ? [false, true] : [false]).map { isUnfiltered in
            AudioFile(
                name: name.audioFile(part: number, isUnfiltered: isUnfiltered),
                header: header(format: format, firstFrame: firstFrame, isUnfiltered: isUnfiltered),
                firstFrame: firstFrame)
        }
        // Some room for the closing chunks: about a thousand markers.
        let room = splitBytes - Int64(WAVHeader.byteCount) - min(65_536, splitBytes / 16)
        let capacity = room / Int64(format.stored.bytesPerFrame)
        // An even number of frames needs no byte of filling after it.
        parts.append(
            Part(
                format: format, framesBefore: frames, audio: audio, capacityFrames: max(2, capacity - capacity % 2)))
    }

    private func split(format: StreamFormat, firstFrame: Int64) throws(FileError) {
        try site.perform(.mark, audio: &parts[parts.count - 1].audio)
        addPart(format: format, firstFrame: firstFrame)
        do throws(FileError) {
            try site.perform(.split, audio: &parts[parts.count - 1].audio)
        } catch {
            removeEmpty(parts.removeLast())
            throw error
        }
        sidecarChange += 1
        partChange = sidecarChange
    }

    /// Takes note of what is on the disk, and closes the parts before the last one that are there.
    private func releaseSynced(frames: Int64) {
        for part in parts.indices {
            let bytes = parts[part].synced(of: frames) * Int64(parts[part].format.stored.bytesPerFrame)
            for index in parts[part].audio.indices { parts[part].audio[index].heard.settle(bytes) }
        }
        for part in parts.indices.dropLast() where parts[part].framesBefore + parts[part].frames <= frames {
            for index in parts[part].audio.indices { parts[part].audio[index].file = nil }
        }
    }

    /// The sidecar with what this output knows.
    private func snapshot() -> Sidecar {
        var copy = sidecar
        copy.setParts(
            parts.map {
                Sidecar.Part(
                    file: $0.audio[0].name, firstFrame: $0.audio[0].firstFrame, frames: $0.frames,
                    rateHz: $0.format.rateHz, format: $0.format.sampleFormat)
            })
        return copy
    }
}

// MARK: - The end

extension TakeOutput {
    private func carryOut(_ phases: [TakePhase]) throws(FileError) -> Sidecar {
        // A part whose card went away before it was heard. The take is whole without its file, so that goes last.
        if parts.contains(where: { $0.frames > 0 }) {
            empty += parts.filter { $0.frames == 0 }
            parts.removeAll { $0.frames == 0 }
        }
        let final = snapshot()
        for phase in phases {
            switch phase {
            case .close: try close()
            case .replaceSidecar: try site.perform(phase, content: SidecarFile.bytes(final))
            case .appendPeaks, .peaks: site.perform(phase, peaks: &peaks)
            case .settle, .reveal, .number, .begin, .mark, .sync, .split, .beginPeaks, .dropPeaks, .revise, .discard,
                .adopt, .setAside, .mend, .dropAudio, .forget:
                try perform(phase)
            }
            if phase == .settle { progress.didSync(frames: frames, sidecarChange: nil) }
        }
        for audio in empty.flatMap(\.audio) { try? site.files.remove(site.path(audio.name + ".part")) }
        return final
    }

    /// Carries out a phase on the audio files of all parts at once.
    private func perform(_ phase: TakePhase) throws(FileError) {
        var all = parts.flatMap(\.audio)
        defer {
            var next = all.makeIterator()
            for part in parts.indices {
                for index in parts[part].audio.indices {
                    if let audio = next.next() { parts[part].audio[index] = audio }
                }
            }
        }
        try site.perform(phase, audio: &all)
    }

    /// Appends the closing chunks, where there are any, one file after the other.
    private func close() throws(FileError) {
        for part in parts.indices {
            let isLast = part == parts.count - 1
            for index in parts[part].audio.indices {
                try site.close(&parts[part].audio[index], of: sidecar, isLast: isLast)
            }
        }
    }

    /// Cuts off what is not a whole frame of every file, and after a sync that failed what is not what was heard any more.
    private func salvage() throws(FileError) {
        let done = progress.now
        releaseSynced(frames: done.syncedFrames)
        for part in parts.indices {
            var frames = parts[part].frames
            for audio in parts[part].audio {
                guard let file = audio.file else { continue }
                try site.files.truncate(file, to: audio.end + (audio.isClosed ? Int64(audio.closing.count) : 0))
                guard done.failure != nil else { continue }
                let bytes = try audio.heard.soundBytes(in: file, site.files, isKept: true)
                frames = min(frames, bytes / Int64(parts[part].format.stored.bytesPerFrame))
            }
            if frames < parts[part].frames { try cut(part, to: frames) }
        }
    }

    /// Takes the last frames of a part out of the take.
    private func cut(_ part: Int, to frames: Int64) throws(FileError) {
        self.frames -= parts[part].frames - frames
        parts[part].frames = frames
        for index in parts[part].audio.indices {
            parts[part].audio[index].dataBytes = frames * Int64(parts[part].format.stored.bytesPerFrame)
            guard let file = parts[part].audio[index].file else { continue }
            try site.files.truncate(file, to: parts[part].audio[index].end)
        }
        var rest = snapshot()
        rest.trim()
        // They hold for all of it, and for nothing less.
        rest.levels = []
        sidecar = rest
    }

    /// As far as the storage still takes anything: headers, and a sidecar, that tell of the synced frames only.
    private func cutBack() {
        directory.doubt(name, parts.flatMap(\.audio))
        let synced = progress.now.syncedFrames
        for part in parts.indices {
            parts[part].frames = parts[part].synced(of: synced)
            for index in parts[part].audio.indices {
                parts[part].audio[index].dataBytes =
                    parts[part].frames * Int64(parts[part].format.stored.bytesPerFrame)
                var one = [parts[part].audio[index]]
                try? site.perform(.settle, audio: &one)
            }
        }
        var told = snapshot()
        told.levels = []
        // A take without a frame would be removed.
        if told.frames > 0 { try? site.perform(.replaceSidecar, content: SidecarFile.bytes(told)) }
    }

    /// Removes the audio files of a part that could not be begun; there is no sound in them.
    private func removeEmpty(_ part: Part) {
        for audio in part.audio where audio.file != nil { try? site.files.remove(site.path(audio.name + ".part")) }
    }
}

extension Sidecar {
    /// Sets the parts, and what follows from them.
    mutating func setParts(_ parts: [Part]) {
        self.parts = parts
        frames = parts.reduce(0) { $0 + $1.frames }
        durationSeconds = parts.reduce(0) { $0 + Double($1.frames) / Double($1.rateHz) }
    }
}

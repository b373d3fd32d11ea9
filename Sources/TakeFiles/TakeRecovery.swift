import Glibc
public import Takes

/// Makes a take of what a power cut, a crash or a kill left behind, in slices, so that whoever calls it stays master of its time.
///
/// Cut itself at any moment, it comes to the same end when it is begun again. What is healthy is not written to, what
/// is not a recorder's is left where it is, and no frame that was synced is lost. For one thread at a time.
public final class TakeRecovery {
    /// The take.
    public let take: TakeName

    /// What became of it.
    public enum Outcome: Equatable, Sendable {
        /// It is a finished take, with this sidecar.
        case recovered(Sidecar)
        /// No frame of it had been recorded: its empty files are removed.
        case removed
        /// It is left where it is; one sentence says why.
        case left(String)
    }

    /// Bytes of sound that are heard in one step.
    static let slice = 1 << 20

    private let directory: TakesDirectory
    private let bootID: String
    private let ending: Sidecar.Ending?
    /// What was heard of the take, by audio file, where that is known.
    private let known: [String: HeardSound]
    private var site: TakeSite
    private var outcome: Outcome?
    /// What the take came out of it without, one sentence each; it is as whole as can be all the same.
    public private(set) var shortcomings: [String] = []
    /// Whether all of its sound was heard.
    private var isMeasured = true

    private var parts: [[AudioFile]] = []
    private var empty: [AudioFile] = []
    private var sidecar: Sidecar?
    private var peaks = PeaksDraft(rateHz: 1, channels: 1)
    private var measure = SoundMeasure(channels: 1)
    /// Which of `TakePhase.recover` is under way.
    private var phase = 0
    /// Which part of the phase comes next.
    private var part = 0
    /// Bytes of the present part that were heard.
    private var heard: Int64 = 0

    /// The recovery of one take. Nothing is done before `step`.
    ///
    /// - Parameters:
    ///   - take: one of `directory.leftovers()` that nobody records.
    ///   - directory: where it lies.
    ///   - bootID: the kernel's `boot_id`: a take of this boot was not ended by a power cut.
    ///   - ending: why the take ended, if that is known and could not be written.
    public init(
        of take: TakeName, in directory: TakesDirectory, bootID: String, ending: Sidecar.Ending? = nil
    ) {
        self.directory = directory
        self.ending = ending
        self.take = take
        self.bootID = bootID
        known = directory.heard(of: take)
        site = TakeSite(files: directory.files, takes: directory.folder, name: take)
    }

    /// Does some of the work: hears a mebibyte of sound, or does to one part what its phase asks for, which may take as
    /// long as a sync does.
    ///
    /// - Returns: what became of the take; nil while there is more to do.
    /// - Throws: `FileError`: the storage failed. What was done stays; another recovery may be begun later.
    public func step() throws(FileError) -> Outcome? {
        if let outcome { return outcome }
        guard sidecar != nil else {
            outcome = try begin()
            return outcome
        }
        try carryOut(TakePhase.recover[phase])
        if phase == TakePhase.recover.count {
            outcome = sidecar.map(Outcome.recovered)
            directory.settle(take)
        }
        return outcome
    }

    /// Looks at what there is, and makes sure that what it says of itself outlives the rest of the work.
    private func begin() throws(FileError) -> Outcome? {
        let found: LeftoverTake
        do throws(LeftoverProblem) {
            found = try LeftoverTake(at: site, heard: known) { (try? directory.probe()) != nil }
        } catch {
            switch error {
            case .failed(let error): throw error
            case .foreign(let reason): return .left("\(reason): left where it is, in \(site.takes.path)/\(take.day)")
            case .empty:
                try site.perform(.forget)
                return .removed
            }
        }
        var sidecar = found.sidecar
        if let problem = found.draftProblem {
            let lacks = found.draft == .lost ? "only its sound is known" : "what was noted last is not known"
            let kept = TakeDocument.sidecarUnread.name(stem: take.stem)
            try site.perform(.setAside)
            shortcomings.append("\(lacks): \(problem): kept as \(kept)")
        }
        if found.draft == .waiting { try site.perform(.adopt) }
        if found.hasNewParts {
            // The heads of the audio are all that tells of them, and they are about to be written.
            try site.perform(.replaceSidecar, content: SidecarFile.bytes(sidecar))
        }
        sidecar.endedBy = sidecar.endedBy ?? ending ?? (sidecar.bootID == bootID ? .crash : .powerCut)
        sidecar.recovered = true
        parts = found.parts
        empty = found.empty
        peaks = PeaksDraft(rateHz: sidecar.rateHz, channels: sidecar.channels)
        measure = SoundMeasure(channels: sidecar.channels)
        self.sidecar = sidecar
        return nil
    }

    /// Carries out a phase, or a slice of it; comes to the next one where it is done.
    private func carryOut(_ phase: TakePhase) throws(FileError) {
        switch phase {
        case .mend:
            var audio = parts[part]
            for index in audio.indices { try mend(&audio[index]) }
            parts[part] = audio
            nextPart()
        case .appendPeaks:
            try hear()
        case .replaceSidecar:
            if var sidecar {
                sidecar.levels = isMeasured ? levels(of: sidecar) : sidecar.levels
                self.sidecar = sidecar
                try site.perform(phase, content: SidecarFile.bytes(sidecar))
            }
            nextPhase()
        case .close:
            var audio = parts[part]
            for index in audio.indices where !audio[index].isClosed {
                try site.close(&audio[index], of: sidecar, isLast: part == parts.count - 1)
            }
            parts[part] = audio
            nextPart()
        case .peaks:
            site.perform(.appendPeaks, peaks: &peaks)
            site.perform(.peaks, peaks: &peaks)
            if isMeasured, let failure = peaks.failure { shortcomings.append("it has no waveform: \(failure)") }
            nextPhase()
        case .dropAudio:
            try site.perform(phase, audio: &empty)
            nextPhase()
        case .reveal:
            var all = parts.flatMap(\.self)
            try site.perform(phase, audio: &all)
            nextPhase()
        case .number, .begin, .mark, .sync, .split, .settle, .beginPeaks, .dropPeaks, .revise, .discard, .adopt,
            .setAside, .forget:
            nextPhase()
        }
    }

    private func nextPart() {
        part += 1
        if part == parts.count { nextPhase() }
    }

    private func nextPhase() {
        phase += 1
        part = 0
    }
}

// MARK: - Audio files

extension TakeRecovery {
    /// Cuts an audio file after its frames and makes its head right, unless it is whole already.
    private func mend(_ audio: inout AudioFile) throws(FileError) {
        audio.setClosing(sidecar, isLast: part == parts.count - 1)
        audio.file = try site.files.open(site.path(audio.currentName))
        // Whoever comes next opens it again: a long take has more parts than a process may have open.
        defer { audio.file = nil }
        if audio.isRenamed, let file = audio.file, try isWhole(audio, file) {
            audio.isClosed = true
            return
        }
        if let known = known[audio.name], let file = audio.file,
            try known.soundBytes(in: file, site.files, isKept: true) < audio.dataBytes
        {
            // It was there a moment ago.
            throw FileError("read", file.path, code: EIO)
        }
        var one = [audio]
        try site.perform(.mend, audio: &one)
    }

    /// Whether an audio file that has its final name is all that it is to be. It was synced before it got that.
    private func isWhole(_ audio: AudioFile, _ file: OpenFile) throws(FileError) -> Bool {
        let head = try site.files.read(file, at: 0, count: WAVHeader.byteCount)
        guard let reading = WAVHeaderReading(head), reading.hasOwnChunksOnly,
            reading.formatChunk == WAVHeaderReading(audio.headerBytes)?.formatChunk,
            reading.dataBytes == audio.dataBytes,
            try site.files.length(file) == audio.end + Int64(audio.closing.count)
        else { return false }
        return try site.files.read(file, at: audio.end, count: audio.closing.count) == audio.closing
    }
}

// MARK: - Levels and waveform

extension TakeRecovery {
    /// Hears the next slice of the filtered sound.
    ///
    /// Sound that cannot be read costs the take its waveform and levels, and nothing else.
    private func hear() throws(FileError) {
        guard let audio = parts[part].first else { return nextPart() }
        do throws(FileError) {
            if heard == 0 {
                peaks.append(measure.begin(format: audio.header.format, follows: follows))
            }
            let bytesPerFrame = audio.header.format.bytesPerFrame
            let slice = Int64(max(1, Self.slice / bytesPerFrame) * bytesPerFrame)
            let file = try site.files.open(site.path(audio.currentName))
            let bytes = try site.files.read(
                file, at: Int64(WAVHeader.byteCount) + heard, count: Int(min(slice, audio.dataBytes - heard)))
            peaks.append(measure.hear(bytes))
            heard = bytes.isEmpty ? audio.dataBytes : heard + Int64(bytes.count)
        } catch {
            isMeasured = false
            shortcomings.append("not all of its sound can be read: \(error)")
            site.giveUp(&peaks, error)
            heard = 0
            return nextPhase()
        }
        let isOver = heard >= audio.dataBytes
        if isOver {
            heard = 0
            if part == parts.count - 1 { peaks.append(measure.finish()) }
        }
        if peaks.isDue { site.perform(.appendPeaks, peaks: &peaks) }
        if isOver { nextPart() }
    }

    /// Whether the present part begins with the frame after the last one of the part before.
    private var follows: Bool {
        guard part > 0, let last = parts[part - 1].first, let audio = parts[part].first else { return false }
        return last.firstFrame + last.frames == audio.firstFrame
    }

    /// The levels of the take as it is now. Those that it told at its end hold still, and know more: what the filter clipped.
    private func levels(of sidecar: Sidecar) -> [Sidecar.Levels] {
        sidecar.levels.isEmpty ? measure.levels.map(Sidecar.Levels.init) : sidecar.levels
    }
}

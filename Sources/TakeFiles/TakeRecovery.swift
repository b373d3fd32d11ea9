import Glibc
public import Takes

/// Makes a take of what a power cut, a crash or a kill left behind, in slices of work that are short enough for other work
/// between them.
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
        /// It was discarded: what was left of it is removed.
        case discarded
        /// It was finished before, and is not touched; a tail, or what else was left beside it, is removed.
        case unchanged
        /// It is left where it is; one sentence says why.
        case left(String)
    }

    /// Bytes of sound that are measured in one step.
    static let slice = 1 << 20

    private let directory: TakesDirectory
    private let bootID: String
    private let ending: Sidecar.Ending?
    /// What was received of the take, by audio file, where that is known.
    private let received: [String: WrittenSound]
    private var site: TakeSite
    private var outcome: Outcome?
    /// What the recovered take lacks, one sentence each.
    public private(set) var shortcomings: [String] = []
    /// Whether all of its sound could be read.
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
    /// Bytes of the present part that were measured.
    private var measured: Int64 = 0

    /// The recovery of one take. Nothing is done before `step`.
    ///
    /// - Parameters:
    ///   - take: one of `directory.leftovers()` that is not being recorded and has no tail.
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
        received = directory.receivedSound(of: take)
        site = TakeSite(files: directory.files, takes: directory.folder, name: take)
    }

    /// Does some of the work: measures a mebibyte of sound, or carries out a phase on one part, which may take as long as a
    /// sync does.
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
            directory.discardReceivedSound(of: take)
        }
        return outcome
    }

    /// Reads what there is, and makes safe what is known of the take before the rest of the work.
    /// - Parameter isRestored: whether its sidecar was restored just now.
    private func begin(isRestored: Bool = false) throws(FileError) -> Outcome? {
        let found: LeftoverTake
        do throws(LeftoverProblem) {
            found = try LeftoverTake(at: site, received: received) { (try? directory.probe()) != nil }
        } catch {
            switch error {
            case .failed(let error): throw error
            case .foreign(let reason): return .left("\(reason): left where it is, in \(site.takes.path)/\(take.day)")
            case .unreplaced:
                try site.perform(.restore)
                return try begin(isRestored: true)
            case .finished(let sidecar, var rest):
                try site.perform(.dropTail, audio: &rest)
                return isRestored ? .recovered(sidecar) : .unchanged
            case .empty:
                try site.perform(.removeEmpty)
                return .removed
            case .removed:
                try site.perform(.removeEmpty)
                return .discarded
            }
        }
        var sidecar = found.sidecar
        var superfluous = found.superfluous
        try site.perform(.dropAudio, audio: &superfluous)
        if let problem = found.draftProblem {
            let lacks = found.draft == .lost ? "only its sound is known" : "what was noted last is not known"
            let kept = TakeDocument.sidecarUnread.name(stem: take.stem)
            if found.draft == .lost {
                try site.perform(.replaceUnread, content: SidecarFile.bytes(sidecar))
            } else {
                try site.perform(.setAside)
            }
            shortcomings.append("\(lacks): \(problem): kept as \(kept)")
        }
        if found.draft == .waiting { try site.perform(.adopt) }
        if found.hasNewParts, found.draftProblem == nil || found.draft != .lost {
            // Only the headers of the audio list them, and these are about to be written.
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
        case .repair:
            var audio = parts[part]
            for index in audio.indices { try repair(&audio[index]) }
            parts[part] = audio
            nextPart()
        case .appendPeaks:
            try measureSound()
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
        case .commit:
            var all = parts.flatMap(\.self)
            if let sidecar { try site.perform(phase, audio: &all, content: SidecarFile.bytes(sidecar)) }
            nextPhase()
        case .dropDraft:
            try site.perform(phase)
            nextPhase()
        case .number, .begin, .writeHeader, .sync, .split, .secure, .beginPeaks, .dropPeaks, .revise, .restore,
            .discard, .adopt,
            .setAside, .replaceUnread, .removeEmpty, .beginTail, .rejoin, .dropTail:
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
    /// Cuts an audio file after its frames and corrects its header, unless it is whole already.
    private func repair(_ audio: inout AudioFile) throws(FileError) {
        guard audio.stage != .committed else { return }
        audio.setClosing(sidecar, isLast: part == parts.count - 1)
        audio.file = try site.files.open(site.path(audio.currentName))
        // The next step opens it again: a long take has more parts than a process may have open.
        defer { audio.file = nil }
        if audio.stage == .final, let file = audio.file, try isWhole(audio, file) {
            audio.isClosed = true
            return
        }
        if let received = received[audio.name], let file = audio.file,
            try received.soundBytes(in: file, site.files, isKept: true) < audio.dataBytes
        {
            // It was there a moment ago.
            throw FileError("read", file.path, code: EIO)
        }
        var one = [audio]
        try site.perform(.repair, audio: &one)
    }

    /// Whether an audio file that has its final name is all that it is to be. It was synced before it got that.
    private func isWhole(_ audio: AudioFile, _ file: OpenFile) throws(FileError) -> Bool {
        let head = try site.files.read(file, at: 0, count: WAVHeader.byteCount)
        guard let reading = WAVHeaderReading(head), reading.isReadable(like: audio.headerBytes),
            reading.dataBytes == audio.dataBytes,
            try site.files.length(file) == audio.end + Int64(audio.closing.count)
        else { return false }
        return try site.files.read(file, at: audio.end, count: audio.closing.count) == audio.closing
    }
}

// MARK: - Levels and waveform

extension TakeRecovery {
    /// Measures the next slice of the filtered sound.
    ///
    /// Sound that cannot be read costs the take its waveform and levels, and nothing else.
    private func measureSound() throws(FileError) {
        guard let audio = parts[part].first else { return nextPart() }
        do throws(FileError) {
            if measured == 0 {
                peaks.append(measure.begin(format: audio.header.format, follows: follows))
            }
            let bytesPerFrame = audio.header.format.bytesPerFrame
            let slice = Int64(max(1, Self.slice / bytesPerFrame) * bytesPerFrame)
            let file = try site.files.open(site.path(audio.currentName))
            let bytes = try site.files.read(
                file, at: Int64(WAVHeader.byteCount) + measured, count: Int(min(slice, audio.dataBytes - measured)))
            peaks.append(measure.add(bytes))
            measured = bytes.isEmpty ? audio.dataBytes : measured + Int64(bytes.count)
        } catch {
            isMeasured = false
            shortcomings.append("not all of its sound can be read: \(error)")
            site.giveUp(&peaks, error)
            measured = 0
            return nextPhase()
        }
        let isOver = measured >= audio.dataBytes
        if isOver {
            measured = 0
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

    /// The levels of the take as it is now. Those that were noted at its end still hold, and include what the filter clipped.
    private func levels(of sidecar: Sidecar) -> [Sidecar.Levels] {
        sidecar.levels.isEmpty ? measure.levels.map(Sidecar.Levels.init) : sidecar.levels
    }
}

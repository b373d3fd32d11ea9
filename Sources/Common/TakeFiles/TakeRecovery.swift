public import Files
import Glibc
public import Takes

/// Turns the remains of a take after a power cut, a crash or a kill into a finished take. The work is divided into
/// short slices, so that other work can run between them.
///
/// An interrupted recovery can be repeated with the same result. It does not write to healthy files, leaves files
/// unchanged that a recorder did not make, and loses no synced frame. For one thread at a time.
public final class TakeRecovery {
    public let take: TakeName

    public enum Outcome: Equatable, Sendable {
        /// It is now a finished take with this sidecar.
        case recovered(Sidecar)
        /// It had no frame. Its empty files are removed.
        case removed
        /// It was discarded. Its remaining files are removed.
        case discarded
        /// It was already finished, and is unchanged. A tail and other remains next to it are removed.
        case unchanged
        /// It is left unchanged. The sentence says why.
        case left(String)
    }

    /// Bytes of sound that are measured per step.
    static let slice = 1 << 20

    private let directory: TakesDirectory
    private let bootID: String
    private let ending: Sidecar.Ending?
    /// The sound that was received for the take, by audio file, where known.
    private let received: [String: WrittenSound]
    var site: TakeSite
    private var outcome: Outcome?
    /// The defects of the recovered take, one sentence each.
    public private(set) var shortcomings: [String] = []
    /// Whether all of its sound could be read.
    private var isMeasured = true

    var parts: [[AudioFile]] = []
    private var empty: [AudioFile] = []
    var sidecar: Sidecar?
    private var peaks = SideFile.peaks(rateHz: 1, channels: 1)
    private var measure = SoundMeasure(rateHz: 1, channels: 1)
    private var makesPeaks = true
    /// The phases of this recovery.
    private var phases = TakePhase.recover
    /// The index of the current phase.
    private var phase = 0
    /// The index of the next part in the phase.
    private var part = 0
    /// The index of the measured file in the part.
    private var file = 0
    /// The sound that is being measured.
    private var sound: StoredSound?
    /// The digest of the measured file so far.
    private var digest = SoundDigest()
    /// Whether neither the sidecar nor a draft could be read.
    private var isMadeAnew = false
    /// The finished take whose sidecar is written again.
    private var lost: LostSidecar?

    /// The recovery of one take. It does nothing before `step`.
    ///
    /// - Parameters:
    ///   - take: one of `directory.leftovers()` that is not being recorded and has no tail, or one of
    ///     `directory.takesWithDamagedSidecars()`.
    ///   - directory: the directory that contains the take.
    ///   - bootID: the kernel's `boot_id`. A power cut did not end a take of this boot.
    ///   - ending: why the take ended, if that is known and could not be written.
    public init(
        of take: TakeName, in directory: TakesDirectory, bootID: String, ending: Sidecar.Ending? = nil
    ) {
        self.directory = directory
        self.ending = ending
        self.take = take
        self.bootID = bootID
        received = directory.receivedSound.sound(of: take)
        site = TakeSite(files: directory.files, takes: directory.folder, name: take)
    }

    /// Does one slice of the work: measures one mebibyte of sound, or carries out a phase for one part, which may take
    /// as long as a sync.
    ///
    /// - Returns: the result for the take, or nil while there is more to do.
    /// - Throws: `FileError` if the storage failed. Completed work stays, and another recovery may be begun later.
    public func step() throws(FileError) -> Outcome? {
        if let outcome { return outcome }
        guard sidecar != nil else {
            outcome = try begin()
            return outcome
        }
        try carryOut(phases[phase])
        if phase == phases.count, outcome == nil {
            outcome = sidecar.map(Outcome.recovered)
            directory.receivedSound.discard(take)
        }
        return outcome
    }

    /// Reads the remains, and makes the sidecar safe before the rest of the work.
    /// - Parameter isRestored: whether the sidecar was restored just now.
    private func begin(isRestored: Bool = false) throws(FileError) -> Outcome? {
        let found: LeftoverTake
        do throws(LeftoverProblem) {
            found = try LeftoverTake(at: site, received: received) { storageAnswers }
        } catch {
            switch error {
            case .lost(let lost):
                begin(lost)
                return nil
            case .failed(let error): throw error
            case .strangeDrafts(let files):
                try setAside(files)
                return try begin(isRestored: isRestored)
            case .foreign(let reason): return .left("\(reason): left where it is, in \(site.takes.path)/\(take.day)")
            case .unreplaced:
                // A folder has its name.
                if !isFile(.sidecar) { try site.perform(.keepDamaged) }
                try site.perform(.restore)
                return try begin(isRestored: true)
            case .finished(let sidecar, var rest, let strange):
                note(strange: strange)
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
        isMadeAnew = found.draft == .lost
        if found.isSidecarDamaged { try site.perform(.keepDamaged) }
        if let problem = found.draftProblem {
            let lacks = found.draft == .lost ? "only its sound is known" : "the last entries are lost"
            let kept = TakeDocument.sidecarUnread.name(stem: take.stem)
            if found.draft == .lost {
                try site.perform(.replaceUnread, content: SidecarFile.bytes(sidecar))
            } else {
                try site.perform(.setAside)
            }
            shortcomings.append("\(lacks): \(problem): kept as \(kept)")
        }
        for gap in found.newGaps {
            let seconds = { (frames: Int64) in
                let tenths = (frames * 10 + Int64(sidecar.rateHz) - 1) / Int64(sidecar.rateHz)
                return "\(tenths / 10).\(tenths % 10) s"
            }
            shortcomings.append("\(seconds(gap.frames)) of it are lost from \(seconds(gap.atFrame - .first)) on")
        }
        note(strange: found.strange)
        for twin in found.loneTwins {
            shortcomings.append("of a part only the unfiltered sound is there: it is left as \(twin)")
        }
        if found.draft == .waiting { try site.perform(.adopt) }
        if found.hasNewParts, found.draftProblem == nil || found.draft != .lost {
            // Only the headers of the audio files list these parts, and these headers are about to be rewritten.
            try site.perform(.replaceSidecar, content: SidecarFile.bytes(sidecar))
        }
        // Without its draft, only the recorder's memory may contain the reason for the end.
        if found.draft == .lost, let ending { sidecar.endedBy = ending }
        sidecar.endedBy = sidecar.endedBy ?? ending ?? (sidecar.bootID == bootID ? .crash : .powerCut)
        sidecar.recovered = true
        parts = found.parts
        empty = found.empty
        peaks = SideFile.peaks(rateHz: sidecar.rateHz, channels: sidecar.channels)
        measure = SoundMeasure(rateHz: sidecar.rateHz, channels: sidecar.channels)
        self.sidecar = sidecar
        return nil
    }

    /// Renames files that are in the way.
    private func setAside(_ files: [String]) throws(FileError) {
        for file in files {
            guard let other = try site.files.setAside(site.path(file)) else {
                throw FileError("rename", site.path(file), code: ENOENT)
            }
            let kept = other.split(separator: "/").last ?? ""
            shortcomings.append("\(file) is not a draft of this take: it is kept as \(kept)")
        }
        try site.syncNames()
    }

    private func note(strange files: [String]) {
        shortcomings += files.map { "\($0) is not a file of this take: it is left as it is" }
    }

    /// Carries out a phase or one slice of it, and moves to the next phase when it is complete.
    private func carryOut(_ phase: TakePhase) throws(FileError) {
        switch phase {
        case .repair:
            var audio = parts[part]
            for index in audio.indices { try repair(&audio[index]) }
            parts[part] = audio
            nextPart()
        case .appendSide:
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
        case .endSide where !makesPeaks: nextPhase()
        case .endSide:
            site.perform(.appendSide, side: &peaks)
            site.perform(.endSide, side: &peaks)
            if isMeasured, let failure = peaks.failure { shortcomings.append("it has no waveform: \(failure)") }
            nextPhase()
        case .dropAudio:
            try site.perform(phase, audio: &empty)
            nextPhase()
        case .commit:
            let hadFailed = peaks.failure != nil
            if let sidecar { try perform(phase, parts.flatMap(\.self), content: SidecarFile.bytes(sidecar)) }
            if !hadFailed, let failure = peaks.failure { shortcomings.append("it has no waveform: \(failure)") }
            nextPhase()
        case .dropDraft:
            try site.perform(phase)
            nextPhase()
        case .replaceLost:
            if let lost { outcome = try replace(lost) }
            nextPhase()
        case .number, .begin, .writeHeader, .sync, .split, .secure, .beginSide, .dropSide, .revise, .restore,
            .discard, .noteBinning, .copyToBin, .bin, .takeOut, .clearBin, .adopt,
            .setAside, .replaceUnread, .keepDamaged, .removeEmpty, .beginTail, .rejoin, .dropTail:
            nextPhase()
        }
    }

    /// Carries out a phase for audio files and the side files.
    private func perform(_ phase: TakePhase, _ audio: [AudioFile] = [], content: [UInt8] = []) throws(FileError) {
        var (audio, sides) = (audio, [peaks])
        defer { peaks = sides[0] }
        try site.perform(phase, audio: &audio, sides: &sides, content: content)
    }

    private func nextPart() {
        part += 1
        file = 0
        if part == parts.count { nextPhase() }
    }

    private func nextPhase() {
        phase += 1
        part = 0
        file = 0
    }
}

// MARK: - Audio files

extension TakeRecovery {
    /// Cuts an audio file after its frames and corrects its header, unless it is already whole.
    private func repair(_ audio: inout AudioFile) throws(FileError) {
        guard audio.stage != .committed else { return }
        audio.setClosing(sidecar, isLast: part == parts.count - 1)
        audio.file = try site.files.open(site.path(audio.currentName))
        // The next step opens it again. A long take has more parts than a process may have open files.
        defer { audio.file = nil }
        if audio.stage == .final, let file = audio.file {
            var isDone = try isWhole(audio, file)
            if !isDone, isMadeAnew { isDone = try isClosed(audio, file) }
            if isDone {
                audio.isClosed = true
                return
            }
        }
        if let received = received[audio.name], let file = audio.file,
            try received.soundBytes(in: file, site.files, isKept: true) < audio.dataBytes
        {
            // The file was readable a moment ago.
            throw FileError("read", file.path, code: EIO)
        }
        var one = [audio]
        try site.perform(.repair, audio: &one)
    }

    /// Whether an audio file with its final name is complete. It was synced before it got that name.
    private func isWhole(_ audio: AudioFile, _ file: OpenFile) throws(FileError) -> Bool {
        let head = try site.files.read(file, at: 0, count: WAVHeader.byteCount)
        guard let reading = WAVHeaderReading(head), reading.isReadable(like: audio.header),
            reading.dataBytes == audio.dataBytes,
            try site.files.length(file) == audio.end + Int64(audio.closing.count)
        else { return false }
        return try site.files.read(file, at: audio.end, count: audio.closing.count) == audio.closing
    }

    /// Whether an audio file was closed, according to its own header. It may then contain markers that exist nowhere
    /// else.
    private func isClosed(_ audio: AudioFile, _ file: OpenFile) throws(FileError) -> Bool {
        let head = try site.files.read(file, at: 0, count: WAVHeader.byteCount)
        guard let reading = WAVHeaderReading(head), reading.isReadable(like: audio.header) else { return false }
        let byteCount = try site.files.length(file)
        return reading.dataBytes == audio.dataBytes && byteCount == reading.fileBytes
    }
}

// MARK: - Levels, waveform and fingerprints

extension TakeRecovery {
    /// Measures the next slice of a part's sound: levels, waveform and fingerprint of the filtered file, then the
    /// fingerprint of its twin.
    ///
    /// If sound cannot be read, the take loses only its waveform and levels, and the part its fingerprint.
    private func measureSound() throws(FileError) {
        guard file < parts[part].count else { return nextPart() }
        let audio = parts[part][file]
        let isFiltered = file == 0
        guard isFiltered || lacksFingerprint(audio) else { return nextFile() }
        do throws(FileError) {
            if sound == nil {
                sound = try StoredSound(audio, at: site)
                digest = SoundDigest()
                if isFiltered { append(measure.begin(format: audio.header.format, follows: follows)) }
            }
            let bytes = try sound?.next(atMost: Self.slice) ?? []
            digest.update(bytes)
            if isFiltered { append(measure.add(bytes)) }
        } catch {
            isMeasured = false
            shortcomings.append("not all of its sound can be read: \(error)")
            site.giveUp(&peaks, error)
            sound = nil
            return nextPhase()
        }
        let isOver = sound?.isOver ?? true
        if isOver {
            sound = nil
            noteFingerprint(audio, isTwin: !isFiltered)
            if isFiltered, part == parts.count - 1 { append(measure.finish()) }
        }
        if makesPeaks, peaks.isDue { site.perform(.appendSide, side: &peaks) }
        if isOver { nextFile() }
    }

    private func nextFile() {
        file += 1
        if file >= parts[part].count { nextPart() }
    }

    private func append(_ pairs: [Int8]) {
        if makesPeaks { peaks.append(pairs) }
    }

    /// Whether the sidecar lacks the fingerprint of an audio file.
    private func lacksFingerprint(_ audio: AudioFile) -> Bool {
        sidecar?.sounds.first { $0.file == audio.name }.map { $0.sha256 == nil } ?? false
    }

    /// Adds the fingerprint of an audio file to the sidecar, if the file was read completely and has the listed length.
    /// A part that was already finished is left unchanged.
    private func noteFingerprint(_ audio: AudioFile, isTwin: Bool) {
        guard digest.byteCount == audio.dataBytes, audio.stage != .committed || lost != nil, lacksFingerprint(audio),
            let index = sidecar?.parts.firstIndex(where: { (isTwin ? $0.unfilteredFile : $0.file) == audio.name }),
            let part = sidecar?.parts[index], audio.frames == (isTwin ? part.twinFrames : part.frames)
        else { return }
        if isTwin {
            sidecar?.parts[index].unfilteredSoundSHA256 = digest.hexadecimal
        } else {
            sidecar?.parts[index].soundSHA256 = digest.hexadecimal
        }
        sidecar?.parts[index].fingerprint = .later
    }

    /// Whether the current part begins with the frame after the last frame of the previous part.
    private var follows: Bool {
        guard part > 0, let last = parts[part - 1].first, let audio = parts[part].first else { return false }
        // A part with another rate is measured separately, wherever it begins.
        return last.firstFrame + last.frames == audio.firstFrame
    }

    /// The current levels of the take. Levels that were noted at its end are still valid, and include the clipping in
    /// the filter.
    private func levels(of sidecar: Sidecar) -> [Sidecar.Levels] {
        sidecar.levels.isEmpty ? measure.levels.map(Sidecar.Levels.init) : sidecar.levels
    }
}

// MARK: - A finished take without its sidecar

extension TakeRecovery {
    /// Whether the storage accepts a write now.
    private var storageAnswers: Bool { (try? directory.probe()) != nil }

    private func isFile(_ document: TakeDocument) -> Bool {
        do throws(FileError) {
            _ = try site.files.length(site.files.openToRead(site.path(document), followsLink: false))
            return true
        } catch {
            return error.code != EISDIR
        }
    }

    private func begin(_ lost: LostSidecar) {
        self.lost = lost
        phases = TakePhase.rebuild
        sidecar = lost.sidecar
        parts = lost.parts
        peaks = SideFile.peaks(rateHz: lost.sidecar.rateHz, channels: lost.sidecar.channels)
        measure = SoundMeasure(rateHz: lost.sidecar.rateHz, channels: lost.sidecar.channels)
        makesPeaks = !hasPeaks(channels: lost.sidecar.channels)
    }

    /// Whether the waveform exists, or another object has its name.
    private func hasPeaks(channels: Int) -> Bool {
        do throws(FileError) {
            let file = try site.files.openToRead(site.path(.peaks), followsLink: false)
            let head = try site.files.read(file, at: 0, count: PeaksFile.headerByteCount)
            guard let shape = PeaksFile.shape(header: head), shape.channels == channels, shape.length > 0 else {
                return false
            }
            let byteCount = PeaksFile.headerByteCount + shape.length * shape.bytesPerPixel
            return try site.files.length(file) == Int64(byteCount)
        } catch {
            return error.code != ENOENT
        }
    }

    /// Writes the sidecar again. It first tries to read the old one once more: reading the sound took a while, and the
    /// sidecar may be readable now.
    /// - Returns: the outcome, if the take turned out to be whole.
    private func replace(_ lost: LostSidecar) throws(FileError) -> Outcome? {
        var isLost = false
        do throws(LeftoverProblem) {
            isLost = try lost.isStillLost(at: site, { storageAnswers })
        } catch {
            if case .failed(let error) = error { throw error }
        }
        guard isLost else {
            // The new waveform is not needed.
            try perform(.dropSide)
            return .unchanged
        }
        guard var sidecar else { return nil }
        if isMeasured { sidecar.levels = levels(of: sidecar) }
        self.sidecar = sidecar
        try perform(.replaceLost, content: SidecarFile.bytes(sidecar))
        dropRest()
        let lacks = "its sidecar is made from its sound files"
        if let problem = lost.problem {
            let kept = site.keptName.map { ": kept as \($0)" } ?? ""
            shortcomings.append("\(lacks): \(problem)\(kept)")
        } else {
            shortcomings.append("\(lacks): the old one is gone")
        }
        return nil
    }

    /// Removes a tail and other remains next to a finished take, as far as the storage allows.
    private func dropRest() {
        do throws(LeftoverProblem) {
            _ = try LeftoverTake(at: site, received: received) { storageAnswers }
        } catch {
            guard case .finished(_, var rest, let strange) = error else { return }
            note(strange: strange)
            try? site.perform(.dropTail, audio: &rest)
        }
    }
}

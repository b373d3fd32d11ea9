import Glibc
import Takes

/// Something that happened to the files of a take while it was recorded, as a sentence.
public enum TakeNews: Sendable, Hashable {
    /// Another program touched them, or something is lost.
    case trouble(String)
    /// It is well again.
    case relief(String)
}

/// What other programs do to the files of a take that is recorded, and storage that takes no new file. The sound goes on in another part,
/// or in the one that there is; what a removed file still holds is saved; what is lost is listed, so that the timeline holds.
extension TakeOutput {
    /// Whether a file that lost its name is not saved yet.
    public var isRescuing: Bool { !rescues.isEmpty }

    /// The file of the newest part that lost its name, while no other can be made; nil: it has its name.
    public var namelessFile: String? {
        parts.last?.audio.first { strayNames.contains($0.name) }.map { site.path($0.currentName) }
    }

    /// The news of the take's files since the last call.
    public func newNews() -> [TakeNews] {
        defer { news = [] }
        return news
    }

    /// Whether the newest part can have so many silent frames, and so much as is to stay free does.
    public func hasRoom(forSilence frameCount: Int64) -> Bool {
        guard let format = parts.last?.format.stored else { return true }
        let bytes = frameCount * Int64(format.bytesPerFrame) * (keepsUnfiltered ? 2 : 1)
        // It is not worth a question.
        guard bytes > 1 << 20, let free = try? directory.freeBytes() else { return true }
        return free - bytes >= leastFreeBytes
    }

    /// Begins another part with the next frame. If the storage takes no new file, the sound goes on in the one that there is.
    /// - Throws: `FileError`, of the storage, if that one can grow no more.
    func splitOrGrow() throws(FileError) {
        let format = parts[parts.count - 1].format
        do throws(FileError) {
            try split(format: format, firstFrame: nextFrame)
            partFailure = nil
        } catch {
            let last = parts.count - 1
            let grown = min(
                Self.mostFrames(format), parts[last].frames + Self.splitRetrySeconds * Int64(format.rateHz))
            // A tail is not worth that.
            guard case .recording = state, grown > parts[last].frames else { throw error }
            parts[last].capacityFrames = grown
            partFailure = error
        }
    }

    /// Leaves the part for another one, if its file was shortened since the last write: what is written now would make zeros of what
    /// is missing.
    func leaveShortened() throws(FileError) -> Bool {
        guard isOpen, syncState.allowsNewPart else { return false }
        for audio in parts[parts.count - 1].audio {
            guard let file = audio.file, let status = try? site.files.status(of: file), status.byteCount < audio.end,
                let stray = site.stray(audio)
            else { continue }
            try take(stray)
            return true
        }
        return false
    }

    /// The audio files that are closed and are to have their names.
    var closedAudio: [AudioFile] {
        guard isOpen else { return [] }
        return parts.flatMap(\.audio).filter { audio in
            audio.isUnnamed && audio.file == nil && !rescues.contains { $0.audio.name == audio.name }
        }
    }

    /// Whether frames may be appended.
    private var isOpen: Bool {
        switch state {
        case .recording, .tail: true
        case .finished, .over: false
        }
    }
}

// MARK: - What a sync found

extension TakeOutput {
    func take(strays synced: Synced) throws(FileError) {
        if let day = synced.day { site.day = day }
        if synced.hasNewDraft { draft = synced.draft }
        draftFailure = synced.sidecarFailure
        overwrittenChange = max(overwrittenChange, synced.overwrittenChange)
        if synced.hadLostDraft {
            let path = site.path(.sidecarPart)
            let event = "another program removed or changed it while the take was recorded"
            news.append(.trouble("\(path): \(event): it was written again"))
        }
        if let failure = synced.rescueFailure { _ = giveUpWaveform(failure) }
        if let rescue = synced.rescue, let index = rescues.firstIndex(where: { $0.audio.name == rescue.audio.name }) {
            if rescue.isDone {
                rescues.remove(at: index)
                noteIdentity(of: rescue.audio)
                strayNames.remove(rescue.audio.name)
                news.append(.relief("\(site.path(rescue.audio.currentName)): all that it held is saved"))
            } else {
                rescues[index] = rescue
            }
        }
        for stray in synced.strays { try take(stray) }
    }

    /// The file of a part was touched: the sound goes on in another part, and what it holds is kept.
    /// - Throws: `FileError`, if sound cannot go on.
    func take(_ stray: StrayFile) throws(FileError) {
        guard let (part, index) = place(of: stray) else { return }
        let audio = parts[part].audio[index]
        if stray.place == .gone {
            // Until the take ends, it may be put back.
            if strayNames.insert(audio.name).inserted {
                let event = "\(stray.event) while it was recorded: put it back before the take ends"
                news.append(.trouble("\(site.path(audio.currentName)): \(event)"))
            }
            return
        }
        let failure = FileError("write", site.path(audio.currentName), code: ENOENT)
        guard isOpen else { throw failure }
        if part == parts.count - 1 {
            do throws(FileError) {
                try? site.renewDay()
                try leave(part, isNamed: stray.place == .named)
                partFailure = nil
            } catch {
                partFailure = error
                if stray.place != .named { strayNames.insert(audio.name) }
                // A removed file takes more, and the next sync finds it again.
                let held = site.stray(audio)?.soundBytes ?? audio.dataBytes
                if held < audio.dataBytes { try fill(part, index, from: held, error) }
                return
            }
        }
        settle(stray, part, index)
    }

    /// Begins another part. For a file that lost its name, the waveform makes room if there is none: it can be made again.
    private func leave(_ part: Int, isNamed: Bool) throws(FileError) {
        do throws(FileError) {
            try split(format: parts[part].format, firstFrame: nextFrame)
        } catch {
            guard !isNamed, giveUpWaveform(error) else { throw error }
            try split(format: parts[part].format, firstFrame: nextFrame)
        }
    }

    /// Gives up the waveform, where the storage is full.
    /// - Returns: whether there was one.
    func giveUpWaveform(_ failure: FileError) -> Bool {
        guard failure.isDiskFull, peaks.isBegun else { return false }
        site.giveUp(&peaks, failure)
        return true
    }

    private func place(of stray: StrayFile) -> (part: Int, audio: Int)? {
        for part in parts.indices {
            for index in parts[part].audio.indices {
                let audio = parts[part].audio[index]
                guard audio.name == stray.name, audio.stage != .committed else { continue }
                // It is known already, or was closed since it was looked at.
                let isKnown = rescues.contains { $0.audio.name == audio.name }
                guard !isKnown, audio.file == nil || stray.place != .gone else { return nil }
                guard audio.file != nil || site.strayClosed(audio) == stray else { return nil }
                return (part, index)
            }
        }
        return nil
    }

    /// Silence stands for what another program cut off the file of the newest part, where no other one can be made.
    private func fill(_ part: Int, _ index: Int, from held: Int64, _ failure: FileError) throws(FileError) {
        let audio = parts[part].audio[index]
        guard let file = audio.file else { return }
        try site.files.truncate(file, to: audio.end)
        try site.files.write(audio.headerBytes, to: file, at: 0)
        parts[part].audio[index].isTouched = true
        let format = parts[part].format
        let frames = (audio.dataBytes - held) / Int64(format.stored.bytesPerFrame)
        if index == 0 { noteLoss(in: part, from: parts[part].frames - frames, to: parts[part].frames) }
        let what = index == 0 ? "of it" : "of the unfiltered sound"
        let event =
            "another program shortened it while it was recorded: \(Self.seconds(frames, format)) \(what) are lost"
        news.append(.trouble("\(site.path(audio.currentName)): \(event): the sound goes on in it: \(failure)"))
    }

    private func noteIdentity(of saved: AudioFile) {
        for part in parts.indices {
            for index in parts[part].audio.indices where parts[part].audio[index].name == saved.name {
                parts[part].audio[index].identity = saved.identity
            }
        }
    }

    /// Notes what is left of a file that no more is written to.
    private func settle(_ stray: StrayFile, _ part: Int, _ index: Int) {
        let audio = parts[part].audio[index]
        let path = site.path(audio.currentName)
        if stray.place != .named { strayNames.insert(audio.name) }
        // More may have been written to it since it was looked at.
        var held = audio.dataBytes
        if audio.file == nil, stray.place == .named {
            parts[part].audio[index].file = try? site.files.open(path)
        }
        let open = parts[part].audio[index]
        if let file = open.file, let now = site.stray(open) {
            held = now.soundBytes
            if held < audio.dataBytes { parts[part].audio[index].isTouched = true }
            parts[part].audio[index].dataBytes = held
            if now.place == .named {
                try? site.files.truncate(file, to: parts[part].audio[index].end)
                try? site.files.write(parts[part].audio[index].headerBytes, to: file, at: 0)
            } else {
                rescues.append(Rescue(audio: parts[part].audio[index], source: file))
                parts[part].audio[index].file = nil
            }
        } else if stray.place == .gone {
            held = 0
            parts[part].audio[index].dataBytes = 0
        }
        var sentence = "\(path): \(stray.event) while it was recorded"
        if part < parts.count - 1 { sentence += ": the sound goes on in \(parts[parts.count - 1].audio[0].name)" }
        if held > 0, stray.place != .named { sentence += ": what it held is being saved" }
        let lost = lose(part, index, holding: held)
        if let lost { sentence += ": \(lost)" }
        news.append(.trouble(sentence + ": see what other programs do there"))
    }

    /// An audio file holds less than was written to it.
    /// - Returns: the loss, in words; nil if nothing is lost.
    @discardableResult func lose(_ part: Int, _ index: Int, holding bytes: Int64) -> String? {
        let format = parts[part].format
        let before = parts[part].keptFrames
        let kept = min(before, bytes / Int64(format.stored.bytesPerFrame))
        guard index == 0 else {
            return kept < before ? "of the unfiltered sound \(Self.seconds(before - kept, format)) are lost" : nil
        }
        guard kept < before else { return nil }
        parts[part].lostFrames = parts[part].frames - kept
        noteLoss(in: part, from: kept, to: before)
        return "\(Self.seconds(before - kept, format)) of it are lost"
    }

    /// Lists frames of a part as a gap of the take.
    private func noteLoss(in part: Int, from start: Int64, to end: Int64) {
        let count = { (frames: Int64) in
            Sidecar.frames(frames, at: self.parts[part].format.rateHz, countedAt: self.sidecar.rateHz)
        }
        let first = parts[part].firstFrame + count(start)
        ledger.note(.gap(at: first, frames: parts[part].firstFrame + count(end) - first, cause: .stall))
    }

    static func seconds(_ frames: Int64, _ format: StreamFormat) -> String {
        let tenths = (frames * 10 + Int64(format.rateHz) - 1) / Int64(format.rateHz)
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

// MARK: - The end

extension TakeOutput {
    /// Bytes that are copied at a take's end, when nobody has waited for the rest.
    private static let lastRescuedBytes: Int64 = 64 << 20

    /// Gives each audio file its name again before it gets its next one, as far as that can be done. What has no file any more is taken
    /// out of the take.
    func settleStrays() {
        try? site.renewDay()
        for part in parts.indices {
            for index in parts[part].audio.indices {
                let audio = parts[part].audio[index]
                guard audio.isUnnamed, !rescues.contains(where: { $0.audio.name == audio.name }) else { continue }
                if let stray = audio.file == nil ? site.strayClosed(audio) : site.stray(audio) {
                    settle(stray, part, index)
                } else if audio.file == nil {
                    strayNames.remove(audio.name)
                }
            }
        }
        let all = rescues
        rescues = []
        for var rescue in all {
            do throws(FileError) {
                try site.advance(&rescue, copying: Self.lastRescuedBytes, leastFree: leastFreeForRescue)
            } catch {
                news.append(.trouble("\(site.path(rescue.audio.currentName)): not all of it is saved: \(error)"))
            }
            guard rescue.isDone else {
                giveUp(rescue)
                continue
            }
            noteIdentity(of: rescue.audio)
            strayNames.remove(rescue.audio.name)
        }
        dropLostTwins()
    }

    /// A file of the last part that lost its name while no other could be made: no more sound follows, and what it holds is to be saved.
    public func rescueLastPart() {
        guard rescues.isEmpty, let part = parts.indices.last else { return }
        for index in parts[part].audio.indices {
            if let stray = site.stray(parts[part].audio[index]), stray.place != .named { settle(stray, part, index) }
        }
    }

    /// Gives the files of the tail their names again before it becomes part of the take; what is missing of them is listed.
    func settleTail() throws(FileError) {
        for audio in parts[parts.count - 1].audio {
            if let stray = site.stray(audio) { try take(stray) }
        }
        settleStrays()
        let last = parts.removeLast()
        leaveOutEmptyParts()
        parts.append(last)
    }

    /// Parts without a frame are no parts of the take. It is whole without their files, so those go last.
    func leaveOutEmptyParts() {
        empty += parts.filter { $0.keptFrames == 0 }
        parts.removeAll { $0.keptFrames == 0 }
    }

    /// Whether an audio file has lost its name, as far as is known.
    func isNameless(_ audio: AudioFile) -> Bool {
        guard let stray = audio.file == nil ? site.strayClosed(audio) : site.stray(audio) else { return false }
        return stray.place != .named
    }

    /// The part of a removed file that is not copied by now is lost.
    private func giveUp(_ rescue: Rescue) {
        for part in parts.indices {
            for index in parts[part].audio.indices where parts[part].audio[index].name == rescue.audio.name {
                let bytesPerFrame = Int64(parts[part].format.stored.bytesPerFrame)
                let copied = rescue.copiedBytes - rescue.copiedBytes % bytesPerFrame
                parts[part].audio[index].dataBytes = copied
                if let copy = rescue.copy {
                    strayNames.remove(rescue.audio.name)
                    parts[part].audio[index].file = copy
                    try? site.files.truncate(copy, to: parts[part].audio[index].end)
                }
                if let lost = lose(part, index, holding: copied) {
                    let event = "another program moved or removed it while it was recorded"
                    let sentence = "\(site.path(rescue.audio.currentName)): \(event): \(lost)"
                    loss = loss ?? sentence
                    news.append(.trouble(sentence))
                }
            }
        }
    }

    /// A part whose unfiltered twin is gone has none; one whose filtered sound is gone is left out of the take, with its twin.
    private func dropLostTwins() {
        for part in parts.indices where parts[part].audio.count > 1 && parts[part].audio[1].dataBytes == 0 {
            guard parts[part].frames > 0 else { continue }
            let twin = parts[part].audio.remove(at: 1)
            if !strayNames.contains(twin.name) { try? site.files.remove(site.path(twin.currentName)) }
        }
    }
}

extension TakeOutput.SyncState {
    /// Whether the take goes on: after a failure, nothing new is begun.
    var allowsNewPart: Bool {
        switch self {
        case .idle, .underWay: true
        case .failed: false
        }
    }
}

import Files
import Glibc
import Takes

/// An event in the files of a take during recording, as a sentence.
public enum TakeNews: Sendable, Hashable {
    /// Another program touched them, or sound is lost.
    case trouble(String)
    /// The problem is solved.
    case relief(String)
}

/// Handles changes that other programs make to the files of a take during recording, and storage that does not accept
/// new files. Recording continues in another part, or in the existing one. The content of a removed file is rescued.
/// Lost sound is listed as a gap, so that the timeline stays correct.
extension TakeOutput {
    /// Whether a file that lost its name is not rescued yet.
    public var isRescuing: Bool { !rescues.isEmpty }

    /// The file of the newest part that lost its name while no other part can be made, or nil if it has its name.
    public var namelessFile: String? {
        parts.last?.audio.first { strayNames.contains($0.name) }.map { site.path($0.currentName) }
    }

    /// The news of the take's files since the last call.
    public func newNews() -> [TakeNews] {
        defer { news = [] }
        return news
    }

    /// Whether the storage has room for this many silent frames in the newest part, above the space that must stay
    /// free.
    public func hasRoom(forSilence frameCount: Int64) -> Bool {
        guard let format = parts.last?.format.stored else { return true }
        let bytes = frameCount * Int64(format.bytesPerFrame) * (keepsUnfiltered ? 2 : 1)
        // Too small to ask the storage.
        guard bytes > 1 << 20, let free = try? directory.freeBytes() else { return true }
        return free - bytes >= leastFreeBytes
    }

    /// Begins another part with the next frame. If the storage does not accept a new file, the current part grows.
    /// - Throws: the storage's `FileError`, if the current part cannot grow.
    func splitOrGrow() throws(FileError) {
        let format = parts[parts.count - 1].format
        do throws(FileError) {
            try split(format: format, firstFrame: nextFrame)
            partFailure = nil
        } catch {
            let last = parts.count - 1
            let grown = min(
                Self.mostFrames(format), parts[last].frames + Self.splitRetrySeconds * Int64(format.rateHz))
            // A tail does not justify that.
            guard case .recording = state, grown > parts[last].frames else { throw error }
            parts[last].capacityFrames = grown
            partFailure = error
        }
    }

    /// Begins another part if the current part's file was shortened since the last write. A write after its end would
    /// fill the missing bytes with zeros.
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

    /// The closed audio files that must still have their names.
    var closedAudio: [AudioFile] {
        guard isOpen else { return [] }
        return parts.flatMap(\.audio).filter { audio in
            audio.isUnnamed && audio.file == nil && !rescues.contains { $0.audio.name == audio.name }
        }
    }

    private var isOpen: Bool {
        switch state {
        case .recording, .tail: true
        case .finished, .over: false
        }
    }
}

// MARK: - Findings of a sync

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

    /// Handles a touched file of a part: recording continues in another part, and the remaining sound is kept.
    /// - Throws: `FileError`, if recording cannot continue.
    func take(_ stray: StrayFile) throws(FileError) {
        guard let (part, index) = place(of: stray) else { return }
        let audio = parts[part].audio[index]
        if stray.place == .gone {
            // Someone may put it back until the take ends.
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
                // A removed file still accepts data, and the next sync finds it again.
                let held = site.stray(audio)?.soundBytes ?? audio.dataBytes
                if held < audio.dataBytes { try fill(part, index, from: held, error) }
                return
            }
        }
        settle(stray, part, index)
    }

    /// Begins another part. If a file lost its name and the storage is full, the waveform is dropped to make room: it
    /// can be made again.
    private func leave(_ part: Int, isNamed: Bool) throws(FileError) {
        do throws(FileError) {
            try split(format: parts[part].format, firstFrame: nextFrame)
        } catch {
            guard !isNamed, giveUpWaveform(error) else { throw error }
            try split(format: parts[part].format, firstFrame: nextFrame)
        }
    }

    /// Drops the waveform if the storage is full.
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
                // Skip it if it is already being rescued, or was closed since it was examined.
                let isKnown = rescues.contains { $0.audio.name == audio.name }
                guard !isKnown, audio.file == nil || stray.place != .gone else { return nil }
                guard audio.file != nil || site.strayClosed(audio) == stray else { return nil }
                return (part, index)
            }
        }
        return nil
    }

    /// Fills the range that another program cut off the newest part's file with silence, if no other file can be made.
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

    /// Records the remaining content of a file that is not written any more.
    private func settle(_ stray: StrayFile, _ part: Int, _ index: Int) {
        let audio = parts[part].audio[index]
        let path = site.path(audio.currentName)
        if stray.place != .named { strayNames.insert(audio.name) }
        // More may have been written to it since it was examined.
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

    /// Records that an audio file contains less than was written to it.
    /// - Returns: the loss, in words, or nil if nothing is lost.
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
    /// Bytes that are copied at a take's end, before the rest of a rescue is given up.
    private static let lastRescuedBytes: Int64 = 64 << 20

    /// Gives each audio file its current name again, as far as possible, before it gets its next one. Sound without a
    /// file is removed from the take.
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

    /// Rescues a file of the last part that lost its name while no other part could be made. No more sound follows.
    public func rescueLastPart() {
        guard rescues.isEmpty, let part = parts.indices.last else { return }
        for index in parts[part].audio.indices {
            if let stray = site.stray(parts[part].audio[index]), stray.place != .named { settle(stray, part, index) }
        }
    }

    /// Gives the files of the tail their names again before the tail becomes part of the take. Missing sound is listed.
    func settleTail() throws(FileError) {
        for audio in parts[parts.count - 1].audio {
            if let stray = site.stray(audio) { try take(stray) }
        }
        settleStrays()
        let last = parts.removeLast()
        leaveOutEmptyParts()
        parts.append(last)
    }

    /// Removes the parts without a frame from the take. It is whole without their files, so those are deleted last.
    func leaveOutEmptyParts() {
        empty += parts.filter { $0.keptFrames == 0 }
        parts.removeAll { $0.keptFrames == 0 }
    }

    /// Whether an audio file is known to have lost its name.
    func isNameless(_ audio: AudioFile) -> Bool {
        guard let stray = audio.file == nil ? site.strayClosed(audio) : site.stray(audio) else { return false }
        return stray.place != .named
    }

    /// Gives up a rescue: the sound of the removed file that is not copied yet is lost.
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

    /// Removes twins without sound from the parts. `leaveOutEmptyParts` removes the parts whose filtered sound is lost.
    private func dropLostTwins() {
        for part in parts.indices where parts[part].audio.count > 1 && parts[part].audio[1].dataBytes == 0 {
            guard parts[part].frames > 0 else { continue }
            let twin = parts[part].audio.remove(at: 1)
            if !strayNames.contains(twin.name) { try? site.files.remove(site.path(twin.currentName)) }
        }
    }
}

extension TakeOutput.SyncState {
    /// Whether new parts may be begun: not after a failure.
    var allowsNewPart: Bool {
        switch self {
        case .idle, .underWay: true
        case .failed: false
        }
    }
}

public import Files
public import Takes

/// The parts of a take that is being written, and their numbers.
extension TakeOutput {
    func header(format: StreamFormat, firstFrame: TakeFrame, isUnfiltered: Bool) -> WAVHeader {
        WAVHeader(
            format: format,
            origin: BroadcastOrigin(
                sidecar: sidecar, started: started, firstFrame: firstFrame.count, format: format.stored,
                isUnfiltered: isUnfiltered))
    }

    /// The final names of a part's audio files, the filtered one before its twin.
    private func names(of number: Int, firstFrame: TakeFrame) -> [String] {
        let begun = begun(firstFrame)
        return (keepsUnfiltered ? [false, true] : [false]).map { isUnfiltered in
            name.audioFile(part: number, isUnfiltered: isUnfiltered, started: begun, nameTime: nameTime)
        }
    }

    func addPart(format: StreamFormat, firstFrame: TakeFrame) {
        // The first part has number 1.
        let number = parts.isEmpty && empty.isEmpty ? 1 : freeNumber(after: lastNumber, firstFrame)
        var stage = AudioFile.Stage.part
        if case .tail = state { stage = .tail }
        let audio = names(of: number, firstFrame: firstFrame).enumerated().map { index, name in
            AudioFile(
                name: name, header: header(format: format, firstFrame: firstFrame, isUnfiltered: index == 1),
                firstFrame: firstFrame, stage: stage, hasFingerprint: hasFingerprint)
        }
        // Reserves space for closing chunks: about a thousand markers.
        let room = splitBytes - Int64(WAVHeader.byteCount) - min(65_536, splitBytes / 16)
        let capacity = room / Int64(format.stored.bytesPerFrame)
        // An even number of frames needs no padding byte.
        parts.append(
            TakePart(
                number: number, format: format, card: card, framesBefore: frames, audio: audio,
                capacityFrames: max(2, capacity - capacity % 2)))
    }

    func split(format: StreamFormat, firstFrame: TakeFrame) throws(FileError) {
        try writeHeader(of: parts.count - 1)
        if case .tail = state { return try makePart(format: format, firstFrame: firstFrame, .beginTail) }
        try makePart(format: format, firstFrame: firstFrame, .split)
        ledger.beganPart()
        partChange = ledger.change
    }

    /// Adds a part and makes its files. If that fails, the part is not added and its files are removed.
    func makePart(format: StreamFormat, firstFrame: TakeFrame, _ phase: TakePhase) throws(FileError) {
        addPart(format: format, firstFrame: firstFrame)
        do throws(FileError) {
            try site.perform(phase, audio: &parts[parts.count - 1].audio)
        } catch {
            removeAudio(of: parts.removeLast())
            throw error
        }
    }

    /// Lets the newest part take the sound of a card that is back, if no other part can be made. Making another part is
    /// tried again later.
    /// - Parameter silence: silent frames for the time without the card, which the caller appends next.
    /// - Returns: whether the part has that format, and there is room for the silence.
    public func keepPart(format: StreamFormat, silence: Int64) -> Bool {
        guard case .recording = state, let last = parts.last, last.format == format else { return false }
        let grown = last.frames + silence + Self.splitRetrySeconds * Int64(format.rateHz)
        guard grown <= Self.mostFrames(format), hasRoom(forSilence: silence) else { return false }
        parts[parts.count - 1].capacityFrames = grown
        return true
    }

    /// The maximum number of frames of a part while no other part can be made.
    static func mostFrames(_ format: StreamFormat) -> Int64 {
        let most = (largestBytes - Int64(WAVHeader.byteCount)) / Int64(format.stored.bytesPerFrame)
        return most - most % 2
    }

    /// Notes that sound of the card is lost because no part could be made for it.
    public func noteLoss(at frame: TakeFrame, frames: Int64, _ failure: FileError) {
        partFailure = nil
        ledger.note(.gap(at: frame, frames: frames, cause: .stall))
        let seconds = Self.seconds(frames, StreamFormat(rateHz: sidecar.rateHz, channels: 1, sampleFormat: .s16))
        news.append(.trouble("\(failure): \(seconds) of the sound are lost"))
    }

    /// Removes the audio files of a part, as far as the storage allows.
    func removeAudio(of part: TakePart) {
        for audio in part.audio where audio.file != nil { try? site.files.remove(site.path(audio.currentName)) }
    }
}

// MARK: - Numbers

extension TakeOutput {
    /// The highest number of a part of the take.
    private var lastNumber: Int { (parts + empty).map(\.number).max() ?? 0 }

    /// The next number that no file uses. Files that are not the recorder's keep their names.
    /// - Parameter firstFrame: of the part.
    private func freeNumber(after last: Int, _ firstFrame: TakeFrame) -> Int {
        var number = last + 1
        while isTaken(number, firstFrame) { number += 1 }
        return number
    }

    private func isTaken(_ number: Int, _ firstFrame: TakeFrame) -> Bool {
        let begun = begun(firstFrame)
        return [false, true].contains { isUnfiltered in
            let file = name.audioFile(part: number, isUnfiltered: isUnfiltered, started: begun, nameTime: nameTime)
            return [.final, .part, .tail].contains { (stage: AudioFile.Stage) in
                site.files.isTaken(site.path(file + stage.suffix))
            }
        }
    }

    /// When a frame of the take was sampled, by the calendar at its start.
    private func begun(_ frame: TakeFrame) -> WallTime {
        started + .seconds(Double(frame.count) / Double(max(1, sidecar.rateHz)))
    }

    /// Renumbers the tail's parts, in order, if another object has a name that one of their files must get.
    func renumberTail() throws(FileError) {
        let tail = parts.indices.filter { part in parts[part].audio.contains { $0.stage != .committed } }
        guard tail.contains(where: { parts[$0].audio.contains(where: isBlocked) }) else { return }
        var number = lastNumber
        for part in tail {
            let firstFrame = parts[part].audio[0].firstFrame
            number = freeNumber(after: number, firstFrame)
            for (index, file) in names(of: number, firstFrame: firstFrame).enumerated()
            where index < parts[part].audio.count {
                try site.rename(&parts[part].audio[index], to: file)
            }
            parts[part].number = number
        }
    }

    private func isBlocked(_ audio: AudioFile) -> Bool {
        [.part, .final].contains { (stage: AudioFile.Stage) in
            stage != audio.stage && site.files.isTaken(site.path(audio.name + stage.suffix))
        }
    }
}

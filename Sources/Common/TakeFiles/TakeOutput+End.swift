public import Files
import Glibc
public import Takes

extension TakeOutput {
    /// Ends the take: closes the audio files and gives all files their final names, the sidecar last.
    ///
    /// - Parameters:
    ///   - ending: why the take ended.
    ///   - levels: of the whole take, one entry per channel.
    /// - Returns: the sidecar as it is on the disk.
    /// - Throws: `FileError`. The take is then not committed, and `abandon` may still commit it.
    public func finish(endedBy ending: Sidecar.Ending, levels: [Sidecar.Levels]) throws(FileError) -> Sidecar {
        checkRecording()
        ledger.end(by: ending, levels: levels)
        try checkSync()
        do throws(FileError) {
            let sidecar = try carryOut(TakePhase.finish)
            state = .finished
            directory.resumptions.note(nil, of: name)
            return sidecar
        } catch {
            syncState = .failed(error)
            throw error
        }
    }

    /// Ends the take after a failure, with all data that can be made safe.
    ///
    /// After a failed sync, the data written since the last successful one is read again, since the kernel discards
    /// data that it failed to write. Data that still matches the received data is written once more, and the rest is
    /// cut off. If the storage accepts that, the take is committed without peaks and closing chunks. If not, headers
    /// and sidecar report only the frames that are known to be on the disk, as far as the storage allows, and the files
    /// stay as `.part`. No sound is removed. A recovery in the same directory accepts only frames that still match the
    /// received data.
    public func abandon(endedBy ending: Sidecar.Ending, levels: [Sidecar.Levels]) -> TakeRemains {
        checkRecording()
        ledger.end(by: ending, levels: levels)
        defer {
            state = .over
            directory.resumptions.note(nil, of: name)
        }
        let isSure = syncedFrames == frames
        var isLost = isDoubtful
        do throws(FileError) {
            // A file that another program shortened must not be extended again with zeros.
            settleStrays()
            try salvage()
            isLost = true
            ledger.replace(try carryOut(TakePhase.abandon))
            return TakeRemains(name: name, safeFrames: frames, isFinished: true, error: nil)
        } catch {
            if !isLost, error.isOfOneFile { noteEnd() } else if !isSure, syncedFrames < frames { cutBack() }
            return TakeRemains(name: name, safeFrames: syncedFrames, isFinished: false, error: error, loss: loss)
        }
    }
}

/// The result of abandoning a take.
public struct TakeRemains: Sendable, Hashable {
    public var name: TakeName
    /// Frames that are known to be on the disk.
    public var safeFrames: Int64
    /// Whether it was committed. If not, its `.part` files wait for recovery.
    public var isFinished: Bool
    /// Why it was not committed.
    public var error: FileError?
    /// The loss in a removed file, as a sentence, or nil if nothing was lost.
    public var loss: String?
}

extension TakeOutput {
    private func checkRecording() {
        guard case .recording = state else { preconditionFailure("\(name.stem) has ended already") }
    }

    private func carryOut(_ phases: [TakePhase]) throws(FileError) -> Sidecar {
        settleStrays()
        // The card of such a part went away before it delivered anything.
        if parts.contains(where: { $0.keptFrames > 0 }) { leaveOutEmptyParts() }
        let final = snapshot(completeParts: parts.count)
        for phase in phases {
            switch phase {
            case .close: try close()
            case .replaceSidecar: try replaceSidecar(final)
            case .commit:
                if final.revision == 1, isSidecarForeign { try site.perform(.keepDamaged) }
                try perform(phase, content: SidecarFile.bytes(final))
            case .appendSide, .endSide: site.perform(phase, side: &peaks)
            case .secure, .number, .begin, .writeHeader, .sync, .split, .beginSide, .dropSide, .dropDraft, .revise,
                .restore,
                .discard, .noteBinning, .copyToBin, .bin, .takeOut, .clearBin, .adopt, .setAside, .replaceUnread,
                .replaceLost, .keepDamaged, .repair, .dropAudio, .removeEmpty, .beginTail, .rejoin,
                .dropTail:
                try perform(phase)
            }
            if phase == .secure { syncedFrames = frames }
        }
        try? site.perform(.dropDraft)
        // Their files may already be closed.
        for audio in empty.flatMap(\.audio) where audio.dataBytes == 0 && !strayNames.contains(audio.name) {
            try? site.files.remove(site.path(audio.currentName))
        }
        return final
    }

    /// Whether the object with the name of the sidecar was not written for this take. After a failure, the take's own
    /// first revision may have the name.
    private var isSidecarForeign: Bool {
        let path = site.path(.sidecar)
        guard site.files.isTaken(path) else { return false }
        guard let bytes = try? site.files.contents(path, limit: LeftoverTake.mostSidecarBytes),
            let there = SidecarCondition.credible(bytes, path: path, for: name)
        else { return true }
        return there.bootID != sidecar.bootID || there.startedMonotonicNs != sidecar.startedMonotonicNs
    }

    /// Replaces the draft of the sidecar. If the storage does not accept a new file, the waveform is deleted first,
    /// since it can be made again.
    private func replaceSidecar(_ sidecar: Sidecar) throws(FileError) {
        let content = SidecarFile.bytes(sidecar)
        do throws(FileError) {
            do throws(FileError) {
                try site.perform(.replaceSidecar, content: content)
            } catch {
                guard giveUpWaveform(error) else { throw error }
                try site.perform(.replaceSidecar, content: content)
            }
        } catch {
            // The take cannot be finished, and recovery must know how it ended.
            if error.code != EIO { try? site.overwriteDraft(with: content) }
            throw error
        }
    }

    /// Carries out a phase for the audio files of all parts at once, and for the side files.
    func perform(_ phase: TakePhase, content: [UInt8] = []) throws(FileError) {
        var all = parts.flatMap(\.audio)
        defer {
            var next = all.makeIterator()
            for part in parts.indices {
                for index in parts[part].audio.indices {
                    if let audio = next.next() { parts[part].audio[index] = audio }
                }
            }
        }
        try site.perform(phase, audio: &all, sides: &sides, content: content)
    }

    /// Appends the closing chunks, if there are any, one file at a time.
    private func close() throws(FileError) {
        for part in parts.indices {
            let isLast = part == parts.count - 1
            for index in parts[part].audio.indices {
                try site.close(&parts[part].audio[index], of: sidecar, isLast: isLast)
            }
        }
    }

    /// Whether the files may not contain the data written since the last sync.
    private var isDoubtful: Bool {
        if case .idle = syncState { false } else { true }
    }

    /// Cuts off everything that is not a whole frame in every file, and, after a failed sync, everything that does not
    /// match the received data.
    private func salvage() throws(FileError) {
        releaseSynced()
        for part in parts.indices {
            var frames = parts[part].frames
            for audio in parts[part].audio {
                guard let file = audio.file else { continue }
                try site.files.truncate(file, to: audio.end + (audio.isClosed ? Int64(audio.closing.count) : 0))
                guard isDoubtful else { continue }
                let bytes = try audio.written.soundBytes(in: file, site.files, isKept: true)
                frames = min(frames, bytes / Int64(parts[part].format.stored.bytesPerFrame))
            }
            if frames < parts[part].frames { try cut(part, to: frames) }
        }
    }

    /// Removes the last frames of a part from the take.
    private func cut(_ part: Int, to frames: Int64) throws(FileError) {
        self.frames -= parts[part].frames - frames
        parts[part].shorten(to: frames)
        for index in parts[part].audio.indices {
            parts[part].cut(index)
            guard let file = parts[part].audio[index].file else { continue }
            try site.files.truncate(file, to: parts[part].audio[index].end)
        }
        var rest = snapshot()
        rest.trim()
        // The levels are valid only for the whole take.
        rest.levels = []
        ledger.replace(rest)
    }

    /// The files contain all written data. Writes this and the reason for the end to a sidecar, as far as the storage
    /// still allows.
    private func noteEnd() {
        let known = snapshot()
        guard known.frames > 0 else { return }
        try? replaceSidecar(known)
    }

    /// Writes headers and a sidecar that report only the synced frames, as far as the storage still allows.
    private func cutBack() {
        directory.receivedSound.keep(parts.flatMap(\.audio), of: name)
        // Recovery may find more frames of the incomplete parts.
        let complete = parts.prefix { $0.synced(of: syncedFrames) == $0.frames }.count
        for part in parts.indices {
            parts[part].shorten(to: parts[part].synced(of: syncedFrames))
            for index in parts[part].audio.indices {
                parts[part].cut(index)
                var one = [parts[part].audio[index]]
                try? site.perform(.secure, audio: &one)
            }
        }
        var known = snapshot(completeParts: min(complete, parts.count - 1))
        known.levels = []
        // A take without a frame would be removed.
        guard known.frames > 0 else { return }
        try? replaceSidecar(known)
    }
}

import Glibc
import Ring
import TakeFiles
import Takes
import Transport

// Where takes are kept: the folder, whether it is in its place and takes anything, and what the archivist does there.
extension Deck {
    /// Opens the folder for takes, unless it is open.
    func openDirectory() {
        guard directory == nil else { return }
        do {
            if isOnOwnStorage, !TakesDirectory.isOnOwnStorage(options.directory, files: files) {
                // A folder of the same name would be made on the kit's own disk.
                throw FileError("open", options.directory, code: ENOENT)
            }
            let opened = try TakesDirectory(path: options.directory, files: files)
            selection = Selection(takes: try opened.takes())
            directory = opened
            isOnOwnStorage = opened.isOnOwnStorage
            isStorageSuspect = false
            isStorageUnreadable = false
            hasLeftovers = false
            unrecovered = []
            faults.clear(.storageFailing)
            archivist.orders.post(
                .keep(opened, upTo: opened.lastNumber, bootID: options.bootID, endings: abandoned))
            // It may have been set while nobody looked.
            dateTakes()
        } catch {
            raise(Fault(.storageFailing, "storage: \(error)"))
        }
    }

    /// Looks whether the folder is still the one that was opened, and can be written.
    func checkPlace() {
        guard let directory else { return }
        do {
            guard try directory.isInPlace() else {
                report(Report(.notice, "storage: \(options.directory): it was removed, or another is in its place"))
                self.directory = nil
                leaveDirectory()
                selection = Selection()
                freeBytes = nil
                openDirectory()
                return
            }
            try directory.checkWritable()
            if isStorageUnreadable {
                isStorageUnreadable = false
                if !isStorageSuspect { faults.clear(.storageFailing) }
                // What was to be dated meanwhile could not be.
                dateTakes()
            }
        } catch {
            isStorageUnreadable = true
            raise(Fault(.storageFailing, "storage: \(error)"))
        }
        if isStorageSuspect, !isProbing {
            isProbing = true
            archivist.orders.post(.probe)
        }
        if hasLeftovers, !isStorageSuspect, !isStorageUnreadable, !isProbing, freeBytes != nil, !isFull {
            hasLeftovers = false
            archivist.orders.post(.recover(upTo: directory.lastNumber, endings: abandoned))
        }
    }

    /// Whatever was to be done there is not done any more.
    private func leaveDirectory() {
        archivist.orders.post(.leave)
        isProbing = false
        faults.clear(.diskFull)
        let waiting = discards
        discards = [:]
        for (take, completions) in waiting {
            for completion in completions {
                completion(.failure(Refusal(.io, "discard: \(take.stem): \(options.directory) is not where it was")))
            }
        }
    }

    /// Looks at what is free.
    func checkStorage() {
        guard let directory else { return }
        do {
            let free = try directory.freeBytes()
            freeBytes = free
            if let fault = StorageWatch.fault(
                directory: options.directory, freeBytes: free, reserveBytes: options.reserveBytes, format: likelyFormat,
                isTwinKept: options.keepsUnfiltered)
            {
                raise(fault)
            } else {
                if faults[.diskFull] != nil { retryLeftovers() }
                faults.clear(.diskFull)
            }
        } catch {
            isStorageUnreadable = true
            raise(Fault(.storageFailing, "storage: \(error)"))
        }
    }

    /// Whether there is no room for another take, as far as is known.
    var isFull: Bool {
        guard let freeBytes else { return false }
        return freeBytes
            < StorageWatch.least(
                reserveBytes: options.reserveBytes, format: likelyFormat, isTwinKept: options.keepsUnfiltered)
    }

    /// What a take would be of: what the card delivers, or, without a card, what many do.
    private var likelyFormat: StreamFormat {
        input?.ring.format ?? StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    }

    /// The storage is not what it was when things could not be recovered: they may be now.
    func retryLeftovers() {
        guard !unrecovered.isEmpty else { return }
        unrecovered = []
        hasLeftovers = true
    }

    /// Something could not be recovered. It is told, and tried once more if the storage takes anything; if it comes to the same
    /// then, not before the storage has changed.
    private func hearUnrecovered(_ message: String) {
        if unrecovered.insert(message).inserted {
            hasLeftovers = true
            report(Report(.error, message))
        }
        guard case .idle = phase, !isProbing else { return }
        isProbing = true
        archivist.orders.post(.probe)
    }

    /// Whether the storage takes anything, and why not. One that does not is looked at again and again.
    private func hearProbe(_ failure: String?) {
        isProbing = false
        if let failure {
            // A take that began meanwhile knows better.
            guard case .idle = phase else { return }
            isStorageSuspect = true
            raise(Fault(.storageFailing, "storage: \(failure)"))
        } else if isStorageSuspect {
            isStorageSuspect = false
            if !isStorageUnreadable { faults.clear(.storageFailing) }
            // What was to be dated meanwhile could not be.
            dateTakes()
        }
    }

    /// Removes a take, and tells once it is gone.
    func discard(_ reference: TakeReference, _ completion: @escaping Completion) {
        do throws(Refusal) {
            let take = try find(reference, for: "discard")
            guard directory != nil else {
                throw Refusal(.io, "discard: \(take.stem): \(options.directory) is not there")
            }
            if case .playing(let play) = phase, play.name == take {
                throw Refusal(.busy, "discard: \(take.stem) is being played: stop it first")
            }
            discards[take] = [completion]
            archivist.orders.post(.discard(take))
        } catch {
            completion(.failure(error))
        }
    }

    /// Takes note of what the archivist did.
    public func hearArchivist() {
        for outcome in archivist.outcomes.take() { hear(outcome) }
        onChange()
    }

    private func hear(_ outcome: ArchiveOutcome) {
        switch outcome {
        case .recovered(let take, let sidecar):
            selection.insert(take)
            abandoned[take] = nil
            let length = "\(sidecar.frames) frames, \(Report.seconds(sidecar.durationSeconds))"
            let ending = sidecar.endedBy?.rawValue ?? "unknown"
            report(Report(.notice, "recover: \(take.stem): \(length), ended by \(ending)"))
            if sidecar.pendingFormat != nil { archivist.orders.post(.convert(take)) }
            // The date may have been set meanwhile.
            if sidecar.bootID == options.bootID { dateTakes() }
        case .discarded(let take, let failure):
            let completions = discards.removeValue(forKey: take) ?? []
            if failure == nil {
                selection.remove(take)
                report(Report(.notice, "discard: \(take.stem): deleted"))
            }
            for completion in completions {
                completion(failure.map { .failure(Refusal(.io, "discard: \($0)")) } ?? .success(status))
            }
        case .unrecovered(let message): hearUnrecovered(message)
        case .probed(let failure): hearProbe(failure)
        case .told(let line): report(line)
        }
    }
}

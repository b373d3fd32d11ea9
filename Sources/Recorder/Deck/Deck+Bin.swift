import TakeFiles
import Takes
public import Transport
import Workers

// The commands for deleted takes that are still in the bin.
extension Deck {
    /// The takes in the bin, the oldest first.
    public var binnedTakes: [BinnedTake] {
        storage.directory?.bin.items.map { item in
            BinnedTake(
                take: item.take.stem, number: item.take.number, day: item.take.day, bytes: item.byteCount,
                binned: item.binned)
        } ?? []
    }

    /// Restores a take from the bin. The asker is answered once it is back.
    func restore(_ stem: String, in day: String?, _ asker: Asker) throws(Refusal) {
        let directory = try openBin("restore: \(stem)")
        guard recovery.discarded(stem, in: day) == nil else {
            throw Refusal(.stillDeleted(stem: stem))
        }
        guard directory.bin.isRead else {
            throw Refusal(.binNotRead(stem: stem))
        }
        guard let item = directory.bin.find(stem: stem, day: day) else {
            throw Refusal(.notInBin(stem: stem, detail: "no such take in the bin, \(directory.binPath)"))
        }
        binAskers.restores[item.take, default: []].append(asker)
        if binAskers.restores[item.take]?.count == 1 { workers.archivist.post(.restore(item.take)) }
    }

    /// Empties the bin for good. The asker is answered once that is done.
    func empty(_ stem: String?, _ asker: Asker) throws(Refusal) {
        let directory = try openBin("empty")
        let take = stem.map { directory.bin.find(stem: $0)?.take }
        if case .some(nil) = take, let stem {
            throw Refusal(.notFound, "empty: \(stem): no such take in the bin, \(directory.binPath)")
        }
        binAskers.empties.append(asker)
        workers.archivist.post(.empty(take ?? nil))
    }

    private func openBin(_ what: String) throws(Refusal) -> TakesDirectory {
        guard let directory = storage.directory else {
            throw Refusal(.storageAway(subject: what, folder: storage.path))
        }
        return directory
    }

    func restored(_ take: TakeName, _ refusal: Refusal?) {
        if let refusal {
            report(Report(.warning, refusal.message))
        } else {
            selection.insert(take)
            report(Report(.notice, "restore: \(take.stem): it is out of the bin"))
            announce(.takeChanged(TakeChange(.committed, take: take.stem)))
        }
        for asker in binAskers.restores.removeValue(forKey: take) ?? [] {
            reply(asker, refusal.map { .failure($0) } ?? .success(status))
        }
    }

    /// Answers the callers in the order of their requests.
    func emptied(_ refusal: Refusal?) {
        report(
            refusal.map { Report(.warning, $0.message) }
                ?? Report(.notice, "empty: deleted for good what was in the bin"))
        guard !binAskers.empties.isEmpty else { return }
        reply(binAskers.empties.removeFirst(), refusal.map { .failure($0) } ?? .success(status))
    }

    /// Empties the bin, the oldest take first, if less is free than a minute of sound needs. During a take, the reserve
    /// is added.
    func makeRoom() {
        guard let directory = storage.directory, let free = directory.bin.lastFreeBytes, directory.bin.oldest != nil
        else { return }
        let minute = options.leastBytes(likelyFormat) - options.reserveBytes
        let wanted = 60 * minute + (isRecording ? options.leastBytes(likelyFormat) : 0)
        if free < wanted { workers.archivist.post(.makeRoom(wanted)) }
    }
}

struct BinAskers {
    var restores: [TakeName: [Asker]] = [:]
    /// In the order of the requests.
    var empties: [Asker] = []
}

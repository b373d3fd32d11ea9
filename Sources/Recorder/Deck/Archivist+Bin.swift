import Files
import Glibc
import TakeFiles
import Takes
import Transport
import Workers

extension Archivist {
    /// The interval of the updates of the bin's age.
    private static let binInterval = Duration.seconds(3600)

    /// The time of the next check of the bin, or nil for none. The bin is not checked while heavy writing is held back.
    var nextCheck: Instant? { burden == .allowed ? nextBinCheck : nil }

    func discarding(of take: TakeName, _ terms: DiscardTerms) -> Chore {
        Chore(kind: .discard, take: take) { [unowned self] in
            if let end = terms.notAfter, clock.now() > end {
                return .done(.discarded(take, .refused(Refusal(.deletionLate(stem: take.stem)))))
            }
            guard let directory else { return .done(.discarded(take, .refused(Self.storageWentAway(take)))) }
            do throws(FileError) {
                guard !terms.isFinal else {
                    try directory.remove(take)
                    return .done(.discarded(take, .deleted))
                }
                try directory.moveToBin(take, at: moment)
                nextBinCheck = nextBinCheck ?? clock.now() + Self.binInterval
                return .done(.discarded(take, .binned))
            } catch {
                guard (try? directory.contains(take)) == false else {
                    let reason = terms.isFinal ? "\(error)" : directory.binRefusal(of: take, error)
                    return .done(
                        .discarded(take, .refused(Refusal(.notDeleted(.io, message: "discard: \(reason)")))))
                }
                let rest =
                    terms.isFinal
                    ? "it is deleted, but for files that are removed when the recorder starts again"
                    : "it is in the bin, but for files that are moved there when the recorder starts again"
                let message = "discard: \(take.stem): \(rest): \(error)"
                return .done(.discarded(take, .begun(Refusal(.deletedPartly(message: message)))))
            }
        }
    }

    func restoring(of take: TakeName) -> Chore {
        let away = Refusal(.restoredWithoutStorage(stem: take.stem))
        var chore = Chore(kind: .bin) { [unowned self] in
            guard let directory else { return .done(.restored(take, away)) }
            do throws(FileError) {
                try directory.restore(take)
            } catch {
                let refusal =
                    switch error.code {
                    case EEXIST where error.operation == "restore": Refusal(.takeInPlace(stem: take.stem))
                    case ENOENT:
                        Refusal(.notInBin(stem: take.stem, detail: "it is not in the bin any more: \(error.fact)"))
                    default:
                        Refusal(.notRestored(message: "restore: \(take.stem): it stays in the bin: \(error)"))
                    }
                return .done(.restored(take, refusal))
            }
            // Unfinished files that were deleted with the take are restored too.
            if (try? directory.leftovers())?.contains(take) == true {
                addRecovery(of: take, in: directory, ending: nil)
            } else if (try? directory.awaitsConversion(take)) == true {
                addConversion(of: take, in: directory)
            }
            // The date may have been set since the take was deleted.
            if let lastDate, (try? directory.sidecar(of: take))?.bootID == bootID {
                add(Self.dating(directory, by: lastDate.truth, kit: lastDate.kit))
            }
            return .done(.restored(take, nil))
        }
        chore.dropped = .restored(take, away)
        return chore
    }

    /// Empties one take, or all takes that are now in the bin with their sidecars.
    func emptying(of take: TakeName?) -> Chore {
        let away = Refusal(.io, "empty: the storage went away: the rest is in the bin there")
        var left = take.map { [$0] } ?? directory?.bin.items.filter(\.hasSidecar).map(\.take) ?? []
        var failure: Refusal?
        var chore = Chore(kind: .bin) { [unowned self] in
            guard let directory else { return .done(.emptied(take, away)) }
            guard !left.isEmpty else { return .done(.emptied(take, failure)) }
            let next = left.removeFirst()
            // It was restored meanwhile.
            guard directory.bin.items.contains(where: { $0.take == next }) else { return .more }
            do throws(FileError) {
                try directory.empty(next, isNamed: take != nil)
            } catch {
                let isInTheWay = error.isPutBack || error.isDifference
                let reason = directory.reasonToStay(next, error) ?? "\(error)"
                failure = failure ?? Refusal(isInTheWay ? .busy : .io, "empty: \(next.stem): \(reason)")
                // The error shows that the list is out of date.
                readAgain(directory)
            }
            return .more
        }
        chore.dropped = .emptied(take, away)
        return chore
    }

    /// Reads the bin, and completes operations there that a power cut interrupted. This comes before the recovery of
    /// takes, because some of them may be in the bin.
    func reading(of directory: TakesDirectory) -> Chore {
        Chore(kind: .bin) { [unowned self] in
            read(directory)
            return .done(nil)
        }
    }

    private func read(_ directory: TakesDirectory) {
        directory.readBin(at: moment)
        reportProblems(directory)
        nextBinCheck =
            !directory.bin.items.isEmpty
            ? clock.now() : directory.bin.isReadAgain ? clock.now() + Self.binInterval : nil
    }

    /// Reads the bin again if it could not be read completely.
    func readAgain(_ directory: TakesDirectory) {
        if directory.bin.isReadAgain { read(directory) }
    }

    /// Deletes takes from the bin for good, the oldest first, until the given number of bytes is free. The space may
    /// become free with a delay, so the sizes of the deleted takes are counted, and no more than the missing bytes are
    /// deleted.
    func makeRoom(_ wanted: Int64) {
        guard let directory, !chores.contains(where: { $0.isRoom }) else { return }
        var freed: Int64 = 0
        var missing: Int64?
        var chore = Chore(kind: .bin) {
            let needed = try missing ?? wanted - directory.freeBytesBesideBin()
            missing = needed
            guard freed < needed, let oldest = directory.bin.oldest else { return .done(nil) }
            freed += oldest.byteCount
            return try Self.remove(oldest, from: directory, because: "its space is needed")
        }
        chore.isRoom = true
        add(chore)
    }

    /// Updates the bin's age when that is due, and deletes for good the takes whose time in the bin is over.
    func checkBin() {
        guard let directory, let due = nextBinCheck, clock.now() >= due, burden == .allowed else { return }
        readAgain(directory)
        nextBinCheck = directory.bin.items.isEmpty ? nil : clock.now() + Self.binInterval
        let moment = moment
        add(
            Chore(kind: .survey) {
                try directory.keepBinAge(at: moment)
                guard let oldest = directory.bin.overdue.first else { return .done(nil) }
                return try Self.remove(oldest, from: directory, because: "it was there for 30 days")
            } failed: {
                .reported(Report(.warning, "bin: \($0)"))
            })
    }

    private static func remove(
        _ item: TakesBin.Item, from directory: TakesDirectory, because reason: String
    ) throws -> Chore.Progress {
        do throws(FileError) {
            try directory.empty(item.take)
        } catch {
            // Otherwise it would be the first candidate forever.
            directory.bin.passOver(item.take)
            let reason = directory.reasonToStay(item.take, error) ?? "cannot be removed: \(error)"
            return .note(.reported(Report(.warning, "bin: \(item.take.stem): \(reason)")))
        }
        return .note(.reported(Report(.notice, "bin: \(item.take.stem): deleted for good: \(reason)")))
    }

    private func reportProblems(_ directory: TakesDirectory) {
        for problem in directory.bin.newProblems() { outcomes?.post(.reported(Report(.warning, problem))) }
    }

    private var moment: BinMoment {
        BinMoment(clock.now(), wall: clock.wallTime(), origin: lastDate?.truth.origin ?? .unset, bootID: bootID)
    }
}

extension TakesDirectory {
    /// Returns the obstacle that kept a take in the bin, as a sentence, or nil if the storage failed.
    fileprivate func reasonToStay(_ take: TakeName, _ error: FileError) -> String? {
        if error.isDifference {
            return "\(error.path) are not known to be the same: move one of them to another place"
        }
        guard error.isPutBack else { return nil }
        let hasSidecar = bin.items.first { $0.take == take }?.hasSidecar == true
        guard hasSidecar, (try? contains(take)) == true else { return TakesBin.putBack(error.path, of: take) }
        return TakesBin.copiedBack(take, to: "\(path)/\(take.day)")
    }

    /// Why a take cannot be moved into the bin, and which command to use instead.
    fileprivate func binRefusal(of take: TakeName, _ error: FileError) -> String {
        let instead = "to delete it for good, use 'fieldfare delete --now'"
        return switch error.code {
        case EEXIST where error.path == binPath:
            "\(take.stem): another take of that name is in the bin: use 'fieldfare bin empty \(take.stem)', or \(instead)"
        case ENOTDIR, ELOOP, EXDEV: "\(take.stem): \(binProblem(error)), or \(instead)"
        case ENOSPC, EDQUOT: "\(take.stem): no room for the bin: \(error.fact): \(instead)"
        default: "\(error)"
        }
    }
}

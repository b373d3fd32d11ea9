import Recording
import TakeFiles
import Takes
public import Transport
import Workers

// The commands of the control socket.
extension Deck {
    /// Carries out a command, and reports its outcome when it is known: for `stop`, once the take is on disk.
    /// - Parameter initiator: the initiator that is noted in a take begun by the command.
    public func perform(
        _ command: Command, by initiator: TakeInitiator = .command, _ completion: @escaping Completion
    ) {
        collect()
        let now = clock.now()
        let asker = asker(completion)
        do throws(Refusal) {
            switch command {
            case .record: decide(.record(at: now, by: asker, startedBy: initiator))
            case .recordFrom(let time):
                let from = try instant(of: time, for: "record", now: now)
                decide(.record(at: now, by: asker, startedBy: initiator, from: from))
            case .stop: decide(.stop(at: now, by: asker))
            case .mark(let request): decide(.mark(try mark(request, now: now), by: asker))
            case .play(nil): decide(.play(nil, by: asker))
            case .play(let reference?): try use(reference, for: .play, asker)
            case .pause: decide(.change(.pause, by: asker))
            case .skip(let seconds): decide(.change(.skip(seconds: seconds), by: asker))
            case .volume(let volume): decide(.change(.volume(volume), by: asker))
            case .pitch(let cents): decide(.change(.pitch(cents: cents), by: asker))
            case .speed(let factor, let expands): decide(.change(.speed(factor: factor, expands: expands), by: asker))
            case .select(let reference): try use(reference, for: .select, asker)
            case .filter(let lowPass, let slope, let highPass):
                var wanted = filter
                wanted.lowPass = lowPass ?? wanted.lowPass
                wanted.slopeDBPerOctave = slope ?? wanted.slopeDBPerOctave
                wanted.highPass = highPass ?? wanted.highPass
                try setFilter(wanted)
                reply(asker, .success(status))
            case .gain(let gain, let agc): workers.card.post(.setGain(gain, agc: agc, by: asker))
            case .eject: try eject(asker)
            case .discard(let stem, let terms):
                if let take = recovery.discarded(stem, in: terms.day), let others = recovery.termsOfDiscard(take) {
                    guard terms == others || terms == DiscardTerms() else {
                        throw Refusal(.deletedByOther(stem: stem))
                    }
                    // The same discard was requested before. Both callers are answered at its end.
                    recovery.awaitDiscard(take, by: asker)
                } else {
                    discard(try find(.stem(stem), in: terms.day, for: "discard"), terms, asker)
                }
            case .restore(let stem, let day): try restore(stem, in: day, asker)
            case .empty(let stem): try empty(stem, asker)
            case .settle(let stem, let day):
                if let take = recovery.discarded(stem, in: day) {
                    recovery.awaitDiscard(take, by: asker)
                } else {
                    reply(asker, .success(status))
                }
            }
        } catch {
            if case .play = command { refuse(error) }
            reply(asker, .failure(error))
        }
        announce(.changed)
    }

    /// Finds a finished take.
    /// - Parameter day: the folder of the day that the take must be in, or nil for any.
    func find(
        _ reference: TakeReference, in day: String? = nil, for command: String
    ) throws(Refusal) -> TakeName {
        if case .recording(let take) = transport.phase, let name = take.name, reference.names(name) {
            throw take.isBeingRecorded(command)
        }
        guard let take = selection.find(reference, in: day), !recovery.isDiscarded(take) else {
            throw Refusal(.noSuchTake(command: command, reference, folder: storage.path))
        }
        return take
    }

    private func setFilter(_ wanted: FilterRequest) throws(Refusal) {
        if let input {
            do {
                try input.setFilter(wanted)
            } catch {
                throw Refusal(filter: error)
            }
            workers.writer.post(.filter(input.design))
        }
        filter = wanted
    }

    /// From now on the take that was stopped last can no longer be continued.
    func dropTail() {
        guard case .running = transport.tail else { return }
        decide(.stop(at: clock.now(), by: asker { _ in }))
    }

    /// Discards a take. The asker is answered once that is done.
    private func discard(_ take: TakeName, _ terms: DiscardTerms, _ asker: Asker) {
        guard storage.directory != nil else {
            let refusal = Refusal(.storageAway(subject: "discard: \(take.stem)", folder: storage.path))
            return reply(asker, .failure(refusal))
        }
        if case .playing(let playing) = transport.phase, playing.name == take {
            return reply(asker, .failure(Refusal(.takePlayed(subject: "discard: \(take.stem)"))))
        }
        // The sound after a take is only kept to continue it.
        if case .running(take, _, _) = transport.tail { dropTail() }
        recovery.discard(take, terms, by: asker)
        workers.archivist.post(.discard(take, terms))
    }
}

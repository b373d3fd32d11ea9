import Playback
import Recording
import Ring
import TakeFiles
import Takes
import Transport

// What the settings mean to the workers.
extension DeckOptions {
    /// Where and how a take is written.
    func plan(
        _ grant: CaptureGrant, _ directory: TakesDirectory, clock: ClockOrigin, startedBy initiator: TakeInitiator
    ) -> TakePlan {
        TakePlan(
            grant: grant, directory: directory, kit: kit, clock: clock, bootID: bootID, lag: pressAge,
            keepsUnfiltered: keepsUnfiltered, syncPromise: syncPromise, splitBytes: splitBytes,
            reserveBytes: reserveBytes, pendingFormat: convertsToFLAC ? "flac" : nil,
            startedBy: initiator.start, version: version, nameTime: nameTime)
    }

    /// What is to be said of a card that was opened.
    func reports(of grant: CaptureGrant, _ ring: Ring, now: Instant) -> [Report] {
        var reports = [Report.opened(grant, ring)]
        let kept = SyncSchedule(
            promise: syncPromise, period: grant.format.duration(ofFrames: Int64(grant.periodFrames)), lag: pressAge,
            files: keepsUnfiltered ? 2 : 1, start: now
        ).kept
        if kept > syncPromise { reports.append(.brokenPromise(syncPromise, kept: kept)) }
        return reports + grant.warnings.map { Report(.warning, $0) }
    }

    /// Less free than this ends a take of a format, and lets none begin.
    func leastBytes(_ format: StreamFormat) -> Int64 {
        StorageWatch.least(reserveBytes: reserveBytes, format: format, isTwinKept: keepsUnfiltered)
    }

    /// With so much free, a stick that was full is used again: what is nearly full is not.
    func comfortBytes(_ format: StreamFormat) -> Int64 {
        let second = leastBytes(format) - reserveBytes
        return reserveBytes + Int64(StorageWatch.warning.inSeconds) * second
    }

    /// How long a take of a format can be, in whole seconds.
    func secondsLeft(_ freeBytes: Int64, _ format: StreamFormat) -> Double {
        StorageWatch.secondsLeft(
            freeBytes: freeBytes, reserveBytes: reserveBytes, format: format, isTwinKept: keepsUnfiltered
        ).rounded(.down)
    }

    /// That the disk is full or nearly full; nil: neither.
    func lackOfSpace(in directory: String, _ freeBytes: Int64, _ format: StreamFormat) -> Fault? {
        StorageWatch.fault(
            directory: directory, freeBytes: freeBytes, reserveBytes: reserveBytes, format: format,
            isTwinKept: keepsUnfiltered)
    }
}

extension PlayChange {
    /// As the player is ordered to do it.
    var order: PlayOrder {
        switch self {
        case .pause: .pause
        case .resume: .resume
        case .skip(let seconds): .skip(bySeconds: seconds)
        case .volume(let volume): .volume(volume)
        case .pitch(let cents): .pitch(cents: cents)
        case .speed(let factor, let expands): .speed(factor, expands: expands)
        }
    }
}

extension TakeEnding {
    /// As the sidecar says it.
    var written: Sidecar.Ending {
        switch self {
        case .stop: .stop
        case .shutdown: .shutdown
        case .limit: .limit
        case .cardLost: .cardLost
        }
    }
}

extension TakeInitiator {
    /// As the sidecar has it.
    fileprivate var start: Sidecar.Start {
        switch self {
        case .button: .button
        case .command: .command
        case .schedule: .schedule
        }
    }
}

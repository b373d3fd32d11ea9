import Playback
import Recording
import Ring
import TakeFiles
import Takes
import Transport

// Converts the settings for the workers.
extension DeckOptions {
    func plan(
        _ grant: CaptureGrant, _ directory: TakesDirectory, clock: ClockOrigin, startedBy initiator: TakeInitiator
    ) -> TakePlan {
        TakePlan(
            grant: grant, directory: directory, kit: kit, clock: clock, bootID: bootID, lag: pressAge,
            keepsUnfiltered: keepsUnfiltered, syncPromise: syncPromise, splitBytes: splitBytes,
            reserveBytes: reserveBytes, pendingFormat: convertsToFLAC ? "flac" : nil,
            startedBy: initiator.start, version: version, nameTime: nameTime)
    }

    /// The log lines about a card that was opened.
    func reports(of grant: CaptureGrant, _ ring: Ring, now: Instant) -> [Report] {
        var reports = [Report.opened(grant, ring)]
        let kept = SyncSchedule(
            promise: syncPromise, period: grant.format.duration(ofFrames: Int64(grant.periodFrames)), lag: pressAge,
            files: keepsUnfiltered ? 2 : 1, start: now
        ).kept
        if kept > syncPromise { reports.append(.brokenPromise(syncPromise, kept: kept)) }
        return reports + grant.warnings.map { Report(.warning, $0) }
    }

    /// If less than this is free, a take of the format ends, and no other may begin.
    func leastBytes(_ format: StreamFormat) -> Int64 {
        StorageWatch.least(reserveBytes: reserveBytes, format: format, isTwinKept: keepsUnfiltered)
    }

    /// A stick that was full is used again only if this much is free, which is more than a nearly full stick has.
    func comfortBytes(_ format: StreamFormat) -> Int64 {
        let second = leastBytes(format) - reserveBytes
        return reserveBytes + Int64(StorageWatch.warning.inSeconds) * second
    }

    /// The longest possible take of a format, in whole seconds.
    func secondsLeft(_ freeBytes: Int64, _ format: StreamFormat) -> Double {
        StorageWatch.secondsLeft(
            freeBytes: freeBytes, reserveBytes: reserveBytes, format: format, isTwinKept: keepsUnfiltered
        ).rounded(.down)
    }

    /// The fault of a full or nearly full disk, or nil.
    func lackOfSpace(in directory: String, _ freeBytes: Int64, _ format: StreamFormat) -> Fault? {
        StorageWatch.fault(
            directory: directory, freeBytes: freeBytes, reserveBytes: reserveBytes, format: format,
            isTwinKept: keepsUnfiltered)
    }
}

extension PlayChange {
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
    fileprivate var start: Sidecar.Start {
        switch self {
        case .button: .button
        case .command: .command
        case .schedule: .schedule
        }
    }
}

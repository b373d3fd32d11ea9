import Files
import Glibc
package import Takes

/// Checks whether a storage has the capacity that it reports.
package struct CapacityCheck {
    var directory: String
    var outcome: CapacityProbe.Outcome

    /// - Parameter directory: the folder of the takes.
    package init(directory: String, outcome: CapacityProbe.Outcome) {
        self.directory = directory
        self.outcome = outcome
    }

    package var check: AcceptanceCheck {
        switch outcome {
        case .measured(let measure): return judge(measure)
        case .skipped(let reason): return check(.skipped, "\(directory): not tested: \(reason)")
        case .ended(.interrupted): return check(.skipped, "\(directory): not tested: it was interrupted")
        case .ended(.takeBegan): return check(.skipped, "\(directory): not tested: \(Brake.reason)")
        case .failed(let error):
            let isDenied = error.code == EACCES || error.code == EPERM
            let advice = isDenied ? "\(error.fact): run this as root" : error.description
            let place = error.description.contains(directory) ? "" : "\(directory): "
            return check(.failed, place + advice, exitStatus: isDenied ? Verdict.denied : 74)
        }
    }

    private func judge(_ measure: CapacityMeasure) -> AcceptanceCheck {
        let disk = Self.size(measure.diskByteCount)
        var figures: [String: Figure] = [
            "disk_bytes": .count(measure.diskByteCount), "wanted_bytes": .count(measure.wantedByteCount),
            "covered_bytes": .count(measure.coveredByteCount), "blocks": .count(measure.count),
            "wrong_blocks": .count(measure.wrong.count), "step_bytes": .count(measure.step),
            "seconds": .number(measure.duration.inSeconds), "filling": .text(measure.filling.rawValue),
            "reading": .text(measure.reading.rawValue),
        ]
        if let real = measure.realByteCount, let first = measure.wrong.first {
            figures["real_bytes"] = .count(real)
            figures["first_wrong_bytes"] = .count(first.place)
            let advice = "do not record on it, return it"
            let size = Self.size(real)
            if measure.repeats {
                return check(
                    .failed,
                    "\(directory): the card is a fake: bytes written in one place appear \(size) away: about \(size) of its "
                        + "\(disk) are real: \(advice)", figures)
            }
            let count = "\(measure.wrong.count) of \(measure.count) blocks"
            if measure.endsThere {
                return check(
                    .failed,
                    "\(directory): the card is false: it took \(count) above \(size) and lost them: about \(size) of its \(disk) "
                        + "are real: \(advice)", figures)
            }
            return check(
                .failed,
                "\(directory): the card took \(count) and did not give them back, the first at \(size) of \(disk): \(advice)",
                figures)
        }
        let covered = Self.size(measure.coveredByteCount)
        let read =
            "\(directory): \(measure.count) blocks over \(covered) of the card's \(disk) were written, and read back right"
        guard measure.coveredByteCount + measure.step < measure.wantedByteCount else {
            return check(.ok, read, figures)
        }
        let why =
            switch measure.filling {
            case .allocated: "the card is too slow to be tested whole in a minute"
            case .written: "a file system like this can only be written whole, which takes long: ext4 is tested whole"
            }
        let wanted = Self.size(measure.wantedByteCount)
        return check(.warning, "\(read), but not the rest of the \(wanted) that are free: \(why)", figures)
    }

    private func check(
        _ outcome: AcceptanceCheck.Outcome, _ message: String, exitStatus: Int32 = 74, _ figures: [String: Figure] = [:]
    ) -> AcceptanceCheck {
        AcceptanceCheck(.card, "capacity", outcome, message, exitStatus: exitStatus, figures)
    }

    /// A size in the units of card labels: `31.9 GB`.
    private static func size(_ bytes: Int64) -> String {
        bytes < 1_000_000_000 ? "\(rounded(Double(bytes) / 1e6)) MB" : "\(rounded(Double(bytes) / 1e9)) GB"
    }
}

/// Checks whether a storage is fast enough for the recording.
package enum SpeedTrial {
    /// The data rate of a take, in bytes a second.
    /// - Parameter format: the format that the card delivers, or nil for a usual format.
    package static func bytesPerSecond(format: StreamFormat?, isTwinKept: Bool) -> Double {
        SpaceCheck(directory: "", reserveBytes: 0, format: format, isTwinKept: isTwinKept).bytesPerSecond
    }

    /// The checks for the report. They are the findings of a check-up for the same measurement.
    package static func checks(directory: String, outcome: StorageProbe.Outcome, bytesPerSecond: Double)
        -> [AcceptanceCheck]
    {
        if case .skipped(let reason) = outcome {
            return [AcceptanceCheck(.card, "speed", .skipped, "\(directory): not measured: \(reason)")]
        }
        return StorageCheck(
            directory: directory, outcome: outcome, rights: nil, faults: [], neededBytesPerSecond: bytesPerSecond,
            isRecorder: true
        ).findings.map { AcceptanceCheck(.card, "speed", $0) }
    }
}

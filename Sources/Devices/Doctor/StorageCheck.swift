import Files
import Glibc
import Takes
import Transport

/// Checks whether takes can be written fast enough and by the right user.
struct StorageCheck {
    var directory: String
    var outcome: StorageProbe.Outcome
    /// Nil if the folder does not exist.
    var rights: FolderRights?
    /// The storage faults that the recorder shows.
    var faults: [Fault]
    /// The data rate of a take.
    var neededBytesPerSecond: Double
    /// Whether the recorder itself examined the storage.
    var isRecorder: Bool

    /// A storage must be this many times faster than a take's data rate, to catch up after a stall.
    static let margin = 4.0
    /// A power cut costs at most the last second of sound only if a sync takes no longer than this.
    static let longestSync = Duration.milliseconds(100)

    var findings: [Finding] {
        var found = rightsFindings
        switch outcome {
        case .measured(let speed): found.append(judge(speed))
        case .skipped(let reason):
            // A take is being written, and the faults show whether its syncs succeed.
            found.append(.ok(.storage, "\(directory): the speed was not measured: \(reason)"))
        case .failed(let error):
            let isDenied = error.code == EACCES || error.code == EPERM
            if isDenied, !isRecorder {
                found.append(
                    .warning(
                        .storage, "\(error) (this user is not the recorder's: run this as root, or start the recorder)")
                )
            } else {
                let place = error.description.contains(directory) ? "" : "\(directory): "
                found.append(.failure(.storage, "\(place)\(error)", exitStatus: isDenied ? Verdict.denied : 74))
            }
        case .stalled(let duration):
            found.append(
                .failure(
                    .storage,
                    "\(directory): has not answered a write for \(duration.components.seconds) s: check the card in "
                        + "another machine, or replace it"))
        }
        switch outcome {
        case .measured, .skipped: found += faults.map { .failure(.storage, $0.message) }
        // The faults would only repeat this finding.
        case .failed, .stalled: break
        }
        return found.contains { $0.severity != .ok } ? found.filter { $0.severity != .ok } : found
    }

    private func judge(_ speed: StorageSpeed) -> Finding {
        let median = speed.median.inSeconds * 1000
        let longest = speed.longest.inSeconds * 1000
        let figures: [String: Figure] = [
            "write_bytes_per_second": .number(speed.bytesPerSecond.rounded()),
            "needed_bytes_per_second": .number(neededBytesPerSecond), "sync_median_milliseconds": .number(median),
            "sync_longest_milliseconds": .number(longest),
        ]
        let measured =
            "\(directory): writes \(rounded(speed.bytesPerSecond / 1e6)) MB/s, syncs in \(rounded(median)) ms, "
            + "at worst \(rounded(longest)) ms"
        if speed.bytesPerSecond < Self.margin * neededBytesPerSecond {
            let needed = rounded(Self.margin * neededBytesPerSecond / 1e6)
            return .failure(
                .storage, "\(measured): too slow, \(needed) MB/s are needed: use a faster card, or a lower rate",
                figures)
        }
        if speed.median > Self.longestSync {
            return .failure(
                .storage,
                "\(measured): too slow: a power cut costs more than the last second: use a card for recording (A1, V30)",
                figures)
        }
        if speed.longest > Self.longestSync {
            return .warning(
                .storage,
                "\(measured): a power cut in such a moment costs more than the last second: a better card stalls less",
                figures)
        }
        return .ok(.storage, measured, figures)
    }

    private var rightsFindings: [Finding] {
        guard let rights else { return [] }
        let mode = String(rights.mode, radix: 8)
        var found: [Finding] = []
        if isRecorder, !rights.isOwn, geteuid() != 0 {
            found.append(
                .failure(
                    .storage,
                    "\(directory): belongs to \(rights.owner), not to the recorder's user: change its owner (chown)",
                    exitStatus: Verdict.denied))
        }
        if rights.mode & 0o002 != 0 {
            found.append(.warning(.storage, "\(directory): anybody may write there (mode \(mode)): chmod 2750"))
        }
        if rights.mode & 0o050 != 0o050 {
            found.append(.warning(.storage, "\(directory): the library cannot read there (mode \(mode)): chmod 2750"))
        }
        return found
    }
}

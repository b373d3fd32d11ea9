import Control
import Files
import TakeFiles
import Takes

/// The result of comparing takes with their sidecars, with a line for each file that differs from the recording.
struct SoundReport {
    private var takes = 0
    private var files: [File] = []
    /// The errors of files that could not be read.
    private var failures: [Failure] = []

    private struct File: Encodable {
        var path: String
        @ExplicitNull var take: String?
        /// `as-recorded`, `unproven`, or the name of the problem.
        var finding: String
        /// The problem as a sentence, or null.
        @ExplicitNull var problem: String?
        @ExplicitNull var soundSHA256: String?
        var verdict: Verdict

        enum CodingKeys: String, CodingKey {
            case path, take, finding, problem
            case soundSHA256 = "sound_sha256"
        }
    }

    private enum Verdict { case asRecorded, unproven, differs }

    private struct Summary: Encodable {
        var takes: Int
        var as_recorded: Int
        var unproven: Int
        var differ: Int
        var files: [File]
    }

    var isEmpty: Bool { takes == 0 && files.isEmpty && failures.isEmpty }

    private func count(_ verdict: Verdict) -> Int { files.count { $0.verdict == verdict } }

    mutating func add(_ take: SoundSearch.Take, _ session: Session) throws(Failure) {
        takes += 1
        let sidecar: Sidecar
        switch take.sidecar {
        case .success(let found): sidecar = found
        case .failure(let failure) where failure.isOfReading: return add(failure, session)
        case .failure:
            return try add(
                File(
                    path: take.path, finding: "unreadable", problem: "it cannot be read as a sidecar",
                    verdict: .differs), session)
        }
        for sound in sidecar.sounds where take.only == nil || take.only == sound.file {
            let check = SoundCheck(
                sound, in: take.folder, followsLinks: true, hashesWhole: sound.comparesWhole, files: FileSystem())
            let finding: SoundFinding?
            do throws(FileError) {
                finding = try check.run()
            } catch {
                add(Failure(reading: error, "verify"), session)
                continue
            }
            if let finding { try add(Self.file(check, finding, sidecar), session) }
        }
        for omission in take.omissions {
            try add(
                File(
                    path: "\(take.folder)/\(omission.file)", take: sidecar.take, finding: omission.name,
                    problem: omission.sentence, verdict: .differs), session)
        }
    }

    /// An audio file that no sidecar lists.
    mutating func add(stray path: String, _ session: Session) throws(Failure) {
        try add(
            File(
                path: path, finding: "unproven", problem: "no sidecar in its folder lists it: it cannot be checked",
                verdict: .unproven), session)
    }

    /// A file of an unfinished take.
    mutating func add(unfinished left: SoundSearch.Unfinished, _ session: Session) throws(Failure) {
        try add(
            File(
                path: "\(left.folder)/\(left.file)", take: left.take, finding: "unfinished",
                problem: left.sentence, verdict: .differs), session)
    }

    mutating func add(_ failure: Failure, _ session: Session) {
        failures.append(failure)
        session.console.complain(failure.description)
    }

    private static func file(_ check: SoundCheck, _ finding: SoundFinding, _ sidecar: Sidecar) -> File {
        let sound = check.recorded
        var file = File(
            path: check.path, take: sidecar.take, finding: finding.name,
            problem: finding.sentence(sound), soundSHA256: finding.sha256, verdict: .differs)
        switch finding {
        case .asRecorded:
            file.verdict = .asRecorded
            file.problem = nil
        case .unproven:
            file.verdict = .unproven
            if let sent = sound.wholeSHA256 {
                // Older sidecars lack the fingerprint. The sent copy has the hash of the whole file.
                let isSent = sent.lowercased() == check.wholeSHA256
                file.verdict = isSent ? .asRecorded : .differs
                file.finding = isSent ? "as-recorded" : "differs"
                file.problem = isSent ? nil : "it is not the file that was sent: its hash differs"
            }
        case .missing, .unreadable, .otherFormat, .cut, .otherLength, .differs:
            if let accepted = sound.acceptedSHA256, accepted == (check.wholeSHA256 ?? "missing") {
                file.problem = "\(finding.sentence(sound)); a person accepted it as it is"
            }
        }
        return file
    }

    private mutating func add(_ file: File, _ session: Session) throws(Failure) {
        files.append(file)
        guard !session.options.json, let problem = file.problem else { return }
        try session.write(line: "\(file.path.printable): \(problem.printable)")
    }

    /// Writes the result.
    /// - Throws: exit status 65 if a file differs, or the exit status of a file that could not be read.
    func end(_ session: Session) throws(Failure) {
        let summary = Summary(
            takes: takes, as_recorded: count(.asRecorded), unproven: count(.unproven), differ: count(.differs),
            files: files)
        if session.options.json {
            try session.write(line: ((try? JSONValue(encoding: summary)) ?? .null).description)
        } else {
            func count(_ count: Int, _ one: String, _ several: String) -> String {
                count == 1 ? "1 \(one)" : "\(count) \(several)"
            }
            try session.write(
                line:
                    "\(count(takes, "take", "takes")), \(count(files.count, "file", "files")): \(summary.as_recorded) as recorded, \(summary.unproven) not judged, \(count(summary.differ, "differs", "differ"))"
            )
        }
        if summary.differ > 0 {
            throw Failure(
                exitStatus: 65,
                "verify: \(summary.differ == 1 ? "1 file is" : "\(summary.differ) files are") not as recorded: see the report"
            )
        }
        if let failure = failures.first { throw failure }
    }
}

extension SoundSearch.Unfinished {
    /// The sentence after the file's name in messages.
    fileprivate var sentence: String {
        switch standing {
        case .leftover: "its take was not finished: run 'fieldfare recover'"
        case .loneTwin:
            "its take was not finished, and has only this unfiltered sound: it plays: move it to another place, under a name "
                + "that ends in .wav"
        case .besideTake:
            "it has no sound of this take, which is finished: 'fieldfare recover' removes it if a recorder left it; else move "
                + "it to another place"
        }
    }
}

extension RecordedSound {
    /// Whether judging the file needs the hash of the whole file.
    fileprivate var comparesWhole: Bool { (sha256 == nil && wholeSHA256 != nil) || acceptedSHA256 != nil }
}

import ArgumentParser
import Control
import Settings
import TakeFiles
import Takes
import Transport

struct RemoteVerify: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare all files of a store with the recorded ones.",
        discussion: """
            A file is compared with what the kit sent, by its receipts, and sound also with what its sidecar says: the hash of the \
            file, and with --read the fingerprint of the sound itself. Without --read, sound is compared by its length alone: a \
            hash that the store only keeps with a file proves nothing. A file that neither a receipt nor a sidecar has the hash \
            of is counted by itself. Exit status 65: something is missing or differs.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions
    @Flag(help: "Read all sound back, and compare its hash.") var read = false
    @Option(
        help: ArgumentHelp(
            "Write a manifest after RFC 8493 (BagIt) into this folder, for the store's files below data.",
            valueName: "folder"))
    var bag: String?

    func run(in session: Session) throws(Failure) {
        let client = try session.connectToLibrary()
        let remote = RemoteTakes(client, store: store.store)
        // The receipts are read before the list, so that takes that are sent meanwhile do not appear as missing.
        let receipts = try remote.sent()
        let (name, takes) = try remote.all()
        let sent = receipts.takes(takes)
        var report = VerifyReport(store: name, takes: takes.map(\.name))
        for take in takes {
            let copy = VerifiedTake(
                take: take, sent: sent[take.stem] ?? [:], readsSound: read, remote: remote, client: client)
            try copy.verify(&report)
        }
        let there = Set(takes.map(\.stem))
        // The other takes may be on another stick.
        for stem in sent.keys.sorted() where name != Settings.Outbox.stickStore && !there.contains(stem) {
            report.problems.append(.init(path: stem, problem: "missing: it was sent, and is not there"))
        }
        if let bag { try BagFiles(report).write(to: bag) }
        if options.json {
            try session.write(line: ((try? JSONValue(encoding: report)) ?? .null).description)
        } else {
            for line in report.lines { try session.write(line: line) }
        }
        guard report.problems.isEmpty else {
            let count = report.problems.count == 1 ? "1 file or take" : "\(report.problems.count) files or takes"
            throw Failure(exitStatus: 65, "remote verify: \(name): \(count) missing or different: see the report")
        }
    }
}

/// Compares a take in a store with the kit's knowledge of it.
private struct VerifiedTake {
    let take: RemoteTakes.Take
    /// By file name.
    let sent: [String: SentFiles.File]
    let readsSound: Bool
    let remote: RemoteTakes
    let client: LibraryClient

    func verify(_ report: inout VerifyReport) throws(Failure) {
        let found: RemoteSidecar?
        do throws(Failure) {
            found = try take.readSidecar(remote)
        } catch {
            guard error.exitStatus == 65 else { throw error }
            return report.problems.append(.init(path: take.sidecar?.path ?? take.stem, problem: error.description))
        }
        guard let sidecar = found, let object = take.sidecar else {
            return report.problems.append(
                .init(path: "\(take.name.day)/\(take.stem)", problem: "not complete: no sidecar"))
        }
        nameMissing(sidecar.content, &report)
        report.add(object, sidecar.sha256, .read, try judge(sidecar))
        let sounds = sidecar.content.sounds
        for file in take.files where file != take.sidecar {
            try verify(file, sounds.first { path(of: $0.file) == file.path }, &report)
        }
    }

    private func path(of file: String) -> String { "\(take.name.day)/\(file)" }

    /// Reports files that the sidecar lists or that were sent, but that are missing in the store.
    private func nameMissing(_ sidecar: Sidecar, _ report: inout VerifyReport) {
        let there = Set(take.files.map(\.path))
        let recorded = sidecar.files.lazy.filter { !$0.isReplaceable }.map(\.name)
        for file in Set(recorded).union(sent.keys).sorted() where !there.contains(path(of: file)) {
            // Two takes with the same number may both name a missing part.
            guard !report.problems.contains(where: { $0.path == path(of: file) }) else { continue }
            if sidecar.isAcceptedMissing(file), sent[file] == nil {
                report.accepted.append(path(of: file))
            } else {
                report.problems.append(.init(path: path(of: file), problem: "missing"))
            }
        }
    }

    /// Compares the sidecar with the one that was sent, or else with the kit's own.
    private func judge(_ sidecar: RemoteSidecar) throws(Failure) -> VerifyReport.Verdict {
        let name = TakeFile.sidecar(of: take.stem).name
        if let sent = sent[name] {
            // The kit may have sent another sidecar since the receipts were read.
            if sent.has(sidecar.sha256) { return .asRecorded }
            let now = try remote.sent(sidecar.path).files[name]
            return now?.has(sidecar.sha256) == true ? .asRecorded : .differs("differs from the sent file")
        }
        guard let own = try ownSidecar() else { return .uncompared }
        guard sidecar.content.isOfSameRecording(as: own), sidecar.content.hasSound(of: own) else {
            return .differs("is of another recording than the take on the kit")
        }
        return .asRecorded
    }

    /// The kit's own sidecar of the take, or nil if the kit no longer has one.
    private func ownSidecar() throws(Failure) -> Sidecar? {
        do throws(ControlError) {
            return try client.ask(.show(.stem(take.stem)), for: Shown.self, timeout: .seconds(60)).sidecar
        } catch {
            guard case .refused(let refusal) = error.cause, refusal.code == .notFound else { throw Failure(error) }
            return nil
        }
    }

    private struct Shown: Decodable { var sidecar: Sidecar? }

    private func verify(
        _ file: RemoteObject, _ sound: RecordedSound?, _ report: inout VerifyReport
    ) throws(Failure) {
        let sent = sent[take.name(of: file)]
        if let problem = lengthProblem(file, sent, sound) {
            return report.problems.append(.init(path: file.path, problem: problem))
        }
        let known = sent?.contents.map { $0.sha256 } ?? []
        // Sound with a known hash and a checked length need not be read.
        if !readsSound, let sound, let expected = sound.wholeSHA256 ?? known.first, file.bytes >= 0,
            sent != nil || file.path.hasSuffix(".wav")
        {
            let isRight = sent?.has(expected) != false && (file.sha256 == nil || file.sha256 == expected)
            return report.add(
                file, expected, .length, isRight ? .asRecorded : .differs("differs from what was recorded"))
        }
        var reading: RemoteSound?
        if let sound { reading = try RemoteSound(sound) }
        let found = try remote.read(file.path) { bytes throws(Failure) in try reading?.add(bytes) }
        report.add(file, found, .read, try judge(file, found, sent, sound, try reading?.problem()))
    }

    /// The problem that a file's length, or the sidecar's entry for its sound, shows, or nil.
    private func lengthProblem(
        _ file: RemoteObject, _ sent: SentFiles.File?, _ sound: RecordedSound?
    ) -> String? {
        if let problem = sound?.problem(ofLength: file.bytes) { return problem }
        guard let sound, file.bytes >= 0, let sent, !sent.has(bytes: file.bytes) else { return nil }
        return "\(sound.file) has \(file.bytes) bytes, and \(sent.contents.first?.bytes ?? 0) were sent"
    }

    /// - Parameter problem: the difference between the sound and its fingerprint. Nil if they agree, or the sound lacks
    ///   a fingerprint.
    private func judge(
        _ file: RemoteObject, _ found: String, _ sent: SentFiles.File?, _ sound: RecordedSound?, _ problem: String?
    ) throws(Failure) -> VerifyReport.Verdict {
        let differs = VerifyReport.Verdict.differs("differs from what was recorded")
        if let whole = sound?.wholeSHA256, whole != found { return differs }
        if let problem { return .differs(problem) }
        if let sent {
            // Memo, notes and waveform may have been sent again since the receipts were read.
            if sent.has(found) { return .asRecorded }
            guard sound == nil else { return differs }
            let now = try remote.sent(take.sidecar?.path ?? file.path).files[take.name(of: file)]
            return now?.has(found) == true ? .asRecorded : differs
        }
        return sound?.wholeSHA256 != nil || sound?.sha256 != nil ? .asRecorded : .uncompared
    }
}

extension Sidecar {
    /// Whether each part has the same fingerprint as in another sidecar of the recording, if both have one.
    fileprivate func hasSound(of other: Sidecar) -> Bool {
        let prints = Dictionary(sounds.map { ($0.base, $0.sha256) }) { first, _ in first }
        return other.sounds.allSatisfy { sound in
            guard let sha256 = sound.sha256, let print = prints[sound.base] ?? nil else { return true }
            return print == sha256
        }
    }
}

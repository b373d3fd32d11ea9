package import Ring
package import Settings
package import SoundCard
import TakeFiles
package import Takes
package import Transport

/// What a check-up examined, and what it found.
///
/// The `probe`, `record` and `measure` methods touch devices, files and storage, and may block for as long as these do. All else
/// only computes.
package struct Examination: Sendable {
    /// Whether the recorder itself examines; else it is down.
    package var isRecorder: Bool
    /// The settings of the kit.
    package var settings: Settings
    /// What is wrong with its settings file, a sentence each.
    package var problems: [String]
    /// The faults that the recorder shows.
    package var faults: [Fault] = []
    /// The cards that are present.
    package var cards: [CardReport] = []
    /// The reason why the cards could not be listed, or nil if they were listed.
    package var listFailure: String?
    /// The grant of the open card, or nil if no card is open.
    package var grant: CaptureGrant?
    /// Why none is open.
    package var cardFailure: String?
    /// Overruns of the open card.
    package var overruns = 0
    /// The measured rate of the open card, or nil if it is not known.
    package var rate: RateMeasure?
    /// Two seconds of the card's sound.
    package var sound = TestCapture.Outcome.skipped("no card is open")
    /// How writing to the storage went.
    package var storage = StorageProbe.Outcome.skipped("a take is being recorded")
    /// Free space where takes are kept; nil: unknown.
    package var freeBytes: Int64?
    /// Why the kit has no key that it could keep, as a sentence; nil: it has one, or the recorder is down.
    package var keyProblem: String?
    /// Where the date came from.
    package var clock = ClockOrigin.unset
    private var panel: PanelProbe?
    private var rights: Rights?
    private var power: PowerCheck?
    private var folder: FolderRights?
    private var fileSystem: FileSystemKind?

    /// An examination that has not begun.
    package init(isRecorder: Bool, settings: Settings, problems: [String]) {
        self.isRecorder = isRecorder
        self.settings = settings
        self.problems = problems
    }

    /// The findings, in the order in which they are reported.
    package func findings() -> [Finding] {
        let directory = settings.takes.folder
        var findings = SettingsCheck(
            problems: problems, faults: faults(.settings), warnings: [settings.kitNameWarning].compactMap(\.self)
        ).findings
        if let rights {
            findings += RightsCheck(rights: rights, isRecorder: isRecorder, usesLines: panel != nil).findings
        }
        findings +=
            CardCheck(
                request: CaptureRequest(settings.capture), cards: cards, grant: grant, failure: cardFailure,
                overruns: overruns, rate: rate, preRoll: settings.capture.preRoll,
                warningsElsewhere: rights?.missing ?? []
            ).findings
        if let listFailure { findings.append(.warning(.card, listFailure)) }
        findings += signalFindings
        // Two seconds cannot show that.
        findings += faults(.signal).filter { SignalFall.isComplaint($0.message) }.map { .failure(.signal, $0.message) }
        if let panel { findings += PanelCheck(probe: panel).findings }
        findings.append(space.finding)
        findings +=
            StorageCheck(
                directory: directory, outcome: storage, rights: folder,
                faults: faults(.storageFailing), neededBytesPerSecond: space.bytesPerSecond, isRecorder: isRecorder
            ).findings
        let fileSystem = FileSystemCheck(
            directory: directory, kind: fileSystem, syncPromise: settings.takes.sync)
        if let finding = fileSystem.finding, !findings.contains(where: { $0.message.hasSuffix(finding.message) }) {
            findings.append(finding)
        }
        if let keyProblem { findings.append(.warning(.storage, keyProblem)) }
        findings.append(ClockCheck(origin: clock, today: SystemClock().wallTime().date).finding)
        if let power { findings += power.findings }
        return findings.inOrder
    }

    private var reserveBytes: Int64 { Int64(settings.takes.reserveMiB) << 20 }

    private var space: SpaceCheck {
        SpaceCheck(
            directory: settings.takes.folder, freeBytes: freeBytes, reserveBytes: reserveBytes,
            format: grant?.format, isTwinKept: settings.filter.keepUnfiltered)
    }

    private func faults(_ code: Fault.Code) -> [Fault] { faults.filter { $0.code == code } }

    private var signalFindings: [Finding] {
        switch sound {
        case .sound(let bytes, let format):
            SignalCheck(
                card: grant?.card ?? settings.capture.card.description,
                summary: SignalSummary(of: bytes, format: format), numbers: grant?.layout.kept
            ).findings
        case .failed(let sentence): [.failure(.signal, sentence)]
        case .judged(let findings): findings
        case .skipped(let reason): [.warning(.signal, "not checked: \(reason)")]
        }
    }
}

extension Examination {
    /// Examines the rights of this process, and the supply voltage.
    package mutating func probeProcess() {
        rights = .ofThisProcess()
        power = PowerCheck()
    }

    /// Examines the buttons and lamps.
    /// - Parameter open: the lines that the recorder holds; nil: no recorder runs.
    package mutating func probePanel(open: OpenLines?) {
        panel = PanelProbe(settings.panel, open: open)
    }

    /// Records two seconds from a card that nothing else uses, and closes it.
    package mutating func record(from card: any CaptureSource, clock: any Clock, brake: Brake = Brake()) {
        guard !brake.isPulled else {
            sound = .skipped(Brake.reason)
            return
        }
        do {
            let capture = try TestCapture(CaptureRequest(settings.capture), on: card, now: clock.now())
            grant = capture.grant
            sound = capture.waitForOutcome(clock: clock, brake: brake)
            rate = capture.rate
        } catch {
            cardFailure = "\(error)"
        }
    }

    /// Judges the sound, which lasts longer the more channels it has.
    package mutating func judgeSignal() {
        sound = .judged(signalFindings)
    }

    /// Examines the folder of takes.
    package mutating func probeFolder() {
        folder = FolderRights(of: settings.takes.folder)
        fileSystem = try? FileSystem().kind(of: settings.takes.folder)
        freeBytes = try? FileSystem().freeBytes(settings.takes.folder)
    }

    /// Measures the storage. Takes seconds.
    package mutating func measureStorage(_ brake: Brake = Brake()) {
        storage = StorageProbe.run(
            in: settings.takes.folder, bytesPerSecond: space.bytesPerSecond, reserveBytes: reserveBytes,
            brake: brake)
    }
}

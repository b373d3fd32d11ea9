import Files
package import Ring
package import Settings
package import SoundCard
package import Takes
package import Transport

/// The examined state of a kit, and the findings of a check-up.
///
/// The `probe`, `record` and `measure` methods access devices, files and storage, and may block while these do. All
/// other methods only compute.
package struct Examination: Sendable {
    /// Whether the recorder itself examines the kit. If false, no recorder runs.
    package var isRecorder: Bool
    package var settings: Settings
    /// The problems of the settings file, one sentence each.
    package var problems: [String]
    /// The faults that the recorder shows.
    package var faults: [Fault] = []
    package var cards: [CardReport] = []
    /// Why the cards could not be listed, or nil if they were listed.
    package var listFailure: String?
    /// The grant of the open card, or nil if no card is open.
    package var grant: CaptureGrant?
    /// Why no card is open.
    package var cardFailure: String?
    package var overruns = 0
    /// The measured rate of the open card, or nil if it is not known.
    package var rate: RateMeasure?
    /// Two seconds of the card's sound.
    package var sound = TestCapture.Outcome.skipped("no card is open")
    /// The outcome of writing to the storage.
    package var storage = StorageProbe.Outcome.skipped("a take is being recorded")
    /// The free space for takes, or nil if it is not known.
    package var freeBytes: Int64?
    /// Why the kit has no permanent key, in one sentence. Nil if it has a key, or no recorder runs.
    package var keyProblem: String?
    package var clock = ClockOrigin.unset
    private var panel: PanelProbe?
    private var rights: Rights?
    private var power: PowerCheck?
    private var folder: FolderRights?
    private var fileSystem: FileSystemKind?

    package init(isRecorder: Bool, settings: Settings, problems: [String]) {
        self.isRecorder = isRecorder
        self.settings = settings
        self.problems = problems
    }

    /// The findings in the order of the report.
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
        // Two seconds of sound cannot show a fall of the signal.
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

    /// - Parameter open: the lines that the recorder holds, or nil if no recorder runs.
    package mutating func probePanel(open: OpenLines?) {
        panel = PanelProbe(settings.panel, open: open)
    }

    /// Records two seconds from a card that nothing else uses. The card is closed afterwards.
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

    /// Replaces the sound by its findings. The time that this takes grows with the number of channels.
    package mutating func judgeSignal() {
        sound = .judged(signalFindings)
    }

    package mutating func probeFolder() {
        folder = FolderRights(of: settings.takes.folder)
        fileSystem = try? FileSystem().kind(of: settings.takes.folder)
        freeBytes = try? FileSystem().freeBytes(settings.takes.folder)
    }

    /// Measures the speed of the storage. Takes seconds.
    package mutating func measureStorage(_ brake: Brake = Brake()) {
        storage = StorageProbe.run(
            in: settings.takes.folder, bytesPerSecond: space.bytesPerSecond, reserveBytes: reserveBytes,
            brake: brake)
    }
}

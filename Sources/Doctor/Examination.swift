package import Ring
package import Settings
package import SoundCard
import TakeFiles
package import Takes
package import Transport

/// All that is looked at, whoever looked, and what to think of it.
package struct Examination: Sendable {
    /// Whether the recorder itself looked; else it is down.
    package var isRecorder: Bool
    /// What the kit is to be.
    package var settings: Settings
    /// What is wrong with its settings file, a sentence each.
    package var problems: [String]
    /// What the recorder shows.
    package var faults: [Fault] = []
    /// The cards that are there.
    package var cards: [CardReport] = []
    /// What the open card granted; nil: none is open.
    package var grant: CaptureGrant?
    /// Why none is open.
    package var cardFailure: String?
    /// Overruns of the open card.
    package var overruns = 0
    /// What the card hears.
    package var heard = TestCapture.Heard.skipped("no card is open")
    /// What came of writing.
    package var storage = StorageProbe.Outcome.skipped("a take is being recorded")
    /// Where the date came from.
    package var clock = ClockOrigin.unset
    private var panel: PanelLook?

    /// Nothing is looked at yet.
    package init(isRecorder: Bool, settings: Settings, problems: [String]) {
        self.isRecorder = isRecorder
        self.settings = settings
        self.problems = problems
    }

    /// Looks at the buttons and lamps.
    /// - Parameter open: what the recorder holds; nil: none runs.
    package mutating func lookAtPanel(open: OpenLines?) {
        panel = PanelLook(settings.panel, open: open)
    }

    /// Listens through what was heard, which takes longer the more channels there are.
    package mutating func judgeSignal() {
        heard = .judged(signalFindings)
    }

    /// Measures the storage. Takes seconds.
    package mutating func measureStorage(_ brake: StorageProbe.Brake = StorageProbe.Brake()) {
        storage = StorageProbe.run(
            in: settings.takes.directory, bytesPerSecond: space.bytesPerSecond, reserveBytes: reserveBytes,
            brake: brake)
    }

    /// What to think of it all, in the order in which it is told. What costs no time is looked at only now.
    package func findings() -> [Finding] {
        let directory = settings.takes.directory
        var findings = SettingsCheck(problems: problems, faults: faults(.settings)).findings
        findings += RightsCheck(rights: .ofThisProcess(), isRecorder: isRecorder, usesLines: panel != nil).findings
        findings +=
            CardCheck(
                request: CaptureRequest(settings.capture), cards: cards, grant: grant, failure: cardFailure,
                overruns: overruns, warningsElsewhere: RealTime.warnings
            ).findings
        findings += signalFindings
        if let panel { findings += PanelCheck(look: panel).findings }
        var space = space
        space.freeBytes = try? FileSystem().freeBytes(directory)
        findings.append(space.finding)
        findings +=
            StorageCheck(
                directory: directory, outcome: storage, rights: FolderRights(of: directory),
                faults: faults(.storageFailing), neededBytesPerSecond: space.bytesPerSecond, isRecorder: isRecorder
            ).findings
        findings.append(ClockCheck(origin: clock, today: SystemClock().wallTime().date).finding)
        findings += PowerCheck().findings
        return findings.inOrder
    }

    private var reserveBytes: Int64 { Int64(settings.takes.reserveMiB) << 20 }

    private var space: SpaceCheck {
        SpaceCheck(
            directory: settings.takes.directory, freeBytes: nil, reserveBytes: reserveBytes, format: grant?.format,
            isTwinKept: settings.filter.keepUnfiltered)
    }

    private func faults(_ code: Fault.Code) -> [Fault] { faults.filter { $0.code == code } }

    private var signalFindings: [Finding] {
        switch heard {
        case .sound(let bytes, let format):
            SignalCheck(
                card: grant?.card ?? settings.capture.card.description,
                summary: SignalSummary(of: bytes, format: format)
            ).findings
        case .failed(let sentence): [.failure(.signal, sentence)]
        case .judged(let findings): findings
        case .skipped(let reason): [.warning(.signal, "not listened to: \(reason)")]
        }
    }
}

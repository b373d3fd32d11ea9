import CLinux
import Control
import Doctor
import Files
import Glibc
import Lines
import Ring
import Settings
import SoundCard
import Takes

extension LocalAccess {
    /// This machine, with its settings file, its cards and its lines.
    public static let machine: LocalAccess = {
        var access = ownDevices
        access.useIdlePriority = { fieldfare_be_idle() }
        access.misplacedSecrets = { file in misplacedSecrets(Settings.load(from: file).settings) }
        access.kitNameWarning = { file in Settings.load(from: file).settings.kitNameWarning }
        access.leaveDisk = { fieldfare_be_idle_at_disk() }
        access.preRollShortage = { file, open in
            let capture = Settings.load(from: file).settings.capture
            guard capture.preRoll > .zero, let format = format(for: CaptureRequest(capture), open: open) else {
                return nil
            }
            return PreRollCheck(
                preRoll: capture.preRoll, format: format, memoryBytes: Ring.machineMemoryBytes
            ).shortage
        }
        return access
    }()

    /// Files that this user may not read are skipped. The library checks them before it sends anything.
    static func misplacedSecrets(_ settings: Settings) -> [String] {
        settings.outbox.misplacedSecrets { file in
            (try? FileSystem().contents(file, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static let ownDevices = LocalAccess(
        places: { file in
            let (settings, _) = Settings.load(from: file)
            var places = Places()
            places.recorderSocket = settings.control.socket
            places.librarySocket = settings.library.socket
            places.takes = settings.takes.folder
            return places
        },
        problems: { file in
            let (settings, problems) = Settings.load(from: file)
            return problems.map(\.description) + OccupiedPlaces.problems(settings) + misplacedSecrets(settings)
        },
        list: { inventory, settings throws(Failure) in
            switch inventory {
            case .cards:
                SoundCards.prepareProcess()
                return try json(SoundCards().reports())
            case .lines:
                let (lines, errors) = LineReport.list()
                if lines.isEmpty, let error = errors.first { throw Failure(exitStatus: 74, "\(error)") }
                return try json(lines)
            case .bin: return []
            case .doctor: return try json(checkUp(settings))
            }
        },
        doctor: { file in checkUp(file) }, programs: { ProgramCheck().finding },
        lightLamps: { file, isLit throws(Failure) in
            let (settings, _) = Settings.load(from: file)
            try LocalDoctor.lightLamps(settings) { lamp, failure throws(Failure) in
                try isLit(lamp, failure)
                // Long enough for a person to see which lamp it is.
                if failure == nil { usleep(700_000) }
            }
        })

    /// The format that the card will deliver, or nil if unknown.
    private static func format(for request: CaptureRequest, open: StreamFormat?) -> StreamFormat? {
        if var open {
            open.rateHz = request.rateHz ?? open.rateHz
            switch request.channels {
            case .first(let count): open.channels = count
            case .numbered(let numbers): open.channels = numbers.count
            case .live, .layout, nil: break
            }
            return open
        }
        SoundCards.prepareProcess()
        guard let card = SoundCards().reports().first(where: { $0.isMeant(by: request) }) else { return nil }
        let negotiation = Negotiation(rateHz: request.rateHz, channels: request.channels)
        guard var format = try? negotiation.candidates(from: Offers(card.combinations), of: card.id).first else {
            return nil
        }
        format.channels = request.channels?.layout(ofCard: format.channels).kept.count ?? format.channels
        return format
    }

    private static func checkUp(_ file: String?) -> [Finding] {
        SoundCards.prepareProcess()
        let (settings, problems) = Settings.load(from: file)
        return LocalDoctor.findings(settings: settings, problems: problems.map(\.description))
    }

    private static func json(_ items: [some Encodable]) throws(Failure) -> [JSONValue] {
        do {
            return try items.map { try JSONValue(encoding: $0) }
        } catch {
            throw Failure(exitStatus: 70, "the list cannot be written: \(error)")
        }
    }
}

import Control
import Lines
import Settings
import SoundCard

extension LocalAccess {
    /// This machine: its settings file, its cards and its lines.
    public static let machine = LocalAccess(
        places: { file in
            let (settings, _) = Settings.load(from: file)
            var places = Places()
            places.recorderSocket = settings.control.socket
            places.reserveBytes = Int64(settings.takes.reserveMiB) << 20
            return places
        },
        problems: { file in Settings.load(from: file).problems.map(\.description) },
        list: { inventory, _ throws(Failure) in
            switch inventory {
            case .cards:
                SoundCards.prepareProcess()
                return try json(SoundCards().reports())
            case .lines:
                let (lines, errors) = LineReport.list()
                if lines.isEmpty, let error = errors.first { throw Failure(exitStatus: 74, "\(error)") }
                return try json(lines)
            }
        })

    private static func json(_ items: [some Encodable]) throws(Failure) -> [JSONValue] {
        do {
            return try items.map { try JSONValue(encoding: $0) }
        } catch {
            throw Failure(exitStatus: 70, "the list cannot be written: \(error)")
        }
    }
}

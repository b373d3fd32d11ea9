/// Who holds a PCM, found in `/proc`.
public struct PCMOwner: Hashable, Sendable {
    /// The process.
    public var processID: Int
    /// Its name, where it may be read.
    public var processName: String?

    /// A process that holds a PCM.
    public init(processID: Int, processName: String?) {
        self.processID = processID
        self.processName = processName
    }

    /// As an error shows it: `pid 812, pulseaudio`.
    public var summary: String {
        "pid \(processID)" + (processName.map { ", \($0)" } ?? "")
    }

    /// The owner of a card's device, by `owner_pid` of `/proc/asound/cardN/pcmDc/subS/status`; nil if it is free.
    /// The kernel names the thread that opened it; this is its process.
    package static func of(_ direction: PCMDirection, card: Int, device: Int, root: String) -> PCMOwner? {
        let folder = "\(root)/proc/asound/card\(card)/pcm\(device)\(direction.letter)"
        for sub in SystemFile.names(in: folder).filter({ $0.hasPrefix("sub") }).sorted() {
            guard let status = SystemFile.text("\(folder)/\(sub)/status"),
                let thread = Self.number(after: "owner_pid", in: status), thread > 0
            else { continue }
            let process =
                SystemFile.text("\(root)/proc/\(thread)/status").flatMap { Self.number(after: "Tgid", in: $0) }
                ?? thread
            return PCMOwner(processID: process, processName: SystemFile.words("\(root)/proc/\(process)/comm"))
        }
        return nil
    }

    private static func number(after key: String, in text: String) -> Int? {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(key) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            return Int(line[line.index(after: colon)...].filter { !$0.isWhitespace })
        }
        return nil
    }
}

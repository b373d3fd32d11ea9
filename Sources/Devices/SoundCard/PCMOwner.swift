import Files

/// The process that holds a PCM, found in `/proc`.
public struct PCMOwner: Hashable, Sendable {
    public var processID: Int
    /// Nil if the name cannot be read.
    public var processName: String?

    public init(processID: Int, processName: String?) {
        self.processID = processID
        self.processName = processName
    }

    /// The owner as an error shows it: `pid 812, pulseaudio`.
    public var summary: String {
        "pid \(processID)" + (processName.map { ", \($0)" } ?? "")
    }

    /// The owner of a card's device, or nil if the device is free. `owner_pid` in
    /// `/proc/asound/cardN/pcmDc/subS/status` is the thread that opened it; this returns the thread's process.
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

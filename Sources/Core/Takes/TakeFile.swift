/// One file of a take: its name beside the sidecar, and its role.
public struct TakeFile: Hashable, Sendable {
    /// What a file of a take holds.
    public enum Role: Hashable, Sendable {
        /// The sound of a part, counted from 1: `KIT-0042_20261121_061811.wav`, `KIT-0042-p2_20261121_101811.flac`.
        case sound(part: Int)
        /// The same before the capture filter: `KIT-0042-raw_20261121_061811.wav`.
        case unfiltered(part: Int)
        /// The peaks: `STEM.dat`.
        case waveform
        /// A memo as plain text: `STEM.txt`; those of other libraries are `STEM.other-1f2e3d4c.txt`.
        case memo
        /// What people noted: `STEM.notes.json`.
        case notes
        /// `STEM.json`: its presence commits the take.
        case sidecar
    }

    /// The name, without a folder.
    public let name: String
    /// The role.
    public let role: Role

    private init(name: String, role: Role) {
        self.name = name
        self.role = role
    }

    /// An audio file that a sidecar lists; the name decides which part it is of.
    public init(sound name: String) {
        let parsed = TakeFileName(name)
        let part = parsed?.part ?? 1
        self.init(name: name, role: parsed?.isUnfiltered == true ? .unfiltered(part: part) : .sound(part: part))
    }

    /// Reads the name of a finished file of the take `stem`, or returns nil if no role has such a name.
    public init?(_ name: String, of stem: String) {
        let documents: [TakeFile] = [.waveform(of: stem), .memo(of: stem), .notes(of: stem), .sidecar(of: stem)]
        if let document = documents.first(where: { $0.name == name }) {
            self = document
        } else if name.hasPrefix(Self.otherMemo(of: stem)), name.hasSuffix(".txt") {
            self.init(name: name, role: .memo)
        } else if [".wav", ".flac"].contains(where: name.hasSuffix), TakeName(stem: stem, day: "")?.mayOwn(name) == true
        {
            self.init(sound: name)
        } else {
            return nil
        }
    }

    /// The peaks of the take `stem`.
    public static func waveform(of stem: String) -> TakeFile { TakeFile(name: "\(stem).dat", role: .waveform) }

    /// The memo of the take `stem`.
    public static func memo(of stem: String) -> TakeFile { TakeFile(name: "\(stem).txt", role: .memo) }

    /// A memo that another library wrote.
    /// - Parameter digits: tell it from others of the take.
    public static func memo(of stem: String, other digits: String) -> TakeFile {
        TakeFile(name: "\(otherMemo(of: stem))\(digits).txt", role: .memo)
    }

    private static func otherMemo(of stem: String) -> String { "\(stem).other-" }

    /// What people noted of the take `stem`.
    public static func notes(of stem: String) -> TakeFile { TakeFile(name: "\(stem).notes.json", role: .notes) }

    /// The sidecar of the take `stem`.
    public static func sidecar(of stem: String) -> TakeFile { TakeFile(name: "\(stem).json", role: .sidecar) }

    /// Whether a later state may take its place. Sound is recorded once: other sound of its name is damaged, or another take's.
    public var isReplaceable: Bool {
        switch role {
        case .sound, .unfiltered: false
        case .waveform, .memo, .notes, .sidecar: true
        }
    }

    /// As browsers and stores know it.
    public var mediaType: String { Self.mediaType(of: name) }

    /// The media type of any file beside a take (IANA media types; RFC 9639 for FLAC).
    public static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "wav": "audio/wav"
        case "flac": "audio/flac"
        case "json": "application/json"
        case "txt": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }
}

extension Sidecar {
    /// The files that the recorder makes of the take, sound first, the sidecar last. The waveform may be missing.
    public var files: [TakeFile] { TakeFile.recorded(take, sound: audioFiles) }

    /// The files that a store may have of the take, in the order in which they are sent: `files`, and before the sidecar what the library
    /// adds if people noted anything. Memos of other libraries, named by their content, are not listed.
    public var filesAtHome: [TakeFile] {
        var files = files
        files.insert(contentsOf: [.memo(of: take), .notes(of: take)], at: files.count - 1)
        return files
    }
}

extension CatalogedTake {
    /// The files that the recorder made of the take, sound first, the sidecar last. The waveform may be missing.
    public var recordedFiles: [TakeFile] { TakeFile.recorded(take, sound: files) }
}

extension TakeFile {
    fileprivate static func recorded(_ stem: String, sound: [String]) -> [TakeFile] {
        sound.map(TakeFile.init(sound:)) + [.waveform(of: stem), .sidecar(of: stem)]
    }
}

/// The name and the role of one file of a take.
public struct TakeFile: Hashable, Sendable {
    public enum Role: Hashable, Sendable {
        /// The sound of a part, counted from 1: `KIT-0042_20261121_061811.wav`, `KIT-0042-p2_20261121_101811.flac`.
        case sound(part: Int)
        /// The sound of a part before the capture filter: `KIT-0042-raw_20261121_061811.wav`.
        case unfiltered(part: Int)
        /// The peaks: `STEM.dat`.
        case waveform
        /// A memo as plain text: `STEM.txt`. Memos of other libraries are `STEM.other-1f2e3d4c.txt`.
        case memo
        /// The notes of people: `STEM.notes.json`.
        case notes
        /// `STEM.json`. Its presence commits the take.
        case sidecar
    }

    /// The name, without a folder.
    public let name: String
    public let role: Role

    private init(name: String, role: Role) {
        self.name = name
        self.role = role
    }

    /// An audio file that a sidecar lists. Its name contains the number of the part.
    public init(sound name: String) {
        let parsed = TakeFileName(name)
        let part = parsed?.part ?? 1
        self.init(name: name, role: parsed?.isUnfiltered == true ? .unfiltered(part: part) : .sound(part: part))
    }

    /// Reads the name of a finished file of the take `stem`. Returns nil if the name does not fit any role.
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

    public static func waveform(of stem: String) -> TakeFile { TakeFile(name: "\(stem).dat", role: .waveform) }

    public static func memo(of stem: String) -> TakeFile { TakeFile(name: "\(stem).txt", role: .memo) }

    /// A memo that another library wrote.
    /// - Parameter digits: distinguish it from other memos of the take.
    public static func memo(of stem: String, other digits: String) -> TakeFile {
        TakeFile(name: "\(otherMemo(of: stem))\(digits).txt", role: .memo)
    }

    private static func otherMemo(of stem: String) -> String { "\(stem).other-" }

    public static func notes(of stem: String) -> TakeFile { TakeFile(name: "\(stem).notes.json", role: .notes) }

    public static func sidecar(of stem: String) -> TakeFile { TakeFile(name: "\(stem).json", role: .sidecar) }

    /// Whether a later version may replace the file. Sound is recorded once: other sound under its name is damaged, or
    /// belongs to another take.
    public var isReplaceable: Bool {
        switch role {
        case .sound, .unfiltered: false
        case .waveform, .memo, .notes, .sidecar: true
        }
    }

    public var mediaType: String { Self.mediaType(of: name) }

    /// The media type of any file in a take's folder (IANA media types; RFC 9639 for FLAC).
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
    /// The files that the recorder writes for the take, sound first, the sidecar last. The waveform may be missing.
    public var files: [TakeFile] { TakeFile.recorded(take, sound: audioFiles) }

    /// The files that a store may have of the take, in the order of their upload: `files`, with the library's memo and
    /// notes before the sidecar. The memo and the notes exist only if people noted something. Memos of other libraries,
    /// named by their content, are not listed.
    public var filesAtHome: [TakeFile] {
        var files = files
        files.insert(contentsOf: [.memo(of: take), .notes(of: take)], at: files.count - 1)
        return files
    }
}

extension CatalogedTake {
    /// The files that the recorder wrote for the take, sound first, the sidecar last. The waveform may be missing.
    public var recordedFiles: [TakeFile] { TakeFile.recorded(take, sound: files) }
}

extension TakeFile {
    fileprivate static func recorded(_ stem: String, sound: [String]) -> [TakeFile] {
        sound.map(TakeFile.init(sound:)) + [.waveform(of: stem), .sidecar(of: stem)]
    }
}

public import Files
public import Takes

/// The names and dates for exported copies of a take whose clock was set after the take began.
///
/// On the kit and in stores, a take keeps its original name. In the copies, the file names, `bext` and the FLAC
/// comments contain the true start.
public struct TrueNames: Sendable {
    private let stem: String
    /// By the part of a file name before the first `.`.
    private let parts: [String: (base: String, started: WallTime, rateHz: Int)]
    private let trueStem: String
    /// The day of the copies.
    public let day: String

    /// The names for a take's copies. Nil if the take's own names are right, or have the form of version 0.1.
    public init?(_ sidecar: Sidecar, _ nameTime: NameTime) {
        guard let started = sidecar.startedCorrected.flatMap({ WallTime(iso8601: $0) }),
            let name = TakeName(stem: sidecar.take, day: "")
        else { return nil }
        if case .timeOfDay = name.start { return nil }
        let copied = TakeName(kit: name.kit, number: name.number, started: started, nameTime: nameTime)
        stem = name.stem
        trueStem = copied.stem
        day = copied.day
        var parts: [String: (base: String, started: WallTime, rateHz: Int)] = [:]
        for (index, part) in sidecar.parts.enumerated() {
            let begun = started + .seconds(Double(part.firstFrame.count) / Double(max(1, sidecar.rateHz)))
            for (file, isUnfiltered) in [(part.file, false), (part.unfilteredFile, true)] {
                guard let file else { continue }
                let number = TakeFileName(file)?.part ?? index + 1
                let copy = copied.audioFile(
                    part: number, isUnfiltered: isUnfiltered, started: begun, nameTime: nameTime)
                parts[Self.base(of: file)] = (Self.base(of: copy), begun, part.rateHz)
            }
        }
        self.parts = parts
    }

    public func stem(of take: String) -> String { take == stem ? trueStem : take }

    /// The copy's name for one of the take's files.
    public func name(of file: String) -> String {
        let base = Self.base(of: file)
        let copy = parts[base]?.base ?? (base == stem ? trueStem : base)
        return copy + file.dropFirst(base.count)
    }

    /// The sidecar or the notes for the copies. Only the names in them are replaced.
    public func document(_ json: [UInt8]) -> [UInt8] {
        // A name is a complete JSON string, and never contains characters that need an escape.
        var text = String(decoding: json, as: UTF8.self)
        func rename(_ key: String, _ name: String, to copy: String) {
            for start in ["\"\(key)\":", "\"\(key)\" : "] {
                text = text.replacing("\(start)\"\(name)\"", with: "\(start)\"\(copy)\"")
            }
        }
        rename("take", stem, to: trueStem)
        for (base, part) in parts {
            for ending in ["wav", "flac"] {
                for key in ["file", "unfiltered_file"] {
                    rename(key, "\(base).\(ending)", to: "\(part.base).\(ending)")
                }
            }
        }
        return Array(text.utf8)
    }

    /// The change of the date in a copy of an audio file. Nil if it is not one of the take's audio files.
    public func edit(of name: String, in file: OpenFile, files: FileSystem = FileSystem()) throws(FileError)
        -> HeadEdit?
    {
        guard let part = parts[Self.base(of: name)] else { return nil }
        let origin = HeadEdit.Origin(
            stem: stem, copyStem: trueStem, started: part.started, rateHz: part.rateHz)
        return try HeadEdit(dating: file, origin, files: files)
    }

    private static func base(of file: String) -> String { String(file.prefix { $0 != "." }) }
}

public import Files
import Glibc
public import Takes

/// Sound of a take that its sidecar does not list. It would not be sent or counted, and it would be deleted with the
/// take.
public struct SoundOmission: Hashable, Sendable {
    /// The file's name, in the folder of the sidecar.
    public var file: String
    /// The length; 0 if the file does not exist.
    public var byteCount: Int64
    /// When it was written, in nanoseconds since 1970; 0 if the file does not exist.
    public var modifiedNs: Int64
    public var kind: Kind

    /// Why a file lies next to a sidecar that does not list it.
    public enum Kind: Sendable {
        /// It has a final name.
        case unlisted
        /// It has the name of a part that is being recorded, and the take is finished.
        case unfinished
        /// The sidecar lists no sound, and no sound exists.
        case nothing
    }

    /// The name of the case, for programs.
    public var name: String {
        switch kind {
        case .unlisted: "unlisted"
        case .unfinished: "unfinished"
        case .nothing: "missing"
        }
    }

    /// The sentence that follows the file's name in messages.
    public var sentence: String {
        let advice = "put back the sidecar that lists it; a take that is accepted goes home without it"
        return switch kind {
        case .unlisted:
            "the take's sidecar does not list this sound, so that no store would get it: try 'fieldfare recover', or "
                + advice
        case .unfinished:
            "this sound was never finished, and the take's sidecar does not list it, so that no store would get it: "
                + "copy it to another place, or " + advice
        case .nothing: "the take's sidecar lists no sound, and its folder has none: find out where it went"
        }
    }
}

/// The sound files next to a sidecar.
public enum SidecarSurroundings: Equatable, Sendable {
    /// The take is being recorded or waits for its recovery. Its files will be listed later.
    case goesOn
    /// The take is finished. The sidecar does not list these files.
    case finished([SoundOmission])
}

extension Sidecar {
    /// Compares the sound next to the sidecar with the sound that it lists. A file made by a conversion to FLAC, or
    /// decoded from FLAC, does not count as other sound.
    /// - Parameter folder: the folder that contains the sidecar.
    public func surroundings(in folder: String, files: FileSystem = FileSystem()) throws(FileError)
        -> SidecarSurroundings
    {
        let names = try files.entries(folder)
        let drafts = [TakeDocument.sidecarPart, .sidecarDraft].map { $0.name(stem: take) }
        guard !names.contains(where: drafts.contains) else { return .goesOn }
        let listed = Set(audioFiles)
        let listedBases = Set(listed.map(SoundFileEnding.base))
        var found: [SoundOmission] = []
        let own = Set(
            TakeName(stem: take, day: "").map {
                TakeListing.files(of: $0, in: names, folder: folder, files: files)
            } ?? [])
        for name in names.sorted() where !listed.contains(name) {
            guard let ending = SoundFileEnding(name), own.contains(name) || isNumbered(name, ending) else { continue }
            if listedBases.contains(SoundFileEnding.base(of: name)), ending != .unfinishedWAV { continue }
            guard let attributes = SoundFileEnding.attributes(of: "\(folder)/\(name)", ending, files) else { continue }
            found.append(
                SoundOmission(
                    file: name, byteCount: attributes.byteCount, modifiedNs: attributes.modifiedNs,
                    kind: ending.isFinal ? .unlisted : .unfinished))
        }
        if listed.isEmpty, found.isEmpty {
            found = [SoundOmission(file: "\(take).wav", byteCount: 0, modifiedNs: 0, kind: .nothing)]
        }
        return .finished(found)
    }

    /// Whether a file has the take's name and is numbered in the style of other programs: `STEM-02.wav`.
    private func isNumbered(_ name: String, _ ending: SoundFileEnding) -> Bool {
        guard name.hasPrefix("\(take)-") else { return false }
        var rest = name.dropLast(ending.rawValue.count).dropFirst(take.count + 1)
        if rest.hasSuffix("-raw") { rest = rest.dropLast(4) }
        return !rest.isEmpty && rest.allSatisfy { $0.isASCII && $0.isNumber }
    }
}

/// The extension of an audio file of a take, finished or not.
enum SoundFileEnding: String, CaseIterable {
    case wav = ".wav"
    case flac = ".flac"
    case unfinishedWAV = ".wav.part"
    case unfinishedFLAC = ".flac.part"

    init?(_ name: String) {
        let name = name.lowercased()
        guard let ending = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else { return nil }
        self = ending
    }

    var isFinal: Bool { self == .wav || self == .flac }

    /// A name without its extension.
    static func base(of name: String) -> String {
        Self(name).map { String(name.dropLast($0.rawValue.count)) } ?? name
    }

    /// The attributes of a file with sound, or nil if the file does not exist or has no sound.
    ///
    /// An unreadable file may have sound.
    static func attributes(of path: String, _ ending: SoundFileEnding, _ files: FileSystem) -> FileAttributes? {
        var sound = WAVSound()
        do throws(FileError) {
            let file = try files.openToRead(path, followsLink: false)
            let attributes = try files.attributes(of: file)
            let byteCount = try files.length(file)
            guard byteCount > 0 else { return nil }
            let isFLAC = ending == .flac || ending == .unfinishedFLAC
            if !isFLAC, byteCount <= Int64(WAVHeader.byteCount) {
                sound.update(try files.read(file, at: 0, count: WAVHeader.byteCount))
                guard case .sound(_, _, let found, _) = sound.outcome, found > 0 else { return nil }
            }
            return attributes
        } catch {
            // Not a file: a folder, a link, a pipe, or a name without a file.
            if [ENOENT, ELOOP, EISDIR, ESPIPE, ENXIO].contains(error.code) { return nil }
            return try? files.attributes(path)
        }
    }
}

import Files
import Glibc
import Takes

// Determines the makers of files with the names of a take's files. Recovery writes only to files that a recorder made.
extension LeftoverTake {
    /// The maker of an audio file, according to its header.
    enum Origin {
        /// A recorder, for this take.
        case own
        /// A recorder. The name of the take is damaged.
        case recorder
        /// No content: the file is empty, zero, or ends within a recorder's header, as a power cut leaves it.
        case blank
        /// The header cannot be read.
        case unclear
        /// Another program, or a recorder for another take.
        case other

        /// - Parameter head: the first `WAVHeader.byteCount` bytes, or all bytes of a shorter file.
        init(_ head: [UInt8], of take: TakeName) {
            if let header = WAVHeaderReading(head) {
                guard let origin = header.origin else {
                    self = .recorder
                    return
                }
                self = origin.isOf(take) ? .own : origin.isOfAnother(take) ? .other : .recorder
            } else if head.allSatisfy({ $0 == 0 }) {
                self = .blank
            } else if Self.beginsLikeOwn(head) {
                self = head.count < WAVHeader.byteCount ? .blank : .recorder
            } else {
                var sound = WAVSound()
                sound.update(head)
                if case .sound = sound.outcome { self = .other } else { self = .unclear }
            }
        }

        /// Whether the bytes begin like a recorder's header, as far as they reach: with the `bext` chunk, which names
        /// the originator.
        private static func beginsLikeOwn(_ head: [UInt8]) -> Bool {
            let marks: [(place: Int, text: String)] = [(0, "RIFF"), (8, "WAVEbext"), (276, "Fieldfare")]
            return marks.allSatisfy { mark in
                zip(head.dropFirst(mark.place), mark.text.utf8).allSatisfy { $0 == $1 }
            }
        }
    }

    /// Separates the take's audio files from those of another or an unknown origin.
    /// - Parameter sidecar: the draft, if there is one. The files that it lists belong to the take, unless other
    ///   evidence contradicts.
    /// - Throws: `foreign` if a file of another origin has a name that the take's sound has or must get;
    ///   `strangeDrafts` if that is the name of a draft and the file cannot contain sound.
    static func sort(
        _ found: [Found], _ sidecar: Sidecar?, at site: TakeSite
    ) throws(LeftoverProblem) -> (own: [Found], strange: [String]) {
        let listed = Set(sidecar?.audioFiles ?? [])
        var own: [Found] = []
        var strange: [Found] = []
        for file in found {
            let base = file.name.file
            if try isOwn(file, listed.contains(base) ? sidecar : nil, at: site) {
                own.append(file)
            } else {
                strange.append(file)
            }
        }
        for file in strange {
            let base = file.name.file
            let isBeside = own.contains { $0.name.place == file.name.place }
            if isBeside && file.name.isFinal { throw .isInTheWay(site.path(base), of: site.name) }
            if !isBeside && listed.contains(base) {
                let isShort = file.byteCount <= Int64(WAVHeader.byteCount)
                if isShort && !file.name.isFinal { throw .strangeDrafts([base + file.name.stage.suffix]) }
                throw .isInTheWay(site.path(base + file.name.stage.suffix), of: site.name, "has the name of its sound")
            }
        }
        return (own, strange.map { $0.name.file + $0.name.stage.suffix })
    }

    /// - Parameter sidecar: the draft that lists the file.
    private static func isOwn(
        _ file: Found, _ sidecar: Sidecar?, at site: TakeSite
    ) throws(LeftoverProblem) -> Bool {
        switch file.origin {
        case .own: return true
        case .recorder: return sidecar != nil || !file.name.isFinal
        case .blank: return sidecar != nil || !file.name.isFinal || file.byteCount == 0
        case .unclear:
            guard let sidecar else { return false }
            return try holds(file, of: sidecar, at: site) ?? !file.name.isFinal
        case .other: return false
        }
    }

    /// Whether the sound of a file matches the draft's fingerprint, or nil if the draft lacks the fingerprint.
    private static func holds(
        _ file: Found, of sidecar: Sidecar, at site: TakeSite
    ) throws(LeftoverProblem) -> Bool? {
        let base = file.name.file
        guard let part = sidecar.parts.first(where: { base == (file.name.isUnfiltered ? $0.unfilteredFile : $0.file) }),
            let sha256 = file.name.isUnfiltered ? part.unfilteredSoundSHA256 : part.soundSHA256
        else { return nil }
        let frames = file.name.isUnfiltered ? part.twinFrames : part.frames
        let byteCount = frames * Int64(part.streamFormat(channels: sidecar.channels).stored.bytesPerFrame)
        return try attempt { () throws(FileError) in
            let open = try site.files.open(site.path(base + file.name.stage.suffix))
            var digest = SoundDigest()
            while digest.byteCount < byteCount {
                let bytes = try site.files.read(
                    open, at: Int64(WAVHeader.byteCount) + digest.byteCount,
                    count: Int(min(Int64(TakeRecovery.slice), byteCount - digest.byteCount)))
                if bytes.isEmpty { return false }
                digest.update(bytes)
            }
            return digest.hexadecimal == sha256
        }
    }

    /// - Throws: `strangeDrafts` if files that a recorder did not make have names of documents that recovery would
    ///   overwrite or remove.
    static func checkDocuments(
        _ documents: [TakeDocument], _ names: [String], at site: TakeSite
    ) throws(LeftoverProblem) {
        let strange = documents.filter { names.contains($0.name(stem: site.name.stem)) && isStrange($0, at: site) }
        guard strange.isEmpty else { throw .strangeDrafts(strange.map { $0.name(stem: site.name.stem) }) }
    }

    /// - Throws: `strangeDrafts` if the object with the name of a document is not a regular file.
    static func checkKind(
        _ document: TakeDocument, _ names: [String], at site: TakeSite
    ) throws(LeftoverProblem) {
        let name = document.name(stem: site.name.stem)
        if names.contains(name), isNoFile(document, at: site) { throw .strangeDrafts([name]) }
    }

    /// Whether the object with the name of a document is known to be a folder, a pipe or a link.
    private static func isNoFile(_ document: TakeDocument, at site: TakeSite) -> Bool {
        (try? site.files.status(named: site.path(document))).map { $0.kind != .file } ?? false
    }

    /// Whether a document is neither a recorder's nor what a power cut leaves of one. An unreadable document counts as
    /// not strange.
    static func isStrange(_ document: TakeDocument, at site: TakeSite) -> Bool {
        let path = site.path(document)
        if isNoFile(document, at: site) { return true }
        guard let file = try? site.files.openToRead(path, followsLink: false),
            let bytes = try? site.files.contents(
                of: file, limit: document == .peaksPart ? PeaksFile.headerByteCount : mostSidecarBytes),
            let first = bytes.first(where: { $0 != 0 })
        else { return false }
        switch document {
        case .peaksPart: return PeaksFile.shape(header: bytes) == nil
        case .removal: return true
        default:
            guard first == UInt8(ascii: "{") else { return true }
            return SidecarFile.isJSON(bytes) && bytes.firstRange(of: Array(site.name.stem.utf8)) == nil
        }
    }
}

extension LeftoverTake.Found {
    /// An object with the name of an audio file that is not a regular file. A recorder never makes such an object.
    init(obstacle name: AudioFileName) {
        self.init(name: name, byteCount: 0, header: nil, origin: .other, isBlank: false, isClosed: false)
    }
}

extension LeftoverTake {
    /// Whether the object with the name of an audio file is a regular file, as far as is known. The first file of a
    /// take always counts as its own.
    static func isFile(_ name: AudioFileName, at site: TakeSite) -> Bool {
        if name.place == (1, 0) { return true }
        let path = site.path(name.file + name.stage.suffix)
        return (try? site.files.status(named: path)).map { $0.kind == .file } ?? true
    }
}

extension BroadcastOrigin {
    /// Whether a recorder wrote it for another take: both fields that name the take agree.
    fileprivate func isOfAnother(_ take: TakeName) -> Bool { stem != nil && !isOf(take) }
}

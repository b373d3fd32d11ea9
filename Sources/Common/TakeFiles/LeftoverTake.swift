import Glibc
import Takes

/// The remains of one take after a cut, read and judged: the valid length of each file, and the resulting sidecar.
/// Nothing is changed on the disk.
///
/// If there is a draft of the sidecar, it is used. If it contains `ended_by`, its frames are exact, since they were
/// synced before it, and closing chunks may follow them. If not, everything after the header of an audio file, in whole
/// frames, is sound. That includes zeros at its end: they may be lost data of the last second or recorded silence, and
/// only cutting them off could lose something. Each file of a part has its own length, since the twin may lack frames
/// that were not synced yet.
///
/// Without a draft the headers of the audio files replace it as far as possible. The same applies to an unreadable
/// draft if the storage works otherwise and all headers are whole.
///
/// If a finished take was continued, the parts that its sidecar names are settled, and only the parts after them are
/// judged.
struct LeftoverTake {
    /// The state of the sidecar's draft.
    enum Draft {
        /// It exists under its own name.
        case there
        /// It had not replaced the older draft yet, which is missing.
        case waiting
        /// It is missing.
        case lost
    }

    let draft: Draft
    /// Why the draft under its own name is not used although it exists.
    private(set) var draftProblem: String?
    /// Whether there is an unreadable sidecar and no other source for its content.
    let isSidecarDamaged: Bool
    /// Whether there are parts that the draft does not list yet.
    var hasNewParts: Bool { !Set(sidecar.parts.map(\.file)).isSubset(of: listedParts) }
    /// The sidecar of the take, with the parts as they were found.
    var sidecar: Sidecar
    /// The audio files of each part, the filtered file before its twin.
    var parts: [[AudioFile]] = []
    /// The gaps that recovery adds.
    private(set) var newGaps: [Sidecar.Gap] = []
    /// Audio files without a frame.
    var empty: [AudioFile] = []
    /// Unfiltered files of parts whose filtered file has no frame. They are left unchanged.
    var loneTwins: [String] = []
    /// Tails that belong to no take, and empty files next to the files with the sound. On FAT, a power cut during a
    /// rename leaves them.
    let superfluous: [AudioFile]
    /// Files with the names of audio files but of another or unknown origin. They are left unchanged.
    let strange: [String]

    /// The files of the parts that the draft lists.
    private let listedParts: Set<String>
    /// The parts that the sidecar of a finished take names.
    let settled: [Sidecar.Part]

    /// The largest part and its closing chunks need less: this is the most that the header of a WAV file can report.
    private static let mostBytes = Int64(1) << 32
    static let mostSidecarBytes = SidecarFile.mostBytes

    struct Found {
        var name: AudioFileName
        var byteCount: Int64
        var header: WAVHeaderReading?
        /// The maker of the file, according to its header.
        var origin: Origin
        /// Whether a recorder left the file before it wrote any sound.
        var isBlank: Bool
        /// Whether the bytes after the sound, by the header's length, begin like closing chunks.
        var isClosed: Bool
        /// The number of bytes that match the received sound, or nil if unknown.
        var receivedBytes: Int64?

        /// Whether the header is readable and at least one frame follows it.
        var hasSound: Bool { header.map { frames(of: $0.format) > 0 } ?? false }

        func frames(of format: StreamFormat) -> Int64 {
            max(0, byteCount - Int64(WAVHeader.byteCount)) / Int64(format.bytesPerFrame)
        }
    }
}

/// Why a leftover take is not recovered.
enum LeftoverProblem: Error {
    /// It has no frame, and a recorder made all its files.
    case empty
    /// It was discarded, and not all of its files were removed.
    case removed
    /// It is a finished take, and no frame was recorded after its end. These audio files are left next to it, and these
    /// of another origin.
    case finished(Sidecar, rest: [AudioFile], strange: [String])
    /// It is a finished take, and only the revision that should replace its sidecar can be read.
    case unreplaced
    /// It is a finished take, and its sidecar is missing or damaged. Its audio files describe it.
    case lost(LostSidecar)
    /// These files have names of drafts that recovery overwrites or removes. They are not regular files, come from
    /// another program, or contain noise after a power cut.
    case strangeDrafts([String])
    /// A recorder does not leave such files, for this reason.
    case foreign(String)
    case failed(FileError)

    /// An audio file has two names. On a file system without a journal both may refer to one file, so neither may be
    /// removed.
    static func twoNames(of take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): an audio file is there under two names: check the file system (fsck)")
    }

    /// A file of another origin has a name that a file of the take has or must get.
    static func isInTheWay(
        _ file: String, of take: TakeName, _ relation: String = "has the name that its sound is to get"
    ) -> LeftoverProblem {
        .foreign("\(take.stem): \(file) \(relation), and is another file: \(advice)")
    }

    /// A part has only its unfiltered sound.
    static func loneTwin(_ twin: AudioFileName, of take: TakeName, _ event: String) -> LeftoverProblem {
        let file = twin.file + (twin.stage == .part ? ".part" : "")
        let advice = "it is a WAV file that plays: move it to another place, under a name that ends in .wav"
        return .foreign("\(take.stem): \(event), in \(file): \(advice)")
    }

    /// Neither the sidecar nor a header can be read.
    static func headless(_ take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): neither its sidecar nor the header of an audio file can be read")
    }

    /// The advice if another program's file prevents the recovery of a take.
    static let advice =
        "move that to another place, and the take is recovered within a minute, or by 'fieldfare recover'"

    /// The failure, if the storage cannot return stored data.
    var unreadable: FileError? {
        if case .failed(let error) = self, [EIO, EUCLEAN, EBADMSG].contains(error.code) { error } else { nil }
    }
}

// MARK: - Reading

extension LeftoverTake {
    /// Reads the remains of a take.
    /// - Parameters:
    ///   - received: the sound that was received, by audio file, where known.
    ///   - storageAnswers: returns whether the storage works although a file cannot be read.
    init(
        at site: TakeSite, received: [String: WrittenSound], storageAnswers: () -> Bool
    ) throws(LeftoverProblem) {
        let folder = "\(site.takes.path)/\(site.name.day)"
        let names = try Self.attempt { () throws(FileError) in
            try TakeListing.files(of: site.name, in: site.files.entries(folder), folder: folder, files: site.files)
        }.filter { !FileSystem.isSetAside($0) && Self.isThere($0, at: site) }
        let stem = site.name.stem
        try Self.checkDocuments([.sidecarDraft, .revision, .peaksPart, .removal], names, at: site)
        try Self.checkKind(.sidecarPart, names, at: site)
        let finished = try Self.finished(names, at: site, storageAnswers)
        if finished != nil { try Self.checkDocuments([.sidecarPart], names, at: site) }
        settled = finished?.parts ?? []
        let last = settled.compactMap { Self.number($0, of: site.name) }.max() ?? 0
        guard !names.isEmpty else { throw .empty }
        let drafts = [TakeDocument.sidecarPart, .sidecarDraft].filter { names.contains($0.name(stem: stem)) }
        var audio = names.compactMap { AudioFileName($0, of: site.name) }.filter { $0.part > last }
        let hasSidecar = names.contains(TakeDocument.sidecar.name(stem: stem))
        let isRemoved = names.contains(TakeDocument.removal.name(stem: stem))
        if isRemoved, finished == nil, drafts.isEmpty, !hasSidecar {
            try Self.checkFile(.removal, at: site)
            throw .removed
        }
        // Without a draft, a recorder did not make the files with final names that lie next to a finished take.
        if finished != nil, drafts.isEmpty { audio.removeAll(where: \.isFinal) }
        guard finished != nil || !drafts.isEmpty || audio.contains(where: { $0.stage == .part }) else {
            throw .lost(try LostSidecar(names, at: site, problem: nil))
        }
        for document in [TakeDocument.peaksPart, .peaks] where names.contains(document.name(stem: stem)) {
            do throws(LeftoverProblem) {
                try Self.checkFile(document, at: site)
            } catch {
                // The waveform is made again if the storage allows it. An obstacle with its final name stays there.
                if document == .peaks, case .foreign = error { continue }
                guard error.unreadable != nil else { throw error }
            }
        }
        var readings: [TakeDocument: Reading] = [:]
        var unreadable: [TakeDocument: FileError] = [:]
        for document in drafts {
            do throws(LeftoverProblem) {
                readings[document] = try Self.read(document, at: site)
            } catch {
                guard error.unreadable != nil, storageAnswers() else { throw error }
                do throws(LeftoverProblem) {
                    readings[document] = try Self.read(document, at: site)
                } catch {
                    guard let failure = error.unreadable else { throw error }
                    readings[document] = Reading(isBegun: false, problem: failure.description)
                    unreadable[document] = failure
                }
            }
        }
        draftProblem = readings[.sidecarPart]?.problem
        let current = readings[.sidecarPart]?.sidecar
        let sidecar = current ?? readings[.sidecarDraft]?.sidecar
        var all: [Found] = []
        let known = Set(sidecar?.audioFiles ?? [])
        for name in audio.sorted(by: { $0.place < $1.place }) {
            let isObstacle = !known.contains(name.file) && !Self.isFile(name, at: site)
            all.append(isObstacle ? Found(obstacle: name) : try Self.read(name, at: site, received))
        }
        let (own, others) = try Self.sort(all, sidecar, at: site)
        strange = others
        // All files have their final names, which they get last. Nothing must be done to them.
        if sidecar == nil, finished == nil, !own.isEmpty, own.allSatisfy(\.name.isFinal), !hasSidecar,
            let lost = try? LostSidecar(names, at: site, problem: nil)
        {
            throw .lost(lost)
        }
        // A tail is part of the take as soon as the draft lists it.
        let listed = Set(current?.parts.map(\.file) ?? [])
        let isTail = { (file: Found) in
            file.name.stage == .tail && !listed.contains(file.name.sibling(isUnfiltered: false))
        }
        let dropped = own.filter(isTail).map(\.name)
        var found: [Found] = []
        var empties: [AudioFileName] = []
        for file in own where !isTail(file) {
            if let last = found.last, last.name.place == file.name.place {
                guard last.byteCount == 0 || file.byteCount == 0 else { throw .twoNames(of: site.name) }
                empties.append(file.byteCount == 0 ? file.name : found.removeLast().name)
                if file.byteCount == 0 { continue }
            }
            found.append(file)
        }
        draft = sidecar == nil ? .lost : current == nil ? .waiting : .there
        isSidecarDamaged =
            hasSidecar && finished == nil && (sidecar == nil || Self.isForeign(.sidecar, at: site))
        if sidecar == nil, finished == nil, let failure = unreadable.values.first,
            !all.allSatisfy({ $0.isBlank || $0.header?.origin != nil })
        {
            throw .failed(failure)
        }
        guard sidecar != nil || finished != nil || !found.isEmpty || strange.isEmpty else { throw .headless(site.name) }

        // A take without sound is removed only if all its files can be nothing else.
        let documents = [TakeDocument.peaksPart, .peaks, .revision, .sidecar, .removal].map { $0.name(stem: stem) }
        let isOurs =
            names.count == own.count + drafts.count + names.count(where: documents.contains)
            && readings.values.allSatisfy(\.isBegun)
            && !(names.contains(TakeDocument.peaks.name(stem: stem)) && site.isForeignWaveform(site.path(.peaks)))
            && !(hasSidecar && Self.isForeign(.sidecar, at: site))
        let listedFrames = sidecar?.frames ?? 0
        let noSound = LeftoverProblem.foreign("\(stem): it has no sound, and files that no recorder left")
        if finished == nil, listedFrames == 0, found.allSatisfy(\.isBlank) { throw isOurs ? .empty : noSound }
        listedParts = Set(sidecar?.parts.map(\.file) ?? [])
        let base = try Self.sidecar(sidecar, finished, found, at: site)
        let remains = try Self.remains(names, of: settled, at: site)
        superfluous = (dropped + empties + remains.blank).map { Self.rest($0, of: site.name, base) }
        self.sidecar = base
        judge(found, site.name, isAnew: sidecar == nil)
        if let finished {
            guard self.sidecar.parts.contains(where: { part in !settled.contains { $0.file == part.file } }) else {
                if let twin = found.first(where: { $0.name.isUnfiltered && $0.hasSound }) {
                    throw .loneTwin(twin.name, of: site.name, "of its last part, only the unfiltered sound is there")
                }
                let begun = found.filter { $0.name.stage == .part && ($0.isBlank || $0.header != nil) }
                guard remains.others.isEmpty else { throw .twoNames(of: site.name) }
                throw .finished(
                    finished,
                    rest: superfluous + begun.map { Self.rest($0.name, of: site.name, finished) }, strange: strange)
            }
            guard settled.allSatisfy({ $0.file.hasSuffix(".wav") }) else {
                throw .foreign("\(stem): it is FLAC, and what was recorded after its end is not")
            }
            parts = try Self.settledAudio(finished, at: site) + parts
        }
        guard self.sidecar.frames > 0 else {
            if let twin = found.first(where: { $0.name.isUnfiltered && $0.hasSound }) {
                throw .loneTwin(twin.name, of: site.name, "only its unfiltered sound is there")
            }
            guard listedFrames == 0 else {
                let advice = "put it back, or move what is left of the take to another place"
                throw .foreign("\(stem): its sidecar lists sound that is not there: \(advice)")
            }
            throw isOurs && empty.count == found.count ? .empty : noSound
        }
        // The levels that were noted at the end are valid only for the whole take.
        if self.sidecar.endedBy == nil || self.sidecar.frames != listedFrames { self.sidecar.levels = [] }
        self.sidecar.trim()
        newGaps = self.sidecar.listHoles(known: listedParts.union(settled.map(\.file)))
    }

    /// Whether the object with the name of a document is neither that document nor what a power cut leaves of it: it is
    /// not a regular file, it is complete JSON, or it is text.
    private static func isForeign(_ document: TakeDocument, at site: TakeSite) -> Bool {
        guard let bytes = try? site.files.contents(site.path(document), limit: mostSidecarBytes) else { return true }
        guard let first = bytes.first(where: { $0 != 0 }) else { return false }
        return first != UInt8(ascii: "{") || SidecarFile.isJSON(bytes)
    }

    /// Throws unless the document is a regular file. Nothing else can be read, and replaced at the end.
    static func checkFile(_ document: TakeDocument, at site: TakeSite) throws(LeftoverProblem) {
        _ = try attempt { () throws(FileError) in try site.files.length(site.files.open(site.path(document))) }
    }

    /// The result of reading a draft of the sidecar.
    private struct Reading {
        var sidecar: Sidecar?
        /// Whether it is a draft, or what a power cut leaves of one.
        var isBegun: Bool
        /// Why the draft is not used although it exists.
        var problem: String?
    }

    private static func read(_ document: TakeDocument, at site: TakeSite) throws(LeftoverProblem) -> Reading {
        let path = site.path(document)
        try checkFile(document, at: site)
        let bytes = try attempt { () throws(FileError) in try site.files.contents(path, limit: Self.mostSidecarBytes) }
        let sidecar = try? SidecarFile.sidecar(bytes, path: path)
        if let sidecar, sidecar.isCredible(for: site.name) { return Reading(sidecar: sidecar, isBegun: true) }
        if bytes.allSatisfy({ $0 == 0 }) { return Reading(isBegun: true) }
        return Reading(isBegun: bytes.first == UInt8(ascii: "{"), problem: "\(path): it is damaged")
    }

    static func read(
        _ name: AudioFileName, at site: TakeSite, _ received: [String: WrittenSound]
    ) throws(LeftoverProblem) -> Found {
        let base = name.file
        return try attempt { () throws(FileError) in
            let file = try site.files.open(site.path(base + name.stage.suffix))
            let byteCount = try site.files.length(file)
            guard byteCount <= Self.mostBytes else { throw FileError("recover", file.path, code: EFBIG) }
            // An unreadable header can be made again.
            let head = (try? site.files.read(file, at: 0, count: WAVHeader.byteCount)) ?? []
            let header = WAVHeaderReading(head)
            var isClosed = false
            if let header {
                let end = Int64(WAVHeader.byteCount) + header.dataBytes + header.dataBytes % 2
                isClosed = CueChunks.begin(with: (try? site.files.read(file, at: end, count: 4)) ?? [])
            }
            let origin = Origin(head, of: site.name)
            let isBegun = [.own, .recorder, .blank].contains(origin)
            return Found(
                name: name, byteCount: byteCount, header: header, origin: origin,
                isBlank: isBegun && byteCount <= Int64(WAVHeader.byteCount), isClosed: isClosed,
                receivedBytes: try received[base]?.soundBytes(in: file, site.files, isKept: false))
        }
    }

    /// Turns an error into `foreign` if the object is not a regular file, is a link, or is larger than any part: a
    /// recorder does not make such an object.
    static func attempt<Result>(
        _ call: () throws(FileError) -> Result
    ) throws(LeftoverProblem) -> Result {
        do throws(FileError) {
            return try call()
        } catch {
            guard [EISDIR, ELOOP, ESPIPE, ENXIO, EFBIG].contains(error.code) else { throw .failed(error) }
            throw .foreign("\(error): \(LeftoverProblem.advice)")
        }
    }

    /// The draft if there is one, else a sidecar made from the finished take's sidecar, else one made from the headers.
    private static func sidecar(
        _ draft: Sidecar?, _ finished: Sidecar?, _ found: [Found], at site: TakeSite
    ) throws(LeftoverProblem) -> Sidecar {
        if let finished {
            var sidecar = draft ?? finished
            if draft == nil { sidecar.endedBy = nil }
            let next = finished.revision == .max ? .max : finished.revision + 1
            sidecar.revision = max(sidecar.revision, next)
            sidecar.startedCorrected = sidecar.startedCorrected ?? finished.startedCorrected
            return sidecar
        }
        if let draft { return draft }
        guard let first = found.first(where: { $0.origin == .own }), let header = first.header,
            let origin = header.origin
        else {
            throw .headless(site.name)
        }
        let recorder = origin.recorder
        let frames = max(0, first.byteCount - Int64(WAVHeader.byteCount)) / Int64(header.format.bytesPerFrame)
        let length = Duration.seconds(Double(frames) / Double(header.format.rateHz))
        let started = origin.started ?? site.written(first.name.file + first.name.stage.suffix) - length
        var sidecar = Sidecar(
            name: site.name, started: started, startedMonotonic: Instant(nanoseconds: 0), bootID: "",
            clock: .unset, card: recorder.card, format: header.format, preRollFrames: 0, gainDB: nil, agc: nil,
            version: recorder.version)
        sidecar.endedBy = .unknown
        return sidecar
    }
}

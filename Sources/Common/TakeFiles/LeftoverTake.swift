import Glibc
import Takes

/// What a cut left of one take, read and judged: how much of it is sound, and what its sidecar is to say. Nothing is changed.
///
/// A draft of the sidecar counts, where there is one. If it says `ended_by`, its frames are exact, since they were
/// synced before it, and closing chunks may follow them. If not, everything after the header of an audio file, in whole
/// frames, is sound. That includes zeros at its end: they may be all that the disk kept of the last second, or silence that
/// was recorded, and only cutting them off could lose something. Each file of a part has its own length: its twin may lack what was not
/// synced yet.
/// Without a draft the headers of the audio files replace it, as far as they can: also where it cannot be read, although the
/// storage answers otherwise and all headers are whole.
///
/// Of a take that was finished and went on, the parts that its sidecar names are settled: only what follows them is judged.
struct LeftoverTake {
    /// What became of the sidecar.
    enum Draft {
        /// It is under its name.
        case there
        /// It had not replaced the old one yet, which is gone.
        case waiting
        /// It is gone.
        case lost
    }

    /// What became of the sidecar.
    let draft: Draft
    /// Why the sidecar that is under its name is not used, although it is there.
    private(set) var draftProblem: String?
    /// Whether there is a sidecar that cannot be read, and nothing else that says what it said.
    let isSidecarDamaged: Bool
    /// Whether there are parts that the draft does not know yet.
    var hasNewParts: Bool { !Set(sidecar.parts.map(\.file)).isSubset(of: listedParts) }
    /// What is known of the take, with its parts as they lie there.
    var sidecar: Sidecar
    /// The audio files of each part, the filtered one before its twin.
    var parts: [[AudioFile]] = []
    /// The gaps that recovery makes.
    private(set) var newGaps: [Sidecar.Gap] = []
    /// Audio files that hold no frame.
    var empty: [AudioFile] = []
    /// Unfiltered files of parts whose filtered file has no frame: they stay as they are.
    var loneTwins: [String] = []
    /// Tails that belong to no take, and empty files beside those with the sound: a cut in a rename leaves them on FAT.
    let superfluous: [AudioFile]
    /// Files that have the names of audio files and another origin, or an unknown one: they stay as they are.
    let strange: [String]

    /// The parts that the draft knows.
    private let listedParts: Set<String>
    /// The parts that the sidecar of a finished take names.
    let settled: [Sidecar.Part]

    /// More than the largest part and its closing chunks take: what the header of a WAV file can report.
    private static let mostBytes = Int64(1) << 32
    static let mostSidecarBytes = SidecarFile.mostBytes

    /// An audio file as it is found.
    struct Found {
        var name: AudioFileName
        var byteCount: Int64
        var header: WAVHeaderReading?
        /// What its head says of who made it.
        var origin: Origin
        /// Whether it is what a recorder leaves of a file that it had no time to begin.
        var isBlank: Bool
        /// What follows the sound by the header's account begins like closing chunks.
        var isClosed: Bool
        /// How much of it is what was received, where that is known.
        var receivedBytes: Int64?

        /// Whether its own header says that it is longer than that.
        var hasSound: Bool { header.map { frames(of: $0.format) > 0 } ?? false }

        func frames(of format: StreamFormat) -> Int64 {
            max(0, byteCount - Int64(WAVHeader.byteCount)) / Int64(format.bytesPerFrame)
        }
    }
}

/// Why a leftover take is not recovered.
enum LeftoverProblem: Error {
    /// It has no frame, and all its files are a recorder's.
    case empty
    /// It was discarded, and not all of its files were removed.
    case removed
    /// It is a finished take, and no frame was recorded since. These audio files are left beside it, and these of another origin.
    case finished(Sidecar, rest: [AudioFile], strange: [String])
    /// It is a finished take, and only the revision that was to replace its sidecar can be read.
    case unreplaced
    /// It is a finished take, and its sidecar is gone or damaged; its audio files say what it was.
    case lost(LostSidecar)
    /// These have names of drafts that recovery writes over or removes, and are no files, another program's, or noise that a cut left.
    case strangeDrafts([String])
    /// It is not what a recorder leaves behind, for this reason.
    case foreign(String)
    /// The storage failed.
    case failed(FileError)

    /// An audio file has two names: on a file system without a journal they may be one file, of which none can be removed.
    static func twoNames(of take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): an audio file is there under two names: check the file system (fsck)")
    }

    /// A file of another origin has a name that a file of the take has or is to get.
    static func isInTheWay(
        _ file: String, of take: TakeName, _ relation: String = "has the name that its sound is to get"
    ) -> LeftoverProblem {
        .foreign("\(take.stem): \(file) \(relation), and is another file: \(advice)")
    }

    /// Of a part there is only the unfiltered sound.
    static func loneTwin(_ twin: AudioFileName, of take: TakeName, _ event: String) -> LeftoverProblem {
        let file = twin.file + (twin.stage == .part ? ".part" : "")
        let advice = "it is a WAV file that plays: move it to another place, under a name that ends in .wav"
        return .foreign("\(take.stem): \(event), in \(file): \(advice)")
    }

    /// Nothing says what it is.
    static func headless(_ take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): neither its sidecar nor the header of an audio file can be read")
    }

    /// The way out where another program's file keeps a take from being recovered.
    static let advice =
        "move that to another place, and the take is recovered within a minute, or by 'fieldfare recover'"

    /// The failure, if the storage cannot give back what it holds.
    var unreadable: FileError? {
        if case .failed(let error) = self, [EIO, EUCLEAN, EBADMSG].contains(error.code) { error } else { nil }
    }
}

// MARK: - Reading

extension LeftoverTake {
    /// Reads what there is of a take.
    /// - Parameters:
    ///   - received: what was received of it, by audio file, where that is known.
    ///   - storageAnswers: whether the storage does, although a file cannot be read.
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
        // Without a draft, what lies beside a finished take under a final name is not the recorder's.
        if finished != nil, drafts.isEmpty { audio.removeAll(where: \.isFinal) }
        guard finished != nil || !drafts.isEmpty || audio.contains(where: { $0.stage == .part }) else {
            throw .lost(try LostSidecar(names, at: site, problem: nil))
        }
        for document in [TakeDocument.peaksPart, .peaks] where names.contains(document.name(stem: stem)) {
            do throws(LeftoverProblem) {
                try Self.checkFile(document, at: site)
            } catch {
                // It is made again, if the storage takes it. What has its final name keeps that.
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
        // All files have their final names, which they get last: nothing is to be done to them.
        if sidecar == nil, finished == nil, !own.isEmpty, own.allSatisfy(\.name.isFinal), !hasSidecar,
            let lost = try? LostSidecar(names, at: site, problem: nil)
        {
            throw .lost(lost)
        }
        // A tail is part of the take from when the draft lists it.
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

        // Only what can be nothing else is taken for a take that was hardly begun.
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
        // Levels that were noted at the end hold for all of it, and for nothing less.
        if self.sidecar.endedBy == nil || self.sidecar.frames != listedFrames { self.sidecar.levels = [] }
        self.sidecar.trim()
        newGaps = self.sidecar.listHoles(known: listedParts.union(settled.map(\.file)))
    }

    /// Whether what has the name of a document is neither that nor what a cut leaves of it: it is no file, or is whole JSON, or text.
    private static func isForeign(_ document: TakeDocument, at site: TakeSite) -> Bool {
        guard let bytes = try? site.files.contents(site.path(document), limit: mostSidecarBytes) else { return true }
        guard let first = bytes.first(where: { $0 != 0 }) else { return false }
        return first != UInt8(ascii: "{") || SidecarFile.isJSON(bytes)
    }

    /// Only a file can be read, and replaced at the end.
    static func checkFile(_ document: TakeDocument, at site: TakeSite) throws(LeftoverProblem) {
        _ = try attempt { () throws(FileError) in try site.files.length(site.files.open(site.path(document))) }
    }

    /// What was read of a draft of the sidecar.
    private struct Reading {
        var sidecar: Sidecar?
        /// Whether it is one, or what a cut leaves of one.
        var isBegun: Bool
        /// Why it is not used, although it is there.
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
            // A header that cannot be read can be made again.
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

    /// What is no file at all, a link to one elsewhere, or larger than any part, is not a recorder's.
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

    /// The draft, or one made of what the sidecar of the finished take, or else the headers say.
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

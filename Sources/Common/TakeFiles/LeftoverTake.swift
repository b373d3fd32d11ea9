import Files
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

// MARK: - Reading

extension LeftoverTake {
    /// Reads the remains of a take.
    /// - Parameters:
    ///   - received: the sound that was received, by audio file, where known.
    ///   - storageAnswers: returns whether the storage works although a file cannot be read.
    init(
        at site: TakeSite, received: [String: WrittenSound], storageAnswers: () -> Bool
    ) throws(LeftoverProblem) {
        let names = try LeftoverNames(at: site, storageAnswers)
        let drafts = try LeftoverDrafts(names.drafts, at: site, storageAnswers)
        let sound = try LeftoverSound(names.audio, drafts.sidecar, at: site, received: received)
        let isUnlisted = names.finished == nil && drafts.sidecar == nil
        if isUnlisted { try Self.checkFinal(names, sound, at: site) }
        let listed = Set(drafts.current?.parts.map(\.file) ?? [])
        let (found, superfluous) = try sound.files(listed: listed, of: site.name)
        if isUnlisted { try Self.checkHeaders(drafts, sound, found, of: site.name) }
        let isOurs = Self.areOurs(names, drafts, sound, at: site)
        let listedFrames = drafts.sidecar?.frames ?? 0
        if names.finished == nil, listedFrames == 0, found.allSatisfy(\.isBlank) {
            throw .withoutSound(site.name, isOurs: isOurs)
        }

        draft = drafts.state
        draftProblem = drafts.problem
        isSidecarDamaged =
            names.hasDamagedSidecar && (drafts.sidecar == nil || Self.isForeign(.sidecar, at: site))
        strange = sound.strange
        settled = names.settled
        listedParts = Set(drafts.sidecar?.parts.map(\.file) ?? [])
        let sidecar = try Self.sidecar(drafts.sidecar, names.finished, found, at: site)
        self.sidecar = sidecar
        let remains = try Self.remains(names.all, of: settled, at: site)
        self.superfluous = (superfluous + remains.blank).map { Self.rest($0, of: site.name, sidecar) }

        judge(found, site.name, isAnew: drafts.sidecar == nil)
        if let finished = names.finished { try add(to: finished, found, remains.others, at: site) }
        try checkFrames(found, listed: listedFrames, isOurs: isOurs, of: site.name)
        complete(listedFrames: listedFrames)
    }

    /// - Throws: `lost` if nothing must be done to the audio files: all have their final names, which they get last.
    private static func checkFinal(
        _ names: LeftoverNames, _ sound: LeftoverSound, at site: TakeSite
    ) throws(LeftoverProblem) {
        guard !names.has(.sidecar), sound.isFinal,
            let lost = try? LostSidecar(names.all, at: site, problem: nil)
        else { return }
        throw .lost(lost)
    }

    /// Checks that the headers can replace the sidecar.
    /// - Throws: `failed` if the storage cannot return a draft, and not all headers are whole; `headless` if no file
    ///   belongs to the take.
    private static func checkHeaders(
        _ drafts: LeftoverDrafts, _ sound: LeftoverSound, _ found: [Found], of take: TakeName
    ) throws(LeftoverProblem) {
        if let failure = drafts.failure, !sound.hasAllHeaders { throw .failed(failure) }
        guard !found.isEmpty || sound.strange.isEmpty else { throw .headless(take) }
    }

    /// Whether a recorder left all files. A take without sound is removed only then.
    private static func areOurs(
        _ names: LeftoverNames, _ drafts: LeftoverDrafts, _ sound: LeftoverSound, at site: TakeSite
    ) -> Bool {
        let documents = [TakeDocument.peaksPart, .peaks, .revision, .sidecar, .removal].filter(names.has)
        return names.all.count == sound.own.count + names.drafts.count + documents.count && drafts.areBegun
            && !(names.has(.peaks) && site.isForeignWaveform(site.path(.peaks)))
            && !(names.has(.sidecar) && isForeign(.sidecar, at: site))
    }

    /// Puts the parts of a finished take before those that were recorded after its end.
    /// - Parameter others: files with sound that have an earlier name of one of its files.
    /// - Throws: `finished` if there are no new parts; `foreign` if these cannot be added.
    private mutating func add(
        to finished: Sidecar, _ found: [Found], _ others: [AudioFileName], at site: TakeSite
    ) throws(LeftoverProblem) {
        let take = site.name
        guard sidecar.parts.contains(where: { part in !settled.contains { $0.file == part.file } }) else {
            try checkLoneTwin(found, take, "of its last part, only the unfiltered sound is there")
            guard others.isEmpty else { throw .twoNames(of: take) }
            let begun = found.filter { $0.name.stage == .part && ($0.isBlank || $0.header != nil) }
            throw .finished(
                finished, rest: superfluous + begun.map { Self.rest($0.name, of: take, finished) }, strange: strange)
        }
        guard settled.allSatisfy({ $0.file.hasSuffix(".wav") }) else {
            throw .foreign("\(take.stem): it is FLAC, and what was recorded after its end is not")
        }
        parts = try Self.settledAudio(finished, at: site) + parts
    }

    /// Checks that the take has a frame.
    /// - Parameter listed: the frames that the draft lists.
    private func checkFrames(
        _ found: [Found], listed: Int64, isOurs: Bool, of take: TakeName
    ) throws(LeftoverProblem) {
        guard sidecar.frames == 0 else { return }
        try checkLoneTwin(found, take, "only its unfiltered sound is there")
        guard listed == 0 else {
            let advice = "put it back, or move what is left of the take to another place"
            throw .foreign("\(take.stem): its sidecar lists sound that is not there: \(advice)")
        }
        throw .withoutSound(take, isOurs: isOurs && empty.count == found.count)
    }

    private func checkLoneTwin(_ found: [Found], _ take: TakeName, _ event: String) throws(LeftoverProblem) {
        guard let twin = found.first(where: { $0.name.isUnfiltered && $0.hasSound }) else { return }
        throw .loneTwin(twin.name, of: take, event)
    }

    /// Completes the sidecar, of which the parts are known.
    private mutating func complete(listedFrames: Int64) {
        // The levels that were noted at the end are valid only for the whole take.
        if sidecar.endedBy == nil || sidecar.frames != listedFrames { sidecar.levels = [] }
        sidecar.trim()
        newGaps = sidecar.listHoles(known: listedParts.union(settled.map(\.file)))
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

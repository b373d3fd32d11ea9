import Glibc
import Takes

/// What a cut left of one take, read and judged: how much of it is sound, and what its sidecar is to say. Nothing is changed.
///
/// What a draft of the sidecar tells counts, where there is one. If it says `ended_by`, its frames are exact, since they
/// were synced before it, and closing chunks may follow them. If not, everything after the head of an audio file, in
/// whole frames, is sound: zeros at its end as well, which may be all that the disk kept of the last second, and may be
/// what was heard; to cut true silence off would lose something, to keep untrue silence loses nothing.
/// Without a draft the heads of the audio files tell what it would have told, as far as they can: also where it cannot be read,
/// although the storage answers otherwise and all heads are whole.
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
    /// Why the sidecar that is under its name tells nothing, although something is there.
    private(set) var draftProblem: String?
    /// Whether there are parts that the draft does not know yet.
    var hasNewParts: Bool { !Set(sidecar.parts.map(\.file)).isSubset(of: known) }
    /// What is known of the take, with its parts as they lie there.
    private(set) var sidecar: Sidecar
    /// The audio files of each part, the filtered one before its twin.
    private(set) var parts: [[AudioFile]] = []
    /// Audio files that hold no frame.
    private(set) var empty: [AudioFile] = []

    /// The parts that the draft knows.
    private let known: Set<String>

    /// Sound that a stalling storage can owe: what the ring holds, and the longest pre-roll. Twins that differ by more
    /// are damaged in another way than by a cut, and neither is cut to the other.
    private static let mostOwed = Duration.seconds(60)
    /// More than the largest part and its closing chunks take: what a WAV file can tell of itself.
    private static let mostBytes = Int64(1) << 32
    /// More than the sidecar of a take with a gap each second of a week.
    private static let mostSidecarBytes = 64 << 20

    /// An audio file as it is found.
    private struct Found {
        var name: AudioFileName
        var byteCount: Int64
        var header: WAVHeaderReading?
        /// Whether it is what a recorder leaves of a file that it had no time to begin.
        var isBlank: Bool
        /// What follows the sound by the head's account begins like closing chunks.
        var isClosed: Bool
        /// How much of it is what was heard, where that is known.
        var heardBytes: Int64?

        /// Whether its own head says that it is longer than that.
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
    /// It is not what a recorder leaves behind, for this reason.
    case foreign(String)
    /// The storage failed.
    case failed(FileError)

    /// The failure, if the storage cannot give back what it holds.
    var unreadable: FileError? {
        if case .failed(let error) = self, error.code == EIO { error } else { nil }
    }
}

// MARK: - Reading

extension LeftoverTake {
    /// Reads what there is of a take.
    /// - Parameters:
    ///   - heard: what was heard of it, by audio file, where that is known.
    ///   - storageAnswers: whether the storage does, although a file cannot be read.
    init(
        at site: TakeSite, heard: [String: HeardSound], storageAnswers: () -> Bool
    ) throws(LeftoverProblem) {
        let names = try Self.attempt { () throws(FileError) in
            try site.files.entries("\(site.takes.path)/\(site.name.day)")
        }.filter { TakeName(file: $0, day: site.name.day) == site.name }
        let stem = site.name.stem
        guard !names.contains(TakeDocument.sidecar.name(stem: stem)) else {
            throw .foreign("\(stem): it is finished")
        }
        guard !names.isEmpty else { throw .empty }
        let drafts = [TakeDocument.sidecarPart, .sidecarDraft].filter { names.contains($0.name(stem: stem)) }
        let audio = names.compactMap { AudioFileName($0, of: site.name) }
        guard !drafts.isEmpty || audio.contains(where: { !$0.isFinal }) else {
            throw .foreign("\(stem): its files have no sidecar, like those of a take whose removal was cut")
        }
        for document in [TakeDocument.peaksPart, .peaks] where names.contains(document.name(stem: stem)) {
            do throws(LeftoverProblem) {
                try Self.checkFile(document, at: site)
            } catch {
                // It is made again, if the storage takes it.
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
        var found: [Found] = []
        for name in audio.sorted(by: { $0.place < $1.place }) {
            if let last = found.last?.name, last.place == name.place {
                throw .foreign("\(stem): an audio file is there both with and without '.part'")
            }
            found.append(try Self.read(name, at: site, heard))
        }
        let told = readings[.sidecarPart]?.sidecar
        let sidecar = told ?? readings[.sidecarDraft]?.sidecar
        draft = sidecar == nil ? .lost : told == nil ? .waiting : .there
        if sidecar == nil, let failure = unreadable.values.first,
            !found.allSatisfy({ $0.isBlank || $0.header?.origin != nil })
        {
            throw .failed(failure)
        }

        // Only what can be nothing else is taken for a take that was hardly begun.
        let peaks = [TakeDocument.peaksPart, .peaks].map { $0.name(stem: stem) }
        let isOurs =
            names.count == audio.count + drafts.count + names.count(where: peaks.contains)
            && readings.values.allSatisfy(\.isBegun)
        let toldFrames = sidecar?.frames ?? 0
        let noSound = LeftoverProblem.foreign("\(stem): it has no sound, and files that no recorder left")
        if toldFrames == 0, found.allSatisfy(\.isBlank) { throw isOurs ? .empty : noSound }
        known = Set(sidecar?.parts.map(\.file) ?? [])
        self.sidecar = try Self.sidecar(sidecar, site.name, found)
        judge(found, site.name, isAnew: sidecar == nil)
        guard self.sidecar.frames > 0 else {
            guard toldFrames == 0 else { throw .foreign("\(stem): its sidecar tells of sound that is not there") }
            guard !found.contains(where: { $0.name.isUnfiltered && $0.hasSound }) else {
                throw .foreign("\(stem): only its unfiltered sound is there")
            }
            throw isOurs && empty.count == found.count ? .empty : noSound
        }
        // Levels told at the end hold for all of it, and for nothing less.
        if self.sidecar.endedBy == nil || self.sidecar.frames != toldFrames { self.sidecar.levels = [] }
        self.sidecar.trim()
    }

    /// What is no file cannot be read, nor replaced at the end.
    private static func checkFile(_ document: TakeDocument, at site: TakeSite) throws(LeftoverProblem) {
        _ = try attempt { () throws(FileError) in try site.files.length(site.files.open(site.path(document))) }
    }

    /// What a draft of the sidecar tells.
    private struct Reading {
        var sidecar: Sidecar?
        /// Whether it is one, or what a cut leaves of one.
        var isBegun: Bool
        /// Why it tells nothing, although something is there.
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

    private static func read(
        _ name: AudioFileName, at site: TakeSite, _ heard: [String: HeardSound]
    ) throws(LeftoverProblem) -> Found {
        let base = site.name.audioFile(part: name.part, isUnfiltered: name.isUnfiltered)
        return try attempt { () throws(FileError) in
            let file = try site.files.open(site.path(base + (name.isFinal ? "" : ".part")))
            let byteCount = try site.files.length(file)
            guard byteCount <= Self.mostBytes else { throw FileError("recover", file.path, code: EFBIG) }
            // A head that cannot be read can be made again.
            let head = (try? site.files.read(file, at: 0, count: WAVHeader.byteCount)) ?? []
            let header = WAVHeaderReading(head)
            var isClosed = false
            if let header {
                let end = Int64(WAVHeader.byteCount) + header.dataBytes + header.dataBytes % 2
                isClosed = (try? site.files.read(file, at: end, count: 4)) == Array("cue ".utf8)
            }
            let isBegun = header != nil || head.allSatisfy { $0 == 0 } || head.starts(with: Array("RIFF".utf8))
            return Found(
                name: name, byteCount: byteCount, header: header,
                isBlank: isBegun && byteCount <= Int64(WAVHeader.byteCount), isClosed: isClosed,
                heardBytes: try heard[base]?.soundBytes(in: file, site.files, isKept: false))
        }
    }

    /// What is no file at all, a link to one elsewhere, or larger than any part, is none of a recorder's.
    private static func attempt<Result>(
        _ call: () throws(FileError) -> Result
    ) throws(LeftoverProblem) -> Result {
        do throws(FileError) {
            return try call()
        } catch {
            guard [EISDIR, ELOOP, ESPIPE, ENXIO, EFBIG].contains(error.code) else { throw .failed(error) }
            throw .foreign(error.description)
        }
    }

    /// The draft, or one made of what the heads tell.
    private static func sidecar(
        _ draft: Sidecar?, _ name: TakeName, _ found: [Found]
    ) throws(LeftoverProblem) -> Sidecar {
        if let draft { return draft }
        guard let header = found.lazy.compactMap(\.header).first(where: { $0.origin != nil }),
            let origin = header.origin
        else {
            throw .foreign("\(name.stem): neither its sidecar nor the head of an audio file can be read")
        }
        let recorder = origin.recorder
        var sidecar = Sidecar(
            name: name, started: origin.started, startedMonotonic: Instant(nanoseconds: 0), bootID: "",
            clock: .unset, card: recorder.card, format: header.format, preRollFrames: 0, gainDB: nil, agc: nil,
            version: recorder.version)
        sidecar.endedBy = .unknown
        return sidecar
    }
}

// MARK: - Judging

extension LeftoverTake {
    /// Finds the parts and how much of each is sound.
    private mutating func judge(_ found: [Found], _ take: TakeName, isAnew: Bool) {
        let ended = sidecar.endedBy != nil && !isAnew
        var judged: [Sidecar.Part] = []
        var formats: [StreamFormat] = []
        var files: [[Found]] = []
        var counts: [[Int64]] = []
        var start: WallTime?
        let usual = found.lazy.compactMap(\.header?.format).first ?? sidecar.streamFormat.stored
        for number in Set(found.map(\.name.part)).sorted() {
            let own = found.filter { $0.name.part == number }
            let file = take.audioFile(part: number)
            let known = sidecar.parts.first { $0.file == file }
            let format =
                own.lazy.compactMap(\.header?.format).first
                ?? known.map {
                    StreamFormat(rateHz: $0.rateHz, channels: sidecar.channels, sampleFormat: $0.format.stored)
                } ?? formats.last ?? usual
            var frames = own.map { file in
                let room = file.frames(of: format)
                if let bytes = file.heardBytes { return min(room, bytes / Int64(format.bytesPerFrame)) }
                if ended, let known { return min(room, known.frames) }
                guard isAnew, file.isClosed, let header = file.header else { return room }
                return min(room, header.dataBytes / Int64(format.bytesPerFrame))
            }
            align(&frames, own, owed: format.frames(in: Self.mostOwed))
            let origin = own.lazy.compactMap(\.header?.origin).first
            let end = judged.last.map(sidecar.end) ?? 0
            var first = known?.firstFrame ?? end
            if known == nil, let start, let origin {
                first = max(end, Self.frame(of: origin.started, start, rateHz: sidecar.rateHz, near: end))
            }
            if start == nil, let origin {
                start = origin.started - Self.duration(first, rateHz: sidecar.rateHz)
                if isAnew, let start { sidecar.started = start.iso8601 }
            }
            judged.append(
                Sidecar.Part(
                    file: file, firstFrame: first, frames: own[0].name.isUnfiltered ? 0 : frames[0],
                    rateHz: format.rateHz,
                    format: [known?.format, sidecar.format].compactMap(\.self).first {
                        $0.stored == format.sampleFormat
                    } ?? format.sampleFormat))
            formats.append(format)
            files.append(own)
            counts.append(frames)
        }
        sidecar.setParts(judged.filter { $0.frames > 0 })
        let started = WallTime(iso8601: sidecar.started) ?? WallTime(microseconds: 0)
        for part in judged.indices {
            var sound: [AudioFile] = []
            for (file, frames) in zip(files[part], counts[part]) {
                var audio = AudioFile(
                    name: take.audioFile(part: file.name.part, isUnfiltered: file.name.isUnfiltered),
                    header: WAVHeader(
                        format: formats[part],
                        origin: BroadcastOrigin(
                            sidecar: sidecar, started: started, firstFrame: judged[part].firstFrame,
                            format: formats[part], isUnfiltered: file.name.isUnfiltered)),
                    firstFrame: judged[part].firstFrame)
                audio.isRenamed = file.name.isFinal
                audio.dataBytes = frames * Int64(formats[part].bytesPerFrame)
                if judged[part].frames > 0, frames > 0 {
                    sound.append(audio)
                } else if frames == 0, file.isBlank || file.header != nil {
                    empty.append(audio)
                }
                // What is left is a twin without the sound that it belongs to, or nobody's: it stays where it is.
            }
            if !sound.isEmpty { parts.append(sound) }
        }
    }

    /// Twins end with the same frame, since a frame that is in one only was not synced yet. Sound is
    /// not given up for a twin that has none at all, unless its head tells of none either.
    private func align(_ frames: inout [Int64], _ files: [Found], owed: Int64) {
        let filtered = files[0].name.isUnfiltered ? 0 : frames[0]
        guard let last = files.indices.last, files[last].name.isUnfiltered, abs(filtered - frames[last]) <= owed,
            frames[last] > 0 || files[0].header?.dataBytes == 0
        else { return }
        let lesser = min(filtered, frames[last])
        for index in frames.indices { frames[index] = lesser }
    }

    /// The frame of the take that was heard at `time`; `near` itself, if the rounding of both times explains the rest, or no
    /// take is that long.
    private static func frame(of time: WallTime, _ start: WallTime, rateHz: Int, near: Int64) -> Int64 {
        let seconds = Double(time.microseconds - start.microseconds) / 1e6
        guard seconds * Double(rateHz) <= Double(Sidecar.latestFrame) else { return near }
        let frame = Int64(max(0, seconds * Double(rateHz)).rounded())
        return abs(frame - near) <= 2 ? near : frame
    }

    private static func duration(_ frames: Int64, rateHz: Int) -> Duration {
        .seconds(Double(frames) / Double(rateHz))
    }
}

extension Sidecar {
    /// More frames than any take has.
    static let mostFrames = SidecarLimits.frames.upperBound
    /// No part begins later: what comes behind it has room.
    static let latestFrame = mostFrames / 2

    /// The frame of the take after a part's last; the part may have a rate of its own.
    func end(of part: Part) -> Int64 {
        part.firstFrame + Sidecar.frames(part.frames, at: part.rateHz, countedAt: rateHz)
    }

    /// Takes out what lies beyond the end of the last part.
    mutating func trim() {
        let end = parts.last.map(end) ?? 0
        preRollFrames = min(preRollFrames, frames)
        markers.removeAll { $0.atFrame > end }
        filter.removeAll { $0.atFrame > 0 && $0.atFrame >= end }
        gaps.removeAll { $0.atFrame >= end }
        for index in gaps.indices {
            let room = end - max(0, gaps[index].atFrame)
            gaps[index].frames = min(gaps[index].frames, room)
        }
    }

    /// What the card delivered at the take's start.
    var streamFormat: StreamFormat { StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: format) }

    /// Whether it is that of `take` and its figures are such as a recorder writes: what a disk made up is not believed.
    func isCredible(for name: TakeName) -> Bool {
        let frames = 0...Self.mostFrames
        return take == name.stem && streamFormat.canBeStored && WallTime(iso8601: started) != nil
            && frames.contains(self.frames)
            && parts.allSatisfy {
                (0...Self.latestFrame).contains($0.firstFrame) && frames.contains($0.frames)
                    && StreamFormat(rateHz: $0.rateHz, channels: channels, sampleFormat: $0.format).canBeStored
            }
    }
}

import Files
import Glibc
import Takes

/// A finished take whose sidecar is missing or damaged, as its audio files describe it. Nothing is changed on the disk.
///
/// The names of the files contain the number of the part, their headers its start and format, and the chunks after the
/// sound its markers. Facts that only the sidecar contained are lost: the filter, gaps, gains, the clock map, and why
/// the take ended.
struct LostSidecar {
    /// The sidecar made from the audio files.
    private(set) var sidecar: Sidecar
    /// The audio files of each part, the filtered file before its twin.
    private(set) var parts: [[AudioFile]] = []
    /// Why the file with the sidecar's name is not used, or nil if that file does not exist.
    let problem: String?

    /// An audio file with its final name.
    private struct Sound {
        var part: Int
        var isUnfiltered: Bool
        var file: String
        /// The stored format.
        var format: StreamFormat
        /// The number of frames by the header, which was written when the file was closed.
        var frames: Int64
        /// The number of those frames that the file still contains.
        var heldFrames: Int64
        /// Nil if only the comments of a FLAC file could contain it and they are not a recorder's.
        var origin: BroadcastOrigin?
        /// The comments of a FLAC file.
        var comments: [String: String] = [:]
        var cues: [PartCue]
        /// When the file was last written, by the clock at that time.
        var written: WallTime

        var isFLAC: Bool { file.hasSuffix(".flac") }

        /// Whether the file's own header names this take.
        func isOf(_ take: TakeName) -> Bool {
            if let stem = comments["TAKE"] { return stem == take.stem }
            return origin?.isOf(take) == true
        }
    }

    /// Reads the audio files.
    /// - Parameters:
    ///   - names: all names of the take's files.
    ///   - problem: why the file with the sidecar's name is not used, or nil if that file does not exist.
    /// - Throws: `foreign` if a recorder did not make the files, or not for this take; `failed`.
    init(_ names: [String], at site: TakeSite, problem: String?) throws(LeftoverProblem) {
        self.problem = problem
        let take = site.name
        let lost =
            problem == nil
            ? "\(take.stem): its files have no sidecar" : "\(take.stem): it is finished, and its sidecar cannot be read"
        // A WAV file that a person decoded next to the FLAC file does not belong to the take.
        var decoded: [String] = []
        for name in names where name.hasSuffix(".wav") && names.contains(name.dropLast(4) + ".flac") {
            let isOwn = try LeftoverTake.attempt { () throws(FileError) in
                try site.files.isSound(site.path(name), of: take)
            }
            if !isOwn { decoded.append(name) }
        }
        let (files, isPending) = Self.files(names.filter { !decoded.contains($0) }, of: take)
        var sounds: [Sound] = []
        for (name, file) in files {
            let sound = try LeftoverTake.attempt { () throws(FileError) in try Self.read(name, file, at: site) }
            guard let sound, sound.isOf(take) else {
                throw .foreign(sounds.isEmpty ? lost : "\(lost), and its file \(file) is damaged, or of another take")
            }
            sounds.append(sound)
        }
        guard let first = sounds.first, sounds.contains(where: { $0.heldFrames > 0 }) else {
            throw .foreign(sounds.isEmpty ? lost : "\(lost), nor have they any sound")
        }
        sidecar = Self.sidecar(first, of: take)
        if isPending { sidecar.pendingFormat = "flac" }
        var listed: [Sidecar.Part] = []
        for sound in sounds where !sound.isUnfiltered && sound.frames > 0 {
            let twin = sounds.first { $0.isUnfiltered && $0.part == sound.part && $0.frames > 0 }
            let part = place(sound, twin, after: listed.last)
            listed.append(part)
            parts.append([sound, twin].compactMap(\.self).map { audio($0, part.firstFrame) })
        }
        guard
            sounds.filter(\.isUnfiltered).allSatisfy({ twin in
                listed.contains { $0.unfilteredFile == twin.file } || twin.frames == 0
            })
        else { throw .foreign("\(lost), and of one of its parts only the unfiltered sound is there") }
        sidecar.setParts(listed)
        sidecar.markers = Self.markers(sounds, listed, sidecar)
    }

    /// Whether the sidecar is still missing or damaged.
    func isStillLost(at site: TakeSite, _ storageAnswers: () -> Bool) throws(LeftoverProblem) -> Bool {
        guard problem != nil else { return !site.files.isTaken(site.path(.sidecar)) }
        if case .damaged = try SidecarCondition(at: site, storageAnswers) { return true }
        return false
    }
}

// MARK: - Files

extension LostSidecar {
    /// The audio files that make up the take, in order, and whether they must still be converted.
    ///
    /// After an interrupted conversion there are files of both kinds. The WAV files make up the take, unless one of
    /// them was removed already: the FLAC files were whole before that.
    private static func files(
        _ names: [String], of take: TakeName
    ) -> (files: [(AudioFileName, String)], isPending: Bool) {
        let waves = names.compactMap { name in AudioFileName(name, of: take).map { ($0, name) } }.filter(\.0.isFinal)
        let flacs = names.filter { $0.hasSuffix(".flac") }.compactMap { name in
            AudioFileName(name.dropLast(5) + ".wav", of: take).map { ($0, name) }
        }
        let isConverted = !flacs.isEmpty && !Set(flacs.map(\.0)).isSubset(of: Set(waves.map(\.0)))
        let first = isConverted ? flacs : waves
        let second = isConverted ? waves : flacs
        let other = second.filter { pair in !first.contains { $0.0 == pair.0 } }
        let files = (first + other).sorted { $0.0.place < $1.0.place }
        let isCut = !isConverted && (!flacs.isEmpty || names.contains { $0.hasSuffix(".flac.part") })
        return (files, isCut)
    }

    /// Nil if the file is not sound that a recorder stored.
    private static func read(
        _ name: AudioFileName, _ file: String, at site: TakeSite
    ) throws(FileError) -> Sound? {
        let open = try site.files.openToRead(site.path(file), followsLink: false)
        let byteCount = try site.files.length(open)
        var sound = Sound(
            part: name.part, isUnfiltered: name.isUnfiltered, file: file,
            format: StreamFormat(rateHz: 1, channels: 1, sampleFormat: .s16), frames: 0, heldFrames: 0,
            cues: [], written: site.written(file))
        if sound.isFLAC {
            guard let reader = try? SoundFileReader(open), reader.frames <= Sidecar.mostFrames,
                reader.format.canBeStored,
                let reading = try FLACReading(open, files: site.files, rateHz: reader.format.rateHz)
            else { return nil }
            (sound.format, sound.frames, sound.heldFrames) = (reader.format, reader.frames, reader.frames)
            (sound.origin, sound.comments, sound.cues) = (reading.wavOrigin, reading.comments, reading.cues)
            return sound
        }
        let bytes = try site.files.read(open, at: 0, count: WAVHeader.byteCount)
        guard let head = WAVHeaderReading(bytes), let origin = head.origin else { return nil }
        let bytesPerFrame = Int64(head.format.bytesPerFrame)
        let room = max(0, byteCount - Int64(WAVHeader.byteCount)) / bytesPerFrame
        sound.format = head.format
        sound.origin = origin
        let stated = head.dataBytes / bytesPerFrame
        sound.heldFrames = stated > 0 ? min(room, stated) : room
        // A length that contradicts the file size in the same header is a damaged field.
        let isCut = stated > room && head.fileBytes >= Int64(WAVHeader.byteCount) + head.dataBytes
        sound.frames = isCut ? stated : sound.heldFrames
        let end = Int64(WAVHeader.byteCount) + head.dataBytes + head.dataBytes % 2
        let count = Int(min(max(0, byteCount - end), Int64(CueReading.mostBytes)))
        // Unreadable markers must not prevent reading the rest.
        for _ in 1...3 where count > 0 {
            guard let closing = try? site.files.read(open, at: end, count: count) else { continue }
            sound.cues = CueReading.cues(closing)
            break
        }
        return sound
    }

    private func audio(_ sound: Sound, _ firstFrame: TakeFrame) -> AudioFile {
        let origin = BroadcastOrigin(
            sidecar: sidecar, started: sidecar.begun ?? WallTime(microseconds: 0), firstFrame: firstFrame.count,
            format: sound.format, isUnfiltered: sound.isUnfiltered)
        var audio = AudioFile(
            name: sound.file, header: WAVHeader(format: sound.format, origin: origin), firstFrame: firstFrame,
            stage: .committed)
        audio.dataBytes = sound.heldFrames * Int64(sound.format.bytesPerFrame)
        return audio
    }
}

// MARK: - The new sidecar

extension LostSidecar {
    private static func sidecar(_ first: Sound, of take: TakeName) -> Sidecar {
        let written = first.comments["CREATION_TIME"].flatMap { WallTime(iso8601: $0) }
        let length = Duration.seconds(Double(first.frames) / Double(first.format.rateHz))
        let begun = first.origin?.started ?? written ?? first.written - length
        let before = Duration.seconds(Double(firstFrame(first) ?? 0) / Double(first.format.rateHz))
        let recorder = first.origin?.recorder
        let version = first.comments["ENCODER"]?.split(separator: " ").last.map(String.init)
        var sidecar = Sidecar(
            name: take, started: begun - before, startedMonotonic: Instant(nanoseconds: 0), bootID: "",
            clock: first.comments["CLOCK"].flatMap { ClockOrigin(rawValue: $0) } ?? .unset,
            card: first.comments["CARD"] ?? recorder?.card ?? "", format: first.format, preRollFrames: 0, gainDB: nil,
            agc: nil, version: recorder?.version ?? version ?? "")
        // The comments contain the corrected time if the clock was set later.
        if let written,
            ClockOffset(microseconds: written.microseconds)
                .distance(to: ClockOffset(microseconds: begun.microseconds)) > TrueStart.tolerance
        {
            sidecar.startedCorrected = (written - before).iso8601
        }
        sidecar.endedBy = .unknown
        sidecar.recovered = true
        return sidecar
    }

    private static func firstFrame(_ sound: Sound) -> Int64? {
        sound.comments["FIRST_FRAME"].flatMap { Int64($0) }.flatMap {
            (0...Sidecar.latestFrame).contains($0) ? $0 : nil
        }
    }

    private func place(_ sound: Sound, _ twin: Sound?, after last: Sidecar.Part?) -> Sidecar.Part {
        let end = last.map(sidecar.end) ?? .first
        var first = end
        if let stated = Self.firstFrame(sound) {
            first = max(end, TakeFrame(stated))
        } else if last != nil, let start = WallTime(iso8601: sidecar.started), let begun = sound.origin?.started {
            first = max(end, LeftoverTake.frame(of: begun, start, rateHz: sidecar.rateHz, near: end))
        }
        var part = Sidecar.Part(
            file: sound.file, unfilteredFile: twin?.file, firstFrame: first, frames: sound.frames, format: sound.format)
        if let twin, twin.frames != sound.frames { part.unfilteredFrames = twin.frames }
        return part
    }

    /// The markers of all parts, sorted by number.
    private static func markers(_ sounds: [Sound], _ parts: [Sidecar.Part], _ sidecar: Sidecar) -> [Sidecar.Marker] {
        var found: [(number: Int, marker: Sidecar.Marker)] = []
        for part in parts {
            // FLAC restarts the numbers in each file.
            let before = found.map(\.number).max() ?? 0
            guard let sound = sounds.first(where: { $0.file == part.file }) else { continue }
            let isNumberedAnew = sound.cues.contains { cue in found.contains { $0.number == cue.number } }
            for cue in sound.cues where (0...part.frames).contains(cue.frame) {
                let frame = part.firstFrame + Sidecar.frames(cue.frame, at: part.rateHz, countedAt: sidecar.rateHz)
                // The label stands for a marker without a note.
                let isBare =
                    cue.label.isEmpty || cue.label == "Marker \(cue.number)" || sound.isFLAC && isBare(cue.label)
                var marker = Sidecar.Marker(atFrame: frame, note: isBare ? nil : cue.label)
                if let region = cue.region {
                    let frames = min(region.frames, part.frames - min(cue.frame, part.frames))
                    marker.endFrame = frame + Sidecar.frames(frames, at: part.rateHz, countedAt: sidecar.rateHz)
                    marker.label = region.label.isEmpty ? nil : region.label
                    // A marker without a note is named by its label.
                    if marker.note == marker.label { marker.note = nil }
                }
                found.append((cue.number + (isNumberedAnew ? before : 0), marker))
            }
        }
        return found.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }
            .prefix(SidecarLedger.mostMarkers).map(\.element.marker)
    }

    private static func isBare(_ label: String) -> Bool {
        label.hasPrefix("Marker ") && Int(label.dropFirst(7)) != nil
    }
}

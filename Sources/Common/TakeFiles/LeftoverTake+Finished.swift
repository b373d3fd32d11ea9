import Files
import Glibc
import Takes

extension LeftoverTake {
    /// Whether a name in the folder refers to a file. On exFAT, a power cut may leave a name that the folder lists and
    /// that has no file, and `fsck` does not repair it.
    static func isThere(_ name: String, at site: TakeSite) -> Bool {
        let path = "\(site.takes.path)/\(site.name.day)/\(name)"
        guard (try? site.files.identity(path)) == nil else { return true }
        do throws(FileError) {
            // A dangling symbolic link exists as well. It is not followed here.
            _ = try site.files.open(path)
            return true
        } catch {
            return error.code != ENOENT
        }
    }

    /// The sidecar of the take if the take is finished. An unreadable sidecar does not count if its draft is still
    /// there: the draft is kept until the sidecar is safe.
    /// - Parameter storageAnswers: returns whether the storage works although a file cannot be read.
    /// - Throws: `unreplaced` if only the revision that should replace the sidecar can be read: all files that it names
    ///   were safe before it. `lost` if there are only the audio files.
    static func finished(
        _ names: [String], at site: TakeSite, _ storageAnswers: () -> Bool
    ) throws(LeftoverProblem) -> Sidecar? {
        let stem = site.name.stem
        let isFinished = names.contains(TakeDocument.sidecar.name(stem: stem))
        let isRevised = names.contains(TakeDocument.revision.name(stem: stem))
        guard isFinished || isRevised else { return nil }
        if isRevised { try checkFile(.revision, at: site) }
        var problem: String?
        if isFinished {
            switch try SidecarCondition(at: site, storageAnswers) {
            case .whole(let sidecar): return sidecar
            case .newer(let version):
                throw .foreign("\(stem): its sidecar was written by version \(version), which this one cannot read")
            case .damaged(let reason): problem = reason
            }
        }
        if try credible(.revision, names, at: site) != nil { throw .unreplaced }
        guard let problem else { return nil }
        // The take was continued, so the draft of the continued take counts.
        if names.contains(where: { isUnfinishedSound($0, at: site) }) { return nil }
        for draft in [TakeDocument.sidecarPart, .sidecarDraft] {
            if try credible(draft, names, at: site, storageAnswers) != nil { return nil }
        }
        throw .lost(try LostSidecar(names, at: site, problem: problem))
    }

    /// Whether a file is an audio file with sound and without its final name.
    private static func isUnfinishedSound(_ file: String, at site: TakeSite) -> Bool {
        guard let name = AudioFileName(file, of: site.name), name.stage == .part, isFile(name, at: site) else {
            return false
        }
        return !((try? read(name, at: site, [:]).isBlank) ?? false)
    }

    /// The sidecar in a document of the folder, or nil if it is missing or does not belong to this take.
    private static func credible(
        _ document: TakeDocument, _ names: [String], at site: TakeSite
    ) throws(LeftoverProblem) -> Sidecar? {
        guard names.contains(document.name(stem: site.name.stem)) else { return nil }
        let path = site.path(document)
        try checkFile(document, at: site)
        let bytes = try attempt { () throws(FileError) in try site.files.contents(path, limit: mostSidecarBytes) }
        return SidecarCondition.credible(bytes, path: path, for: site.name)
    }

    /// The same for a draft, which may not be a regular file. An unreadable draft is read again, like a sidecar. It
    /// then counts as absent if the storage works otherwise.
    private static func credible(
        _ draft: TakeDocument, _ names: [String], at site: TakeSite, _ storageAnswers: () -> Bool
    ) throws(LeftoverProblem) -> Sidecar? {
        for _ in 1...SidecarCondition.attempts {
            do throws(LeftoverProblem) {
                return try credible(draft, names, at: site)
            } catch {
                if case .foreign = error { return nil }
                guard error.unreadable != nil, storageAnswers() else { throw error }
            }
        }
        return nil
    }

    /// Files next to a finished take that have an earlier name of one of its files. A power cut during a rename leaves
    /// them.
    /// - Parameter settled: the finished take's parts.
    static func remains(
        _ names: [String], of settled: [Sidecar.Part], at site: TakeSite
    ) throws(LeftoverProblem) -> (blank: [AudioFileName], others: [AudioFileName]) {
        var remains: (blank: [AudioFileName], others: [AudioFileName]) = ([], [])
        let numbers = settled.compactMap { number($0, of: site.name) }
        for name in names.compactMap({ AudioFileName($0, of: site.name) })
        where name.part <= numbers.max() ?? 0 && name.stage == .part && isFile(name, at: site) {
            if try read(name, at: site, [:]).isBlank {
                remains.blank.append(name)
            } else if numbers.contains(name.part) {
                remains.others.append(name)
            }
        }
        return remains
    }

    /// Whether a file next to a finished take is what a power cut leaves of an audio file without sound.
    static func isRemains(_ file: String, of take: TakeName, in takes: OpenFile, _ files: FileSystem) -> Bool {
        guard let name = AudioFileName(file, of: take), name.stage == .part else { return false }
        let site = TakeSite(files: files, takes: takes, name: take)
        return (try? read(name, at: site, [:]).isBlank) ?? false
    }

    /// Whether a file is a tail that a recorder left.
    static func isTail(_ file: String, of take: TakeName, in takes: OpenFile, _ files: FileSystem) -> Bool {
        guard let name = AudioFileName(file, of: take), name.stage == .tail else { return false }
        let site = TakeSite(files: files, takes: takes, name: take)
        guard isFile(name, at: site) else { return false }
        // If it cannot be read now, it counts as a tail, and recovery reports it.
        guard let found = try? read(name, at: site, [:]) else { return true }
        return [.own, .recorder, .blank].contains(found.origin)
    }

    /// The number of a part, for a WAV or FLAC file.
    static func number(_ part: Sidecar.Part, of take: TakeName) -> Int? {
        let base = part.file.prefix { $0 != "." }
        return AudioFileName(base + ".wav", of: take)?.part
    }

    /// A file left next to a finished take, with its current name.
    static func rest(_ name: AudioFileName, of take: TakeName, _ sidecar: Sidecar) -> AudioFile {
        AudioFile(
            name: name.file,
            header: header(of: sidecar, sidecar.streamFormat.stored, .first), firstFrame: .first, stage: name.stage)
    }

    private static func header(of finished: Sidecar, _ format: StreamFormat, _ firstFrame: TakeFrame) -> WAVHeader {
        WAVHeader(
            format: format,
            origin: BroadcastOrigin(
                sidecar: finished, started: WallTime(iso8601: finished.started) ?? WallTime(microseconds: 0),
                firstFrame: firstFrame.count, format: format, isUnfiltered: false))
    }

    /// The filtered files of the parts that the sidecar of a finished take names. If one of them is not whole, the take
    /// is left unchanged: otherwise the sound recorded after it could not be read either.
    static func settledAudio(
        _ finished: Sidecar, at site: TakeSite
    ) throws(LeftoverProblem) -> [[AudioFile]] {
        var parts: [[AudioFile]] = []
        for part in finished.parts {
            let (head, byteCount) = try settledFile(part.file, at: site)
            let damaged = LeftoverProblem.foreign("\(site.name.stem): its finished file \(part.file) is damaged")
            guard let reading = WAVHeaderReading(head) else { throw damaged }
            var format = reading.format
            let stored = part.streamFormat(channels: finished.channels).stored
            if format.sampleFormat == stored.sampleFormat { format.significantBits = stored.significantBits }
            var audio = AudioFile(
                name: part.file, header: header(of: finished, format, part.firstFrame), firstFrame: part.firstFrame,
                stage: .committed)
            audio.dataBytes = part.frames * Int64(format.bytesPerFrame)
            guard reading.isReadable(like: audio.header), reading.dataBytes == audio.dataBytes,
                byteCount >= audio.end
            else { throw damaged }
            parts.append([audio])
        }
        return parts
    }

    private static func settledFile(
        _ file: String, at site: TakeSite
    ) throws(LeftoverProblem) -> (head: [UInt8], byteCount: Int64) {
        do throws(FileError) {
            let file = try site.files.open(site.path(file))
            return (try site.files.read(file, at: 0, count: WAVHeader.byteCount), try site.files.length(file))
        } catch {
            guard [ENOENT, EISDIR, ELOOP, ESPIPE, ENXIO].contains(error.code) else { throw .failed(error) }
            throw .foreign("\(site.name.stem): its finished file \(file) is not there")
        }
    }
}

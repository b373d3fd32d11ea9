import Glibc
public import Takes

/// The conversion of a finished take from WAV to FLAC, in short slices of work; it may be interrupted between any two.
///
/// Every audio file `X.wav` of the take is encoded as `X.flac.part`, synced, read back from the disk and compared sample for
/// sample, and with the fingerprint of the sound: a WAV that does not hold that sound any more stays WAV. Once all are, they become `X.flac`, the sidecar is revised to name them, and only then the WAV files are removed.
/// Wherever it is cut, the take is whole, and another conversion of the same take continues with what it finds on the disk.
/// For one thread at a time, which must be the one that revises and removes takes.
public final class FLACConversion {
    /// The result.
    public enum Outcome: Equatable, Sendable {
        /// All audio files are FLAC now.
        case converted(Sidecar)
        /// It stays WAV, and is no longer pending. The sentence says why.
        case kept(Sidecar, String)
        /// There is no room now. It stays pending; the next `step` tries again. The sentence says how much is missing.
        case later(String)
        /// There is no such take, or it is not pending.
        case nothingToDo
    }

    /// The take.
    public let take: TakeName

    private let directory: TakesDirectory
    private let files: FileSystem
    private let folder: String
    private let reserveBytes: Int64
    private var phase = Phase.begin

    private enum Phase {
        /// Check what another conversion left.
        case begin
        /// List the files to encode, and check whether there is room.
        case plan
        /// Encode and verify a file; those before it are done.
        case encode(Plan, index: Int, FLACEncoding?)
        /// Rename the FLAC files, and name them in the sidecar.
        case rename(Plan)
        /// The sidecar names FLAC: remove the WAV files.
        case removeOriginals
    }

    /// The work on a take.
    private struct Plan {
        var sidecar: Sidecar
        var audio: [Audio]
    }

    /// An audio file to convert.
    private struct Audio {
        /// The part, from 0.
        var part: Int
        /// Its name without an ending.
        var base: String
        var isUnfiltered: Bool
        /// Of the WAV file.
        var format: StreamFormat
        var frames: Int64

        /// The most bytes that the FLAC may have: noise does not become smaller, and the metadata is added.
        var largestFLAC: Int64 {
            let bytes = frames * Int64(format.bytesPerFrame)
            return bytes + bytes / 100 + 1 << 20
        }
    }

    /// A conversion; nothing is done before the first `step`.
    ///
    /// - Parameters:
    ///   - take: a finished take; if it is not pending, the first step finds that out.
    ///   - reserveBytes: what must stay free where the takes are.
    public init(of take: TakeName, in directory: TakesDirectory, reserveBytes: Int64) {
        self.take = take
        self.directory = directory
        self.reserveBytes = reserveBytes
        files = directory.files
        folder = "\(directory.path)/\(take.day)"
    }

    /// Does the next slice of work: about a second of stereo sound, encoded or compared, or some calls to the storage.
    ///
    /// - Returns: nil while there is more to do.
    /// - Throws: `FileError`: the storage failed. The take is whole and still pending; the next step begins again.
    public func step() throws(FileError) -> Outcome? {
        do {
            return try proceed()
        } catch let problem as Unconvertible {
            return try keep(because: problem.reason)
        } catch let error as SoundFileError where error.storage == nil {
            // An error of the library, and not of the storage, would come again at each attempt.
            return isGone ? cleaned(.nothingToDo) : try keep(because: error.description)
        } catch is SidecarError {
            return cleaned(.nothingToDo)
        } catch {
            let problem = (error as? SoundFileError)?.storage ?? (error as? FileError)
            if isGone { return cleaned(.nothingToDo) }
            guard let problem else { preconditionFailure("\(error)") }
            cancel()
            if problem.isDiskFull { return .later("convert \(take.stem) to FLAC: \(problem)") }
            throw problem
        }
    }

    /// Stops for now: unfinished files are removed, as far as the storage allows, but the last copy of sound; the take is still pending.
    public func cancel() {
        phase = .begin
        for name in (try? files.entries(folder)) ?? []
        where name.hasSuffix(".flac.part") && isOurs(name) && !isLastCopy(String(name.dropLast(10))) {
            try? files.remove("\(folder)/\(name)")
        }
    }

    /// Whether an unfinished file alone has all frames that the sidecar lists of it.
    private func isLastCopy(_ base: String) -> Bool {
        let sidecar = try? directory.sidecar(of: take)
        guard let part = sidecar?.parts.first(where: { bases(of: $0).contains(base) }) else { return false }
        return [".wav", ".flac", ".flac.part"].filter { ending in
            (try? SoundFileReader(path: "\(folder)/\(base)\(ending)"))?.frames == frames(of: part, base)
        } == [".flac.part"]
    }

    private func proceed() throws -> Outcome? {
        switch phase {
        case .begin: return try begin()
        case .plan: return try plan()
        case .encode(let plan, let index, let encoding): return try encode(plan, index, encoding)
        case .rename(let plan):
            for audio in plan.audio {
                try files.renameNew("\(folder)/\(audio.base).flac.part", to: "\(folder)/\(audio.base).flac")
                try files.settle("\(folder)/\(audio.base).flac")
            }
            try syncFolder()
            _ = try directory.revise(take) { sidecar in
                for audio in plan.audio where audio.part < sidecar.parts.count {
                    if audio.isUnfiltered {
                        sidecar.parts[audio.part].unfilteredFile = "\(audio.base).flac"
                    } else {
                        sidecar.parts[audio.part].file = "\(audio.base).flac"
                    }
                }
                sidecar.pendingFormat = nil
            }
            phase = .removeOriginals
            return nil
        case .removeOriginals: return try removeOriginals()
        }
    }

    // MARK: - Planning

    private func begin() throws -> Outcome? {
        cancel()
        let sidecar = try directory.sidecar(of: take)
        let there = Set(try files.entries(folder))
        if try sidecar.parts.contains(where: { part in
            try part.file.hasSuffix(".flac") && bases(of: part).contains { try hasOwnWAV($0, there) }
        }) {
            phase = .removeOriginals
        } else if sidecar.pendingFormat == "flac" {
            phase = .plan
        } else {
            return .nothingToDo
        }
        return nil
    }

    private func plan() throws -> Outcome? {
        let sidecar = try directory.sidecar(of: take)
        let plan = try plan(sidecar, Set(files.entries(folder)))
        guard !plan.audio.isEmpty else {
            return .converted(try directory.revise(take) { $0.pendingFormat = nil })
        }
        // The sidecar names the WAV: FLAC beside it was never announced.
        for audio in plan.audio {
            let path = "\(folder)/\(audio.base).flac"
            if try isForeign(path) {
                throw Unconvertible("\(path) is another file: move that to another place, nothing is written over it")
            }
            try files.remove(path)
        }
        let wanted = plan.audio.reduce(0) { $0 + $1.largestFLAC }
        let free = try makeRoom(for: wanted)
        guard free - wanted >= reserveBytes else {
            phase = .begin
            return .later(noRoom(free: free, wanted: wanted))
        }
        phase = .encode(plan, index: 0, nil)
        return nil
    }

    private func plan(_ sidecar: Sidecar, _ there: Set<String>) throws -> Plan {
        var plan = Plan(sidecar: sidecar, audio: [])
        for (index, part) in sidecar.parts.enumerated() where part.file.hasSuffix(".wav") {
            guard sidecar.rateHz > 0, part.firstFrame >= .first, part.firstFrame.count / Int64(sidecar.rateHz) < 1 << 32
            else {
                throw Unconvertible("its sidecar gives part \(index + 1) no place in time")
            }
            let bases = bases(of: part)
            for base in bases where base == bases[0] || there.contains("\(base).wav") {
                guard isOurs(part.file), there.contains("\(base).wav") else {
                    throw Unconvertible("\(folder)/\(base).wav is not there")
                }
                let file = try SoundFileReader(path: "\(folder)/\(base).wav")
                if let refusal = FLACWriter.refusal(of: FLACWriter.format(for: file.format)) {
                    throw Unconvertible(refusal)
                }
                let frames = frames(of: part, base)
                guard file.frames == frames, file.frames > 0 else {
                    throw Unconvertible("\(file.path) holds \(file.frames) frames, and its sidecar says \(frames)")
                }
                plan.audio.append(
                    Audio(
                        part: index, base: base, isUnfiltered: base != bases[0], format: file.format,
                        frames: file.frames))
            }
        }
        return plan
    }

    /// The names without an ending of a part's audio file, then of its unfiltered twin.
    private func bases(of part: Sidecar.Part) -> [String] {
        let base = String(part.file.prefix { $0 != "." })
        return [base, base + "-raw"]
    }

    /// How many frames the sidecar says that an audio file of a part holds.
    private func frames(of part: Sidecar.Part, _ base: String) -> Int64 {
        base.hasSuffix("-raw") ? part.twinFrames : part.frames
    }

    /// Whether a file belongs to the take, by its name.
    private func isOurs(_ name: String) -> Bool {
        !name.contains("/") && TakeName(file: name, day: take.day) == take
    }

    /// Empties the bin, the oldest take first, until there is room for `wanted` bytes above the reserve, if that can be reached.
    /// - Returns: the bytes that are free then.
    private func makeRoom(for wanted: Int64) throws(FileError) -> Int64 {
        var free = try files.freeBytes(folder)
        while free - wanted < reserveBytes, free + directory.bin.byteCount - wanted >= reserveBytes,
            let oldest = directory.bin.oldest
        {
            do throws(FileError) { try directory.empty(oldest.take) } catch { directory.bin.passOver(oldest.take) }
            free = try files.freeBytes(folder)
        }
        return free
    }

    private func noRoom(free: Int64, wanted: Int64) -> String {
        "convert \(take.stem) to FLAC: \(free >> 20) MiB are free, and \((wanted + reserveBytes) >> 20) are needed, "
            + "of them \(reserveBytes >> 20) as reserve: free some space"
    }

    // MARK: - Encode, verify

    private func encode(_ plan: Plan, _ index: Int, _ begun: FLACEncoding?) throws -> Outcome? {
        let audio = plan.audio[index]
        let free = try makeRoom(for: 0)
        guard free >= reserveBytes else {
            return cleaned(.later(noRoom(free: free, wanted: audio.largestFLAC)))
        }
        let encoding: FLACEncoding
        if let begun {
            encoding = begun
        } else {
            let wav = "\(folder)/\(audio.base).wav"
            let format = FLACWriter.format(for: audio.format)
            // They would make a WAV file of 32 bits again, which `flac` refuses to make of 24.
            let chunks = format == audio.format ? try RIFFChunks.all(of: files.open(wav), files: files) : []
            let metadata = FLACMetadata(
                sidecar: plan.sidecar, part: audio.part, isUnfiltered: audio.isUnfiltered, format: format,
                frames: audio.frames, chunks: chunks)
            let part = plan.sidecar.parts[audio.part]
            encoding = try FLACEncoding(
                wav: wav, flac: "\(folder)/\(audio.base).flac.part", metadata: metadata,
                fingerprint: audio.isUnfiltered ? part.unfilteredSoundSHA256 : part.soundSHA256, files: files)
        }
        switch try encoding.step() {
        case .more: phase = .encode(plan, index: index, encoding)
        case .done where index + 1 < plan.audio.count: phase = .encode(plan, index: index + 1, nil)
        case .done: phase = .rename(plan)
        case .differs(let frame):
            throw Unconvertible("read back from the disk, \(audio.base).flac differs at frame \(frame)")
        case .tooManyBits(let frame):
            throw Unconvertible(
                "FLAC holds integers of up to 24 bits here, and \(audio.base).wav has more at frame \(frame)")
        case .isDamaged:
            throw Unconvertible(
                "\(audio.base).wav does not hold the sound that its fingerprint was computed of, restore it from a copy"
            )
        }
        return nil
    }

    // MARK: - The end

    /// Removes the WAV files beside FLAC files that the sidecar names and that are as long as it says. A part whose FLAC is not is WAV
    /// again.
    private func removeOriginals() throws -> Outcome? {
        var sidecar = try directory.sidecar(of: take)
        let there = Set(try files.entries(folder))
        var superfluous: [String] = []
        var broken: [Int: String] = [:]
        for (index, part) in sidecar.parts.enumerated() where part.file.hasSuffix(".flac") && isOurs(part.file) {
            let bases = bases(of: part)
            let waves = try bases.filter { try hasOwnWAV($0, there) }
            if waves.allSatisfy({ frames(of: "\($0).flac") == frames(of: part, $0) }) {
                // The twin is removed first: while it is there, the part itself is there too.
                superfluous += waves.reversed()
            } else if waves.contains(bases[0]), waves.allSatisfy({ frames(of: "\($0).wav") == frames(of: part, $0) }) {
                broken[index] = "\(bases[0]).wav"
            }
        }
        if !broken.isEmpty {
            sidecar = try directory.revise(take) { sidecar in
                for (index, file) in broken where index < sidecar.parts.count {
                    sidecar.parts[index].file = file
                    guard let twin = sidecar.parts[index].unfilteredFile, twin.hasSuffix(".flac") else { continue }
                    sidecar.parts[index].unfilteredFile = twin.dropLast(5) + ".wav"
                }
                sidecar.pendingFormat = "flac"
            }
        }
        for base in superfluous { try files.remove("\(folder)/\(base).wav") }
        try syncFolder()
        phase = .plan
        return sidecar.pendingFormat == "flac" ? nil : .converted(sidecar)
    }

    /// Whether there is a WAV file that a recorder wrote for the take: what a person decoded beside the FLAC stays.
    private func hasOwnWAV(_ base: String, _ there: Set<String>) throws(FileError) -> Bool {
        guard there.contains("\(base).wav") else { return false }
        return try files.isSound("\(folder)/\(base).wav", of: take)
    }

    /// How many frames a sound file holds; nil if it is not a sound file.
    private func frames(of name: String) -> Int64? {
        guard let file = try? SoundFileReader(path: "\(folder)/\(name)") else { return nil }
        return file.frames
    }

    /// Ends the conversion: the take stays WAV.
    private func keep(because reason: String) throws(FileError) -> Outcome {
        cancel()
        do {
            let kept = try directory.revise(take) { $0.pendingFormat = nil }
            return .kept(kept, "convert \(take.stem) to FLAC: \(reason): it stays WAV")
        } catch let error as FileError {
            throw error
        } catch {
            return .nothingToDo
        }
    }

    /// `outcome`, after the removal of unfinished files.
    private func cleaned(_ outcome: Outcome) -> Outcome {
        cancel()
        return outcome
    }

    /// Whether another program's file has the name of a FLAC file of the take: it is neither that nor what a cut leaves of it.
    private func isForeign(_ path: String) throws(FileError) -> Bool {
        guard files.isTaken(path) else { return false }
        let file: OpenFile
        do throws(FileError) {
            file = try files.openToRead(path, followsLink: false)
            let head = try files.read(file, at: 0, count: 4)
            guard head.contains(where: { $0 != 0 }) else { return false }
            guard head == Array("fLaC".utf8) else { return true }
        } catch {
            guard [ELOOP, EISDIR, ESPIPE, ENXIO].contains(error.code) else { throw error }
            return true
        }
        guard let reader = try? SoundFileReader(path: path),
            let reading = try FLACReading(file, files: files, rateHz: reader.format.rateHz)
        else { return false }
        return reading.comments["TAKE"] != take.stem
    }

    /// Whether the take was removed, while its storage is still there.
    private var isGone: Bool {
        guard let there = try? files.entries(folder) else { return false }
        return !there.contains("\(take.stem).json")
    }

    private func syncFolder() throws(FileError) {
        try files.syncFolder(files.openFolder(folder))
    }

    /// A take that cannot become FLAC.
    private struct Unconvertible: Error {
        var reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }
}

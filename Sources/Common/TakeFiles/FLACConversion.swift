public import Takes

/// The conversion of a finished take from WAV to FLAC, in short slices of work; it may be interrupted between any two.
///
/// Every audio file `X.wav` of the take is encoded as `X.flac.part`, synced, read back from the disk and compared sample for
/// sample, and with the fingerprint of the sound: a WAV that does not hold that sound any more stays WAV. Once all are, they
/// become `X.flac`, the sidecar is revised to name them, and only then the WAV files are removed. A WAV file that another conversion
/// left beside `X.flac` is removed once that was decoded and holds the recorded sound (`FLACProof`).
/// Wherever it is cut, the take is whole, and another conversion of the same take continues with what it finds on the disk.
/// For one thread at a time, which must be the one that revises and removes takes.
public final class FLACConversion {
    /// The result.
    public enum Outcome: Equatable, Sendable {
        /// All audio files are FLAC now.
        case converted(Sidecar)
        /// It stays as it is, and is no longer pending. The sentence says why.
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

    /// Reads of a proof in a slice.
    private static let readsPerSlice = 4

    private enum Phase {
        /// Check what another conversion left.
        case begin
        /// List the files to encode, and check whether there is room.
        case plan
        /// Encode and verify a file; those before it are done.
        case encode(Plan, index: Int, FLACEncoding?)
        /// Rename the FLAC files, and name them in the sidecar.
        case rename(Plan)
        /// The sidecar names FLAC: find out which of these files, and of the WAV beside each, holds the sound. The last one is done next.
        case prove([RecordedSound], FLACProof?, FLACProofs)
        /// Remove the WAV files that are not needed, and name those that are in the sidecar.
        case removeOriginals(FLACProofs)
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
                let path = "\(folder)/\(audio.base).flac"
                try checkIsOurs(path)
                // The sidecar names the WAV. This FLAC may have been the better one until the new one was compared.
                if files.isTaken(path) { try files.remove(path) }
                try files.renameNew("\(path).part", to: path)
                try files.settle(path)
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
            // The twin is removed first: while it is there, the part itself is there too.
            let done = plan.audio.sorted { ($0.part, $1.isUnfiltered ? 1 : 0) < ($1.part, $0.isUnfiltered ? 1 : 0) }
            phase = .removeOriginals(FLACProofs(superfluous: done.map { "\($0.base).wav" }))
            return nil
        case .prove(let left, let proof, let proofs): return try prove(left, proof, proofs)
        case .removeOriginals(let proofs): return try removeOriginals(proofs)
        }
    }

    // MARK: - Planning

    private func begin() throws -> Outcome? {
        cancel()
        let sidecar = try directory.sidecar(of: take)
        let both = try files.soundsInBoth(sidecar, of: take, in: folder)
        if !both.isEmpty {
            phase = .prove(both.reversed(), nil, FLACProofs())
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
        for audio in plan.audio { try checkIsOurs("\(folder)/\(audio.base).flac") }
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
        for (index, part) in sidecar.parts.enumerated() {
            let bases = bases(of: part).filter { isWAV($0, of: part, there) }
            if bases.isEmpty { continue }
            guard sidecar.rateHz > 0, part.firstFrame >= .first, part.firstFrame.count / Int64(sidecar.rateHz) < 1 << 32
            else {
                throw Unconvertible("its sidecar gives part \(index + 1) no place in time")
            }
            for base in bases {
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
                        part: index, base: base, isUnfiltered: Self.isUnfiltered(base), format: file.format,
                        frames: file.frames))
            }
        }
        return plan
    }

    /// The names without an ending of a part's audio file, then of its unfiltered twin.
    private func bases(of part: Sidecar.Part) -> [String] {
        let base = String(part.file.prefix { $0 != "." })
        return [base, TakeFileName(base)?.sibling(isUnfiltered: true).base].compactMap(\.self)
    }

    /// Whether an audio file of a part is still to be converted; a twin that is gone is not.
    private func isWAV(_ base: String, of part: Sidecar.Part, _ there: Set<String>) -> Bool {
        guard Self.isUnfiltered(base) else { return part.file.hasSuffix(".wav") }
        guard let twin = part.unfilteredFile else {
            return part.file.hasSuffix(".wav") && there.contains("\(base).wav")
        }
        return twin == "\(base).wav" && there.contains(twin)
    }

    /// Refuses to replace another program's file.
    private func checkIsOurs(_ path: String) throws {
        if try files.isForeignFLAC(path, of: take) {
            throw Unconvertible("\(path) is another file: move that to another place, nothing is written over it")
        }
    }

    /// How many frames the sidecar says that an audio file of a part holds.
    private func frames(of part: Sidecar.Part, _ base: String) -> Int64 {
        Self.isUnfiltered(base) ? part.twinFrames : part.frames
    }

    private static func isUnfiltered(_ base: String) -> Bool { TakeFileName(base)?.isUnfiltered == true }

    /// Whether a file belongs to the take, by its name.
    private func isOurs(_ name: String) -> Bool {
        !name.contains("/") && take.mayOwn(name)
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

    private func prove(_ left: [RecordedSound], _ begun: FLACProof?, _ proofs: FLACProofs) throws -> Outcome? {
        guard let recorded = left.last else {
            phase = .removeOriginals(proofs)
            return nil
        }
        let proof = begun ?? FLACProof(recorded, in: folder, files: files)
        phase = .prove(left, proof, proofs)
        for _ in 0..<Self.readsPerSlice {
            guard let verdict = try proof.step() else { continue }
            var proofs = proofs
            proofs.add(verdict, of: recorded)
            phase = .prove(left.dropLast(), nil, proofs)
            break
        }
        return nil
    }

    /// Removes the WAV files beside FLAC files that hold their sound. A file whose FLAC is damaged is WAV again, and pending.
    private func removeOriginals(_ proofs: FLACProofs) throws -> Outcome? {
        let sidecar = try directory.revise(take) { sidecar in
            guard !proofs.damaged.isEmpty else { return }
            for index in sidecar.parts.indices {
                let part = sidecar.parts[index]
                if proofs.damaged.contains(part.file) { sidecar.parts[index].file = part.file.dropLast(5) + ".wav" }
                if let twin = part.unfilteredFile, proofs.damaged.contains(twin) {
                    sidecar.parts[index].unfilteredFile = twin.dropLast(5) + ".wav"
                }
            }
            sidecar.pendingFormat = "flac"
        }
        for file in proofs.superfluous { try files.remove("\(folder)/\(file)") }
        try syncFolder()
        phase = .plan
        if sidecar.pendingFormat == "flac" { return nil }
        guard proofs.unknown.isEmpty else {
            return .kept(sidecar, "convert \(take.stem) to FLAC: \(proofs.sentence(in: folder))")
        }
        return .converted(sidecar)
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

    /// Whether the take was removed, while its storage is still there.
    private var isGone: Bool {
        guard let there = try? files.entries(folder) else { return false }
        return !there.contains(TakeFile.sidecar(of: take.stem).name)
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

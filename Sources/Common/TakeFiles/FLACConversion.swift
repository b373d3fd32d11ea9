public import Files
public import Takes

/// The conversion of a finished take from WAV to FLAC, in short slices of work. It may be interrupted between any two
/// slices.
///
/// Every audio file `X.wav` of the take is encoded as `X.flac.part` and synced. Then the conversion reads the FLAC back
/// from the disk, and compares it with the WAV sample by sample, and with the fingerprint of the sound. A WAV file that
/// no longer holds the recorded sound stays WAV. After all files are encoded, each is renamed to `X.flac`, the sidecar
/// is revised to name them, and only then the WAV files are removed. A WAV file that another conversion left next to
/// `X.flac` is removed after the FLAC was decoded and proved to hold the recorded sound (`FLACProof`).
///
/// The take is whole after an interruption at any point, and another conversion of the same take continues with the
/// files that it finds.
///
/// For one thread at a time, which must be the one that revises and removes takes.
public final class FLACConversion {
    public enum Outcome: Equatable, Sendable {
        case converted(Sidecar)
        /// The take stays WAV, and is no longer pending. The text says why.
        case kept(Sidecar, String)
        /// There is not enough room now. The take stays pending, and the next `step` tries again. The text says how
        /// much is missing.
        case later(String)
        /// The take does not exist or is not pending.
        case nothingToDo
    }

    public let take: TakeName

    private let directory: TakesDirectory
    private let files: FileSystem
    private let folder: String
    private let reserveBytes: Int64
    private var phase = Phase.begin

    /// Reads of a proof per slice.
    private static let readsPerSlice = 4

    private enum Phase {
        /// Check the files that another conversion left.
        case begin
        /// List the files to encode, and check the free space.
        case plan
        /// Encode and verify one file. The files before `index` are done.
        case encode(Plan, index: Int, FLACEncoding?)
        /// Rename the FLAC files, and name them in the sidecar.
        case rename(Plan)
        /// The sidecar names FLAC. Find out which file holds the sound: each FLAC file, or the WAV file next to it. The
        /// list is processed from its end.
        case prove([RecordedSound], FLACProof?, FLACProofs)
        /// Remove the superfluous WAV files, and name the needed ones in the sidecar.
        case removeOriginals(FLACProofs)
    }

    private struct Plan {
        var sidecar: Sidecar
        var audio: [Audio]
    }

    private struct Audio {
        /// The index of the part, from 0.
        var part: Int
        /// The name without an extension.
        var base: String
        var isUnfiltered: Bool
        /// The format of the WAV file.
        var format: StreamFormat
        var frames: Int64

        /// The maximum size of the FLAC in bytes. Noise does not become smaller, and the metadata is added.
        var largestFLAC: Int64 {
            let bytes = frames * Int64(format.bytesPerFrame)
            return bytes + bytes / 100 + 1 << 20
        }
    }

    /// Creates a conversion. It does nothing before the first `step`.
    ///
    /// - Parameters:
    ///   - take: a finished take. If it is not pending, the first step finds that out.
    ///   - reserveBytes: the space that must stay free on the storage of the takes.
    public init(of take: TakeName, in directory: TakesDirectory, reserveBytes: Int64) {
        self.take = take
        self.directory = directory
        self.reserveBytes = reserveBytes
        files = directory.files
        folder = "\(directory.path)/\(take.day)"
    }

    /// Does the next slice of work: encoding or comparing about a second of stereo sound, or some calls to the storage.
    ///
    /// - Returns: nil while there is more to do.
    /// - Throws: `FileError` if the storage failed. The take is whole and still pending, and the next step begins
    ///   again.
    public func step() throws(FileError) -> Outcome? {
        do {
            return try proceed()
        } catch let problem as Unconvertible {
            return try keep(because: problem.reason)
        } catch let error as SoundFileError where error.storage == nil {
            // An error of the library that is not a storage error would recur at every attempt.
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

    /// Stops for now. Unfinished files are removed as far as the storage allows, except the last copy of a sound. The
    /// take stays pending.
    public func cancel() {
        phase = .begin
        for name in (try? files.entries(folder)) ?? []
        where name.hasSuffix(".flac.part") && isOurs(name) && !isLastCopy(String(name.dropLast(10))) {
            try? files.remove("\(folder)/\(name)")
        }
    }

    /// Whether only the unfinished file has all frames that the sidecar lists for this audio file.
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
                // The sidecar names the WAV. Until the new FLAC was compared, the old FLAC could have been the better
                // copy.
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
            // The twin is removed first, so that the part's own file is never missing while its twin exists.
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

    /// The names without an extension of a part's audio file and then of its unfiltered twin.
    private func bases(of part: Sidecar.Part) -> [String] {
        let base = String(part.file.prefix { $0 != "." })
        return [base, TakeFileName(base)?.sibling(isUnfiltered: true).base].compactMap(\.self)
    }

    /// Whether an audio file of a part must still be converted. A missing twin need not be.
    private func isWAV(_ base: String, of part: Sidecar.Part, _ there: Set<String>) -> Bool {
        guard Self.isUnfiltered(base) else { return part.file.hasSuffix(".wav") }
        guard let twin = part.unfilteredFile else {
            return part.file.hasSuffix(".wav") && there.contains("\(base).wav")
        }
        return twin == "\(base).wav" && there.contains(twin)
    }

    /// Throws if another program's file would be replaced.
    private func checkIsOurs(_ path: String) throws {
        if try files.isForeignFLAC(path, of: take) {
            throw Unconvertible("\(path) is another file: move that to another place, nothing is written over it")
        }
    }

    /// The number of frames that the sidecar lists for an audio file of a part.
    private func frames(of part: Sidecar.Part, _ base: String) -> Int64 {
        Self.isUnfiltered(base) ? part.twinFrames : part.frames
    }

    private static func isUnfiltered(_ base: String) -> Bool { TakeFileName(base)?.isUnfiltered == true }

    /// Whether the name is one of the take's file names.
    private func isOurs(_ name: String) -> Bool {
        !name.contains("/") && take.mayOwn(name)
    }

    /// Deletes takes from the bin, the oldest first, until `wanted` bytes above the reserve are free. It stops when
    /// that cannot be reached.
    /// - Returns: the free bytes afterwards.
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
            // With these chunks, `flac` would restore a WAV file of 32 bits, which it refuses to do from 24 bits.
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

    /// Removes the WAV files next to FLAC files that hold their sound. If a FLAC file is damaged, the sidecar names its
    /// WAV file again and the take is pending.
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

    /// Removes the unfinished files and returns `outcome`.
    private func cleaned(_ outcome: Outcome) -> Outcome {
        cancel()
        return outcome
    }

    /// Whether the take was removed while its storage is still there.
    private var isGone: Bool {
        guard let there = try? files.entries(folder) else { return false }
        return !there.contains(TakeFile.sidecar(of: take.stem).name)
    }

    private func syncFolder() throws(FileError) {
        try files.syncFolder(files.openFolder(folder))
    }

    private struct Unconvertible: Error {
        var reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }
}

public import Takes

/// A finished take on its way from WAV to FLAC, in slices of work that are short enough to be interrupted between any two.
///
/// Every audio file `X.wav` of the take is encoded as `X.flac.part`, synced, read back from the disk and compared sample for
/// sample. Once all are, they become `X.flac`, the sidecar is revised to name them, and only then the WAV files go. Wherever
/// it is cut, the take is whole, and another conversion of the same take goes on from what it finds on the disk.
/// For one thread at a time, which must be the one that revises and removes takes.
public final class FLACConversion {
    /// How it ended.
    public enum Outcome: Equatable, Sendable {
        /// All audio files are FLAC now.
        case converted(Sidecar)
        /// It stays WAV, and is not pending any more. The sentence says why.
        case kept(Sidecar, String)
        /// There is no room now. It stays pending; the next `step` tries again. The sentence says how much is missing.
        case later(String)
        /// There is no such take, or it is not to be converted.
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
        /// Look at what another conversion left.
        case begin
        /// See what is to be encoded, and whether there is room.
        case plan
        /// Encode and verify a file; those before it are done.
        case encode(Plan, index: Int, FLACEncoding?)
        /// Give the FLAC files their names, and name them in the sidecar.
        case reveal(Plan)
        /// The sidecar names FLAC: the WAV files that are left go.
        case removeOriginals
    }

    /// What is to be done to a take.
    private struct Plan {
        var sidecar: Sidecar
        var audio: [Audio]
    }

    /// An audio file to be converted.
    private struct Audio {
        /// The part, from 0.
        var part: Int
        /// Its name without an ending.
        var base: String
        var isUnfiltered: Bool
        var format: StreamFormat
        var frames: Int64

        /// Bytes that it may take: noise is not made smaller, and what is said of the sound comes on top.
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
    /// - Throws: `FileError`: the storage failed. The take is whole and still pending; the next step begins anew.
    public func step() throws(FileError) -> Outcome? {
        do {
            return try proceed()
        } catch let problem as Unconvertible {
            return try keep(because: problem.reason)
        } catch let error as SoundFileError where error.storage == nil {
            // The library's no is not the storage's: it would be the same tomorrow.
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

    /// Gives it up for now: what was not finished is removed, as far as the storage lets it; the take is still pending.
    public func cancel() {
        phase = .begin
        for name in (try? files.entries(folder)) ?? [] where name.hasSuffix(".flac.part") && isOurs(name) {
            try? files.remove("\(folder)/\(name)")
        }
    }

    private func proceed() throws -> Outcome? {
        switch phase {
        case .begin: return try begin()
        case .plan: return try plan()
        case .encode(let plan, let index, let encoding): return try encode(plan, index, encoding)
        case .reveal(let plan):
            for audio in plan.audio {
                try files.rename("\(folder)/\(audio.base).flac.part", to: "\(folder)/\(audio.base).flac")
            }
            try syncFolder()
            _ = try directory.revise(take) { sidecar in
                for audio in plan.audio where !audio.isUnfiltered && audio.part < sidecar.parts.count {
                    sidecar.parts[audio.part].file = "\(audio.base).flac"
                }
                sidecar.pendingFormat = nil
            }
            phase = .removeOriginals
            return nil
        case .removeOriginals: return try removeOriginals()
        }
    }

    // MARK: - What is to be done

    private func begin() throws -> Outcome? {
        cancel()
        let sidecar = try directory.sidecar(of: take)
        let there = Set(try files.entries(folder))
        if sidecar.parts.contains(where: { part in
            part.file.hasSuffix(".flac") && bases(of: part).contains { there.contains("\($0).wav") }
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
        // The sidecar says that the WAV is the take: FLAC beside it was never told to anybody.
        for audio in plan.audio { try files.remove("\(folder)/\(audio.base).flac") }
        let wanted = plan.audio.reduce(0) { $0 + $1.largestFLAC }
        let free = try files.freeBytes(folder)
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
            guard sidecar.rateHz > 0, part.firstFrame >= 0, part.firstFrame / Int64(sidecar.rateHz) < 1 << 32 else {
                throw Unconvertible("its sidecar gives part \(index + 1) no place in time")
            }
            let bases = bases(of: part)
            for base in bases where base == bases[0] || there.contains("\(base).wav") {
                guard isOurs(part.file), there.contains("\(base).wav") else {
                    throw Unconvertible("\(folder)/\(base).wav is not there")
                }
                let file = try SoundFileReader(path: "\(folder)/\(base).wav")
                if let refusal = FLACWriter.refusal(of: file.format) { throw Unconvertible(refusal) }
                guard file.frames == part.frames, file.frames > 0 else {
                    throw Unconvertible(
                        "\(file.path) holds \(file.frames) frames, and its sidecar says \(part.frames)")
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

    /// Whether a file belongs to the take, by its name.
    private func isOurs(_ name: String) -> Bool {
        !name.contains("/") && TakeName(file: name, day: take.day) == take
    }

    private func noRoom(free: Int64, wanted: Int64) -> String {
        "convert \(take.stem) to FLAC: \(free >> 20) MiB are free, and \((wanted + reserveBytes) >> 20) are needed, "
            + "of them \(reserveBytes >> 20) as reserve: free some space"
    }

    // MARK: - Encode, verify

    private func encode(_ plan: Plan, _ index: Int, _ begun: FLACEncoding?) throws -> Outcome? {
        let audio = plan.audio[index]
        let free = try files.freeBytes(folder)
        guard free >= reserveBytes else {
            return cleaned(.later(noRoom(free: free, wanted: audio.largestFLAC)))
        }
        let encoding: FLACEncoding
        if let begun {
            encoding = begun
        } else {
            let wav = "\(folder)/\(audio.base).wav"
            let metadata = FLACMetadata(
                sidecar: plan.sidecar, part: audio.part, isUnfiltered: audio.isUnfiltered, format: audio.format,
                frames: audio.frames, chunks: try RIFFChunks.all(of: files.open(wav), files: files))
            encoding = try FLACEncoding(
                wav: wav, flac: "\(folder)/\(audio.base).flac.part", metadata: metadata, files: files)
        }
        switch try encoding.step() {
        case .more: phase = .encode(plan, index: index, encoding)
        case .done where index + 1 < plan.audio.count: phase = .encode(plan, index: index + 1, nil)
        case .done: phase = .reveal(plan)
        case .differs(let frame):
            throw Unconvertible("read back from the disk, \(audio.base).flac differs at frame \(frame)")
        }
        return nil
    }

    // MARK: - The end

    /// Removes the WAV files beside FLAC that the sidecar names, if that is as long as it says. If it is not, the part is WAV again.
    private func removeOriginals() throws -> Outcome? {
        var sidecar = try directory.sidecar(of: take)
        let there = Set(try files.entries(folder))
        var superfluous: [String] = []
        var broken: [Int: String] = [:]
        for (index, part) in sidecar.parts.enumerated() where part.file.hasSuffix(".flac") && isOurs(part.file) {
            let bases = bases(of: part)
            let waves = bases.filter { there.contains("\($0).wav") }
            if waves.allSatisfy({ frames(of: "\($0).flac") == part.frames }) {
                // The twin first: as long as it is there, so is the part itself.
                superfluous += waves.reversed()
            } else if waves.contains(bases[0]), waves.allSatisfy({ frames(of: "\($0).wav") == part.frames }) {
                broken[index] = "\(bases[0]).wav"
            }
        }
        if !broken.isEmpty {
            sidecar = try directory.revise(take) { sidecar in
                for (index, file) in broken where index < sidecar.parts.count { sidecar.parts[index].file = file }
                sidecar.pendingFormat = "flac"
            }
        }
        for base in superfluous { try files.remove("\(folder)/\(base).wav") }
        try syncFolder()
        phase = .plan
        return sidecar.pendingFormat == "flac" ? nil : .converted(sidecar)
    }

    /// How many frames a sound file holds; nil if it is none.
    private func frames(of name: String) -> Int64? {
        guard let file = try? SoundFileReader(path: "\(folder)/\(name)") else { return nil }
        return file.frames
    }

    /// Lets the take be WAV for good.
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

    /// `outcome`, after what was not finished is removed.
    private func cleaned(_ outcome: Outcome) -> Outcome {
        cancel()
        return outcome
    }

    /// Whether somebody removed the take, and not the storage under it.
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

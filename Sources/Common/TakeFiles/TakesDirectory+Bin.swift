public import Files
import Glibc
public import Takes

// The bin. One thread calls all of these methods, and only that thread changes finished takes.
extension TakesDirectory {
    public var binPath: String { "\(path)/\(TakesBin.folderName)" }

    /// Completes interrupted operations in the bin, then reads its content.
    ///
    /// A half moved take is in the bin. A take whose removal was begun is gone. The bin's notes of a take that is in
    /// its day's folder are removed. `bin.newProblems()` reports what cannot be done now; the next reading tries it
    /// again.
    public func readBin(at moment: BinMoment) {
        var found: [(take: TakeName, files: [String])] = []
        bin.isReadAgain = false
        do throws(FileError) {
            found = try binned()
        } catch {
            bin.couldNotBeRead()
            return bin.note(problem: "bin: \(binProblem(error))")
        }
        guard !found.isEmpty || (try? files.identity(binPath)) != nil else { return bin.wasRead([]) }
        readAge(at: moment)
        var items: [TakesBin.Item] = []
        for (take, files) in found {
            do throws(FileError) {
                if try isSettled(take, files) { items.append(try item(take)) }
            } catch {
                bin.couldNotBeRead()
                bin.note(problem: "bin: \(take.stem): \(error)")
            }
        }
        bin.wasRead(items)
    }

    /// Moves a finished take to the bin. If the storage is full, the oldest takes in the bin are removed for good. Must
    /// not be called while the take is played.
    /// - Throws: `FileError`. If the sidecar is gone from the day's folder (`contains`), the take is in the bin, and
    ///   the rest of its files will follow. `EEXIST` if the bin has another take of the name.
    public func moveToBin(_ take: TakeName, at moment: BinMoment) throws(FileError) {
        if bin.find(stem: take.stem, day: take.day) != nil {
            let sidecar = TakeSite(files: files, takes: folder, name: take).path(.binnedSidecar)
            guard !files.isTaken(sidecar) else { throw FileError("move to", binPath, code: EEXIST) }
            // A person moved it out of the bin. The next reading finds its remaining files by their names.
            bin.remove(take)
            bin.isReadAgain = true
        }
        while true {
            do throws(FileError) {
                return try tryToMoveToBin(take, at: moment)
            } catch {
                guard error.isDiskFull, let oldest = bin.oldest, try contains(take) else { throw error }
                do throws(FileError) { try empty(oldest.take) } catch { bin.passOver(oldest.take) }
            }
        }
    }

    private func tryToMoveToBin(_ take: TakeName, at moment: BinMoment) throws(FileError) {
        let sidecar = try files.contents(sidecarPath(of: take), limit: LeftoverTake.mostSidecarBytes)
        var site = TakeSite(files: files, takes: folder, name: take)
        // An unreadable part of the bin may contain another take of the name. After a power cut there may be a copy of
        // this sidecar.
        if files.isTaken(site.path(.binnedSidecar)),
            try files.contents(site.path(.binnedSidecar), limit: LeftoverTake.mostSidecarBytes) != sidecar
        {
            throw FileError("move to", binPath, code: EEXIST)
        }
        do throws(FileError) {
            try site.makeBin()
            try site.checkNamesInBin()
            let since = try keepAge(at: moment)
            let note = BinNote(since: since, binned: moment.origin == .unset ? nil : moment.wall.iso8601)
            try site.perform(.noteBinning, content: note.bytes)
            try site.perform(.copyToBin, content: sidecar)
            try site.perform(.bin)
        } catch {
            switch try? contains(take) {
            case true?: try? site.perform(.clearBin)
            case false?: if let item = try? item(take) { bin.add(item) }
            // Its only sidecar may be the one in the bin.
            case nil: break
            }
            throw error
        }
        bin.add(try item(take))
        // If this fails, the next reading of the bin does it.
        try? note(take, isWhole: true)
    }

    /// Moves a take from the bin back to its day's folder. Its sidecar records that it was restored. If its sidecar is
    /// not in the bin, its files join the sidecar in its day's folder, or recovery makes a new sidecar.
    /// - Throws: `FileError`. The take is then in the bin. `EEXIST` if a take of that name is there (`restore`), or
    ///   another file with one of its names. `ENOENT` if it is not in the bin.
    public func restore(_ take: TakeName) throws(FileError) {
        var site = TakeSite(files: files, takes: folder, name: take)
        if try isWithoutSidecar(take) {
            _ = try site.openBin()
            try site.checkNamesInDay()
            try site.perform(.takeOut)
            bin.remove(take)
            if (try? contains(take)) == true { _ = try? revise(take) { $0.restored = true } }
            try? site.perform(.clearBin)
            try? files.removeFolder(site.binPath)
            return
        }
        guard try !contains(take) else { throw FileError("restore", sidecarPath(of: take), code: EEXIST) }
        _ = try site.openBin()
        let sidecar = try files.contents(site.path(.binnedSidecar), limit: LeftoverTake.mostSidecarBytes)
        try site.checkNamesInDay()
        // A power cut may leave some of its files in the folder of the day.
        try note(take, isWhole: false)
        do throws(FileError) {
            try site.perform(.takeOut)
            try site.perform(.revise, content: Self.restored(sidecar))
        } catch {
            guard (try? contains(take)) == true else {
                // If this fails, the next start moves it.
                if (try? site.perform(.bin)) != nil { try? note(take, isWhole: true) }
                throw error
            }
        }
        bin.remove(take)
        // The next start removes the rest, which is not a take.
        try? site.perform(.clearBin)
        try? files.removeFolder(site.binPath)
    }

    /// The sidecar of a restored take. An unreadable one stays unchanged.
    private static func restored(_ bytes: [UInt8]) -> [UInt8] {
        guard var sidecar = try? SidecarFile.sidecar(bytes, path: ""), sidecar.restored != true else { return bytes }
        sidecar.restored = true
        // The highest revision cannot be increased.
        sidecar.revision = sidecar.revision == .max ? .max : sidecar.revision + 1
        return SidecarFile.bytes(sidecar)
    }

    /// Whether a take has files in the bin, but no sidecar there.
    private func isWithoutSidecar(_ take: TakeName) throws(FileError) -> Bool {
        do throws(FileError) {
            let folder = "\(binPath)/\(take.day)"
            let names = try TakeListing.files(of: take, in: files.entries(folder), folder: folder, files: files)
            return TakesBin.isWithoutSidecar(take, names)
        } catch {
            guard error.isAbsence else { throw error }
            return false
        }
    }

    /// Throws if a take is listed with its sidecar, and the sidecar is no longer in the bin.
    private func checkBinnedSidecar(of take: TakeName) throws(FileError) {
        guard bin.items.first(where: { $0.take == take })?.hasSidecar != false else { return }
        let site = TakeSite(files: files, takes: folder, name: take)
        do throws(FileError) {
            _ = try files.contents(site.path(.binnedSidecar), limit: LeftoverTake.mostSidecarBytes)
        } catch {
            bin.isReadAgain = true
            bin.passOver(take)
            throw error
        }
    }

    /// Removes a take in the bin for good. Only files in the bin are removed. The take stays if one of its files is in
    /// the folder of its day, or if its sidecar was taken out of the bin or became unreadable since the bin was read.
    /// - Parameter isNamed: whether a person named it. It is then removed even if the folder of its day has the same
    ///   files.
    /// - Throws: `FileError`; `isPutBack` if there is such a file; `isDifference` if it is named, and not all files
    ///   there are the same. If its sidecar is gone, it is not in the bin any more, and the rest is removed when the
    ///   bin is read next.
    public func empty(_ take: TakeName, isNamed: Bool = false) throws(FileError) {
        try numbers.keep()
        let home = TakeSite(files: files, takes: folder, name: take)
        if let file = try filesInDay(take).first {
            self.bin.isReadAgain = true
            guard isNamed, try contains(take), try !isWithoutSidecar(take) else {
                throw .putBack("\(path)/\(take.day)/\(file)")
            }
            if let file = try home.fileThatDiffers() { throw .differs(home.path(file), "\(home.binPath)/\(file)") }
        }
        try checkBinnedSidecar(of: take)
        let bin = try files.openFolder(binPath, followsLink: false)
        var site = TakeSite(files: files, takes: bin, name: take)
        do throws(FileError) {
            try site.perform(.discard)
        } catch {
            if (try? files.identity(site.path(.sidecar))) != nil {
                try? files.remove(site.path(.removal))
            } else {
                self.bin.remove(take)
            }
            throw error
        }
        self.bin.remove(take)
        // Fails unless it was the last take of its day.
        try? files.removeFolder("\(binPath)/\(take.day)")
    }

    /// The free bytes, without those in the bin.
    public func freeBytesBesideBin() throws(FileError) -> Int64 {
        let free = try files.freeBytes(path)
        bin.note(freeBytes: free)
        return free
    }

    /// Updates the bin's age, so that overdue takes are known.
    /// - Throws: `FileError`. The new age is then valid until the process ends.
    public func keepBinAge(at moment: BinMoment) throws(FileError) {
        guard !bin.items.isEmpty else { return }
        _ = try keepAge(at: moment)
    }
}

// MARK: - Reading

extension TakesDirectory {
    /// The takes that have files in the bin.
    private func binned() throws(FileError) -> [(take: TakeName, files: [String])] {
        try Self.binned(in: path, files: files) { [bin] _, error in
            bin.couldNotBeRead()
            bin.note(problem: "bin: passed over: \(error)")
        }
    }

    /// The same for any folder for takes.
    /// - Parameter unreadable: called with each day of the bin that cannot be read.
    /// - Throws: `FileError` if the bin exists and cannot be read.
    static func binned(
        in path: String, files: FileSystem, unreadable: (_ day: String, FileError) -> Void
    ) throws(FileError) -> [(take: TakeName, files: [String])] {
        let bin = "\(path)/\(TakesBin.folderName)"
        let days: [String]
        do throws(FileError) {
            _ = try files.openFolder(bin, followsLink: false)
            days = try files.entries(bin).filter(TakeName.isDay)
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
        var found: [TakeName: [String]] = [:]
        for day in days {
            do throws(FileError) {
                _ = try files.openFolder("\(bin)/\(day)", followsLink: false)
                let names = try files.entries("\(bin)/\(day)")
                found.merge(TakeListing(names, day: day, in: "\(bin)/\(day)", files: files).takes) { $1 }
            } catch {
                if ![ENOTDIR, ENOENT, ELOOP].contains(error.code) { unreadable(day, error) }
            }
        }
        return found.map { ($0.key, $0.value) }.sorted { $0.take < $1.take }
    }

    /// Deleted takes that may still have files in the folder of their day: they are in the bin, and have no sidecar in
    /// that folder. Takes for which that is unknown are included.
    /// - Parameter takes: the takes to check.
    /// - Throws: `FileError` if the bin exists and cannot be read.
    func deleted(among takes: Set<TakeName>) throws(FileError) -> Set<TakeName> {
        var unreadable: Set<String> = []
        let found: [(take: TakeName, files: [String])]
        do throws(FileError) {
            found = try Self.binned(in: path, files: files) { day, _ in unreadable.insert(day) }
        } catch {
            // A link or a file in the bin's place contains no takes.
            guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
            return []
        }
        let deleted = found.filter { take, files in
            (files.contains(TakeDocument.binnedSidecar.name(stem: take.stem)) || TakesBin.isWithoutSidecar(take, files))
                && (try? contains(take)) != true
        }
        return Set(deleted.map(\.take)).union(takes.filter { unreadable.contains($0.day) })
    }

    /// Completes an interrupted operation on one take.
    /// - Returns: whether the take is in the bin.
    private func isSettled(_ take: TakeName, _ found: [String]) throws(FileError) -> Bool {
        var site = TakeSite(files: files, takes: folder, name: take)
        let documents = TakeSite.ofBin.map { $0.name(stem: take.stem) }
        let hasFiles = found.contains { !documents.contains($0) }
        let isInBin = found.contains(TakeDocument.binnedSidecar.name(stem: take.stem))
        if TakesBin.isWithoutSidecar(take, found) {
            let sidecar = sidecarPath(of: take)
            let reason = try contains(take) ? TakesBin.putBack(sidecar, of: take) : TakesBin.withoutSidecar(take)
            bin.note(problem: "bin: \(take.stem): \(reason)")
            return true
        }
        if try contains(take) {
            // If the bin also has files, it is another take of the same name.
            guard !hasFiles else {
                let other = "a take of that name is in \(path)/\(take.day), too"
                let advice =
                    "this one stays in the bin until the other's \(take.stem).json is moved away, or, if it was copied back whole, "
                    + "until 'fieldfare bin empty \(take.stem)'"
                if isInBin { bin.note(problem: "bin: \(take.stem): \(other): \(advice)") }
                return isInBin
            }
            try site.perform(.clearBin)
            try? files.removeFolder(site.binPath)
            return false
        }
        guard isInBin else {
            guard found.contains(TakeDocument.binnedRemoval.name(stem: take.stem)) else {
                let others = found.filter { !TakeName.isOwnFile($0) }.sorted().joined(separator: ", ")
                let problem = "bin: \(take.stem): no recorder made \(others), which stays in \(binPath)/\(take.day)"
                if !others.isEmpty { bin.note(problem: problem) }
                return false
            }
            var removal = TakeSite(files: files, takes: try files.openFolder(binPath, followsLink: false), name: take)
            try removal.perform(.removeEmpty)
            try? files.removeFolder(site.binPath)
            return false
        }
        settle(take, &site)
        return true
    }

    /// Completes the move of a take that is in the bin. If it was already moved completely, a person put the files in
    /// the folder of its day.
    private func settle(_ take: TakeName, _ site: inout TakeSite) {
        let left = try? filesInDay(take)
        guard note(of: take)?.isWhole != true else {
            guard let left, !left.isEmpty else { return }
            let files = left.map { "\(path)/\(take.day)/\($0)" }.joined(separator: ", ")
            return bin.note(problem: "bin: \(take.stem): \(TakesBin.putBack(files, of: take))")
        }
        do throws(FileError) {
            if left?.isEmpty != true { try site.perform(.bin) }
            try? note(take, isWhole: true)
        } catch {
            // The take is in the bin even if another file prevents the move.
            bin.note(problem: "bin: \(take.stem): not all of its files are in the bin: \(error)")
        }
    }

    /// The files of a take in the folder of its day, sorted.
    private func filesInDay(_ take: TakeName) throws(FileError) -> [String] {
        do throws(FileError) {
            return try files.ownFiles(of: take, in: "\(path)/\(take.day)")
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
            return []
        }
    }

    /// The bin's note on a take, or nil if it is missing or unreadable.
    private func note(of take: TakeName) -> BinNote? {
        let site = TakeSite(files: files, takes: folder, name: take)
        return (try? files.contents(site.path(.binNote), limit: 4096)).flatMap { BinNote($0) }
    }

    /// Notes whether all files of a take are in the bin. Does nothing without a readable note.
    private func note(_ take: TakeName, isWhole: Bool) throws(FileError) {
        guard var note = note(of: take), note.isWhole ?? false != isWhole else { return }
        note.isWhole = isWhole ? true : nil
        var site = TakeSite(files: files, takes: folder, name: take)
        try site.perform(.noteBinning, content: note.bytes)
    }

    private func item(_ take: TakeName) throws(FileError) -> TakesBin.Item {
        let folder = "\(binPath)/\(take.day)"
        let bytes = try TakeListing.files(of: take, in: files.entries(folder), folder: folder, files: files)
            .reduce(Int64(0)) { $0 + byteCount("\(folder)/\($1)") }
        let age = bin.age?.seconds ?? 0
        let putBack = (try? filesInDay(take)) ?? []
        let hasSidecar = (try? isWithoutSidecar(take)) != true
        let note = note(of: take)
        guard let note, note.since <= age else {
            // The note is damaged, or from another bin's age. The take's time begins now.
            let new = BinNote(since: age, binned: note?.binned, isWhole: note?.isWhole)
            var site = TakeSite(files: files, takes: self.folder, name: take)
            try? site.perform(.noteBinning, content: new.bytes)
            return TakesBin.Item(
                take: take, byteCount: bytes, binned: new.binned, since: age, putBack: putBack, hasSidecar: hasSidecar)
        }
        return TakesBin.Item(
            take: take, byteCount: bytes, binned: note.binned, since: note.since, putBack: putBack,
            hasSidecar: hasSidecar)
    }

    /// The bytes that removing a file frees; 0 for a link.
    private func byteCount(_ path: String) -> Int64 {
        (try? files.length(files.openToRead(path, followsLink: false))) ?? 0
    }

    /// The sentence about a bin that cannot be used.
    public func binProblem(_ error: FileError) -> String {
        switch error.code {
        case ENOTDIR, ELOOP: "\(error.path): it is a link or a file, and the bin is a folder: remove it"
        case EXDEV: "\(error.path): another file system is mounted there: unmount it"
        default: "\(error)"
        }
    }
}

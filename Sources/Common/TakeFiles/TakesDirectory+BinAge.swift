import Takes

// The bin's age, and the last number, which may be known only from takes in the bin.
extension TakesDirectory {
    private var agePath: String { "\(binPath)/.age" }

    func readAge(at moment: BinMoment) {
        guard bin.age == nil else { return }
        for file in [agePath, agePath + ".tmp"] {
            guard let bytes = try? files.contents(file, limit: 4096), let age = BinAge(bytes) else { continue }
            return bin.age = age
        }
        bin.age = BinAge(seconds: 0, at: moment)
    }

    /// The bin's age now, in seconds. It is on the disk when this returns.
    func keepAge(at moment: BinMoment) throws(FileError) -> Int64 {
        readAge(at: moment)
        var age = bin.age ?? BinAge(seconds: 0, at: moment)
        age.advance(to: moment)
        bin.age = age
        let folder = try files.openFolder(binPath, followsLink: false)
        let draft = try files.createWhole(agePath + ".tmp", isNew: false)
        try files.write(age.bytes, to: draft, at: 0)
        try files.sync(draft)
        try files.syncFolder(folder)
        try files.move(agePath + ".tmp", to: agePath)
        try files.syncFolder(folder)
        return age.seconds
    }

    /// Makes the last number safe. It may be known only from the names of takes that are about to be removed.
    func keepNumber() throws(FileError) {
        var unreadable: [FileError] = []
        let written = KitMark.number(in: path, files: files, unreadable: &unreadable) ?? 0
        guard written < lastNumber else { return }
        var site = TakeSite(
            files: files, takes: folder,
            name: TakeName(kit: "kit", number: lastNumber, started: WallTime(microseconds: 0)))
        try site.perform(.number, content: KitMark.bytes(lastNumber))
    }
}

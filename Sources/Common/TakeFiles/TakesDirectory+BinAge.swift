import Files
import Takes

// The bin's age.
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
}

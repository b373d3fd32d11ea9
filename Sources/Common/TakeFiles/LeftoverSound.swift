import Takes

/// The audio files of a leftover take, as they were read, by their makers.
struct LeftoverSound {
    typealias File = LeftoverTake.Found

    /// All files, by part, the filtered file before its twin.
    let all: [File]
    /// The files that belong to the take.
    let own: [File]
    /// The names of the others.
    let strange: [String]

    /// - Parameters:
    ///   - names: the files to read.
    ///   - sidecar: the draft, if there is one.
    ///   - received: the sound that was received, by audio file, where known.
    /// - Throws: `failed`, or a file of another origin has a name that the take's sound has or must get.
    init(
        _ names: [AudioFileName], _ sidecar: Sidecar?, at site: TakeSite, received: [String: WrittenSound]
    ) throws(LeftoverProblem) {
        var all: [File] = []
        let known = Set(sidecar?.audioFiles ?? [])
        for name in names.sorted(by: { $0.place < $1.place }) {
            let isObstacle = !known.contains(name.file) && !LeftoverTake.isFile(name, at: site)
            all.append(isObstacle ? File(obstacle: name) : try LeftoverTake.read(name, at: site, received))
        }
        self.all = all
        (own, strange) = try LeftoverTake.sort(all, sidecar, at: site)
    }

    /// Whether all files of the take have their final names, which they get last.
    var isFinal: Bool { !own.isEmpty && own.allSatisfy(\.name.isFinal) }

    /// Whether each file has no content, or a header that describes the take.
    var hasAllHeaders: Bool { all.allSatisfy { $0.isBlank || $0.header?.origin != nil } }

    /// One file per part and twin, and the superfluous files: tails that belong to no take, and empty files next to the
    /// files with the sound.
    /// - Parameter listed: the files of the parts that the draft lists. Their tails are part of the take.
    /// - Throws: `twoNames` if two files with sound have the same place.
    func files(
        listed: Set<String>, of take: TakeName
    ) throws(LeftoverProblem) -> (kept: [File], superfluous: [AudioFileName]) {
        var kept: [File] = []
        var tails: [AudioFileName] = []
        var empty: [AudioFileName] = []
        for file in own {
            if file.name.stage == .tail, !listed.contains(file.name.sibling(isUnfiltered: false)) {
                tails.append(file.name)
                continue
            }
            if let last = kept.last, last.name.place == file.name.place {
                guard last.byteCount == 0 || file.byteCount == 0 else { throw .twoNames(of: take) }
                empty.append(file.byteCount == 0 ? file.name : kept.removeLast().name)
                if file.byteCount == 0 { continue }
            }
            kept.append(file)
        }
        return (kept, tails + empty)
    }
}

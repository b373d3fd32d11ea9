import Files
import Takes

/// The files of a leftover take by their names, and its sidecar if it is a finished take.
struct LeftoverNames {
    /// All names of the take's files.
    let all: [String]
    /// The sidecar of the take, or nil if the take is not finished.
    let finished: Sidecar?
    private let take: TakeName

    /// - Parameter storageAnswers: returns whether the storage works although a file cannot be read.
    /// - Throws: a problem with the names alone: there is nothing to recover, or files that another program made have
    ///   names that recovery needs.
    init(at site: TakeSite, _ storageAnswers: () -> Bool) throws(LeftoverProblem) {
        take = site.name
        all = try Self.list(at: site)
        try LeftoverTake.checkDocuments([.sidecarDraft, .revision, .peaksPart, .removal], all, at: site)
        try LeftoverTake.checkKind(.sidecarPart, all, at: site)
        finished = try LeftoverTake.finished(all, at: site, storageAnswers)
        if finished != nil { try LeftoverTake.checkDocuments([.sidecarPart], all, at: site) }
        guard !all.isEmpty else { throw .empty }
        try checkRemoval(at: site)
        guard finished != nil || !drafts.isEmpty || audio.contains(where: { $0.stage == .part }) else {
            throw .lost(try LostSidecar(all, at: site, problem: nil))
        }
        try checkPeaks(at: site)
    }

    private static func list(at site: TakeSite) throws(LeftoverProblem) -> [String] {
        let folder = "\(site.takes.path)/\(site.name.day)"
        let names = try LeftoverTake.attempt { () throws(FileError) in
            try TakeListing.files(of: site.name, in: site.files.entries(folder), folder: folder, files: site.files)
        }
        return names.filter { !FileSystem.isSetAside($0) && LeftoverTake.isThere($0, at: site) }
    }

    func has(_ document: TakeDocument) -> Bool { all.contains(document.name(stem: take.stem)) }

    /// The drafts of the sidecar.
    var drafts: [TakeDocument] { [.sidecarPart, .sidecarDraft].filter(has) }

    /// The parts that the sidecar of a finished take names. They are not judged.
    var settled: [Sidecar.Part] { finished?.parts ?? [] }

    /// Whether there is an unreadable sidecar: the take has one, and is not finished.
    var hasDamagedSidecar: Bool { finished == nil && has(.sidecar) }

    /// The audio files that are judged.
    var audio: [AudioFileName] {
        let last = settled.compactMap { LeftoverTake.number($0, of: take) }.max() ?? 0
        let audio = all.compactMap { AudioFileName($0, of: take) }.filter { $0.part > last }
        // Without a draft, a recorder did not make the files with final names that lie next to a finished take.
        return finished != nil && drafts.isEmpty ? audio.filter { !$0.isFinal } : audio
    }

    private func checkRemoval(at site: TakeSite) throws(LeftoverProblem) {
        guard has(.removal), finished == nil, drafts.isEmpty, !has(.sidecar) else { return }
        try LeftoverTake.checkFile(.removal, at: site)
        throw .removed
    }

    /// The waveform is made again if the storage allows it. An obstacle with its final name stays there.
    private func checkPeaks(at site: TakeSite) throws(LeftoverProblem) {
        for document in [TakeDocument.peaksPart, .peaks] where has(document) {
            do throws(LeftoverProblem) {
                try LeftoverTake.checkFile(document, at: site)
            } catch {
                if document == .peaks, case .foreign = error { continue }
                guard error.unreadable != nil else { throw error }
            }
        }
    }
}

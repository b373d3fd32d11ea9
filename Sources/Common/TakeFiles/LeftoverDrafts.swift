import Files
import Takes

/// The drafts of a leftover take's sidecar, as they were read.
struct LeftoverDrafts {
    /// The content of the draft under its own name, or nil if that cannot be used.
    let current: Sidecar?
    /// The content of the draft that is used, or nil if none can be used.
    let sidecar: Sidecar?
    /// Why the draft under its own name is not used although it exists.
    let problem: String?
    /// Why the storage cannot return a draft.
    let failure: FileError?
    /// Whether each draft is one, or what a power cut leaves of one.
    let areBegun: Bool

    private struct Reading {
        var sidecar: Sidecar?
        var isBegun: Bool
        var problem: String?
        var failure: FileError?
    }

    /// - Parameters:
    ///   - documents: the drafts that exist.
    ///   - storageAnswers: returns whether the storage works although a file cannot be read.
    /// - Throws: `foreign` if a draft is not a regular file; `failed`.
    init(_ documents: [TakeDocument], at site: TakeSite, _ storageAnswers: () -> Bool) throws(LeftoverProblem) {
        var readings: [TakeDocument: Reading] = [:]
        for document in documents { readings[document] = try Self.read(document, at: site, storageAnswers) }
        current = readings[.sidecarPart]?.sidecar
        sidecar = current ?? readings[.sidecarDraft]?.sidecar
        problem = readings[.sidecarPart]?.problem
        failure = documents.lazy.compactMap { readings[$0]?.failure }.first
        areBegun = readings.values.allSatisfy(\.isBegun)
    }

    var state: LeftoverTake.Draft { sidecar == nil ? .lost : current == nil ? .waiting : .there }

    /// An unreadable draft is read twice. It then counts as damaged if the storage works otherwise.
    private static func read(
        _ document: TakeDocument, at site: TakeSite, _ storageAnswers: () -> Bool
    ) throws(LeftoverProblem) -> Reading {
        do throws(LeftoverProblem) {
            return try read(document, at: site)
        } catch {
            guard error.unreadable != nil, storageAnswers() else { throw error }
        }
        do throws(LeftoverProblem) {
            return try read(document, at: site)
        } catch {
            guard let failure = error.unreadable else { throw error }
            return Reading(isBegun: false, problem: failure.description, failure: failure)
        }
    }

    private static func read(_ document: TakeDocument, at site: TakeSite) throws(LeftoverProblem) -> Reading {
        let path = site.path(document)
        try LeftoverTake.checkFile(document, at: site)
        let bytes = try LeftoverTake.attempt { () throws(FileError) in
            try site.files.contents(path, limit: LeftoverTake.mostSidecarBytes)
        }
        let sidecar = try? SidecarFile.sidecar(bytes, path: path)
        if let sidecar, sidecar.isCredible(for: site.name) { return Reading(sidecar: sidecar, isBegun: true) }
        if bytes.allSatisfy({ $0 == 0 }) { return Reading(isBegun: true) }
        return Reading(isBegun: bytes.first == UInt8(ascii: "{"), problem: "\(path): it is damaged")
    }
}

import ArgumentParser
import Control
import Files
import Glibc
import TakeFiles
import Takes
import Transport

struct VerifyCommand: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare sound files with their sidecars.",
        discussion: """
            PATH is a WAV or FLAC file beside its sidecar, a sidecar, a file of a take that was not finished (STEM.wav.part), or \
            a folder with all folders below it. What is none of these is read as a take of this kit. No service is needed, so that copies at home are compared as well.

            The fingerprint of the sound is compared, which neither a changed header nor a conversion to FLAC changes. A file \
            without one is compared by the hash that its sidecar was sent with, else by its length alone, which is said. Sound of a \
            take that its sidecar does not list differs as well, and so does what is left of a take that was never finished, \
            unless the recorder is recording it. A line names each file that is not as recorded; the last line counts.

            Exit status: 0 nothing differs; 65 something differs, or is missing; 66 there is nothing to compare; 74 or 77 \
            something could not be read.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("A file, a folder or a take.", valueName: "path"))
    var paths: [String]

    func run(in session: Session) throws(Failure) {
        session.access.useIdlePriority()
        var search = SoundSearch()
        for path in paths { try search.add(path, in: session) }
        var report = SoundReport()
        for take in search.takes { try report.add(take, session) }
        for path in search.strays { try report.add(stray: path, session) }
        let recorded = search.unfinished.isEmpty ? nil : RecordedTake(session)
        for left in search.unfinished where recorded?.isThat(left) != true { try report.add(unfinished: left, session) }
        for failure in search.failures { report.add(failure, session) }
        guard !report.isEmpty else {
            throw Failure(
                exitStatus: 66, "verify: \(paths.joined(separator: ", ").printable): no take to compare")
        }
        try report.end(session)
    }
}

/// Finds the files to compare at given paths.
struct SoundSearch {
    /// Sidecars with the audio files to check.
    private(set) var takes: [Take] = []
    private(set) var strays: [String] = []
    /// The remaining files of unfinished takes.
    private(set) var unfinished: [Unfinished] = []
    /// The errors of folders that could not be read.
    private(set) var failures: [Failure] = []
    private var known: Set<String> = []
    private let files: FileSystem

    init(files: FileSystem = FileSystem()) { self.files = files }

    /// A file of an unfinished take.
    struct Unfinished {
        /// The take's stem.
        var take: String
        var folder: String
        var file: String
        var standing = Standing.leftover

        enum Standing {
            /// 'fieldfare recover' judges it.
            case leftover
            /// Unfiltered sound whose filtered counterpart is missing.
            case loneTwin
            /// Its take is finished, and no draft shows that the take continues.
            case besideTake
        }
    }

    /// A sidecar and the audio files next to it.
    struct Take {
        /// The sidecar's path.
        var path: String
        var folder: String
        /// The sidecar's content, or why it cannot be read.
        var sidecar: Result<Sidecar, Failure>
        /// The only file to check, or nil for all.
        var only: String?
        /// If all files are checked, the sound next to the sidecar that the sidecar does not list.
        var omissions: [SoundOmission] = []
    }

    private static let endings = [".wav", ".flac"]

    /// Adds the files at a path, or of a take's name.
    mutating func add(_ path: String, in session: Session) throws(Failure) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if (try? files.openFolder(path)) != nil { return try add(folder: path) }
        let (folder, name) = Self.split(path)
        guard (try? files.attributes(path)) != nil else {
            let isName = !path.contains("/") && !name.contains(".")
            guard isName else { throw Failure(exitStatus: 66, "verify: \(path.printable): it is not there") }
            let kit = try KitTakes(of: session, for: "verify", directory: nil)
            let take = try kit.find(TakeReference(path), for: "verify")
            return try add(folder: kit.folder.folder(of: take), only: TakeFile.sidecar(of: take.stem).name, file: nil)
        }
        if name.hasSuffix(".json") { return try add(folder: folder, only: name, file: nil) }
        if Self.isUnfinished(name), TakeFileName(name) != nil {
            guard known.insert("\(folder)/\(name)").inserted else { return }
            let names = try names(in: folder)
            let listing = TakeListing(names, day: "", in: folder, files: files)
            guard let take = listing.files.first(where: { $0.name == name })?.take.stem else { return }
            return unfinished.append(unfinishedFile(name, of: take, in: folder, names))
        }
        guard Self.isAudio(name) else {
            throw Failure(exitStatus: 66, "verify: \(path.printable): it is neither WAV, FLAC nor a sidecar")
        }
        var unread: Failure?
        for sidecar in try names(in: folder) where sidecar.hasSuffix(".json") {
            let found = read(folder, sidecar)
            if case .failure(let failure)? = found, failure.isOfReading { unread = unread ?? failure }
            guard case .success(let content)? = found, content.audioFiles.contains(name) else { continue }
            return takes.append(
                Take(path: "\(folder)/\(sidecar)", folder: folder, sidecar: .success(content), only: name))
        }
        if let unread { throw unread }
        throw Failure(
            exitStatus: 66, "verify: \(path.printable): no sidecar in its folder lists it: nothing to compare")
    }

    /// Adds a sidecar that a person named.
    private mutating func add(folder: String, only name: String, file: String?) throws(Failure) {
        let path = "\(folder)/\(name)"
        let sidecar = read(folder, name) ?? .failure(Failure(exitStatus: 65, "verify: \(path): not a sidecar"))
        var take = Take(path: path, folder: folder, sidecar: sidecar, only: file)
        if file == nil { take.omissions = try omissions(sidecar, in: folder) }
        takes.append(take)
        guard file == nil, let takeName = TakeFileName(name)?.take(in: "") else { return }
        let own = try TakeListing.files(of: takeName, in: names(in: folder), folder: folder, files: files)
        addUnfinished(own, in: folder, Set(take.omissions.map(\.file)))
    }

    private mutating func add(folder: String) throws(Failure) {
        let names = try names(in: folder)
        let there = Set(names)
        var listed: Set<String> = []
        for name in names where name.hasSuffix(".json") && known.insert("\(folder)/\(name)").inserted {
            guard let sidecar = read(folder, name) else { continue }
            let omissions = try omissions(sidecar, in: folder)
            switch sidecar {
            case .success(let found): listed.formUnion(found.audioFiles + omissions.map(\.file))
            case .failure:
                // Other programs also store JSON. It is a sidecar if its name matches a sound file or a take.
                let base = name.dropLast(5)
                guard
                    TakeName(stem: String(base), day: "") != nil
                        || Self.endings.contains(where: { there.contains("\(base)\($0)") })
                else { continue }
                listed.formUnion(Self.endings.map { "\(base)\($0)" })
            }
            takes.append(
                Take(path: "\(folder)/\(name)", folder: folder, sidecar: sidecar, only: nil, omissions: omissions))
        }
        for name in names where Self.isAudio(name) && !listed.contains(name) {
            if known.insert("\(folder)/\(name)").inserted { strays.append("\(folder)/\(name)") }
        }
        addUnfinished(names, in: folder, listed)
        for name in names where !name.contains(".") || TakeName.isDay(name) { add(below: "\(folder)/\(name)") }
        for name in names where name.contains(".") && !Self.isAudio(name) && !name.hasSuffix(".json") {
            add(below: "\(folder)/\(name)")
        }
    }

    /// Adds a subfolder, if it is one. Links are not followed, which avoids cycles.
    private mutating func add(below folder: String) {
        do {
            _ = try files.openFolder(folder, followsLink: false)
            try add(folder: folder)
        } catch let failure as Failure {
            failures.append(failure)
        } catch let error as FileError where [ENOENT, ENOTDIR, ELOOP].contains(error.code) {
            // It is not a folder.
        } catch {
            failures.append(Failure(reading: error, "verify"))
        }
    }

    /// Adds the remaining files of unfinished takes: the sound of each, or one other file of a take without sound.
    /// - Parameter others: files that were already named.
    private mutating func addUnfinished(_ names: [String], in folder: String, _ others: Set<String>) {
        var left: [String: [String]] = [:]
        let listing = TakeListing(names, day: "", in: folder, files: files)
        let takes = Dictionary(listing.files.map { ($0.name, $0.take.stem) }) { $1 }
        for name in names.sorted(by: { (Self.isSound($0) ? 0 : 1, $0) < (Self.isSound($1) ? 0 : 1, $1) }) {
            guard !others.contains(name), Self.isUnfinished(name), let take = takes[name] else { continue }
            if Self.isSound(name) || left[take] == nil { left[take, default: []].append(name) }
        }
        for (take, files) in left.sorted(by: { $0.key < $1.key }) {
            for file in files where known.insert("\(folder)/\(file)").inserted {
                unfinished.append(unfinishedFile(file, of: take, in: folder, names))
            }
        }
    }

    /// - Parameter names: the files in the same folder.
    private func unfinishedFile(
        _ file: String, of take: String, in folder: String, _ names: [String]
    ) -> Unfinished {
        var left = Unfinished(take: take, folder: folder, file: file)
        let own =
            TakeName(stem: take, day: "").map { TakeListing.files(of: $0, in: names, folder: folder, files: files) }
            ?? []
        let isDraft = { (name: String) in Self.isUnfinished(name) && !Self.isSound(name) }
        let isFiltered = { (name: String) in Self.isSound(name) && TakeFileName(name)?.isUnfiltered == false }
        if own.contains("\(take).json"), !own.contains(where: isDraft) {
            left.standing = .besideTake
        } else if Self.isSound(file), !own.contains(where: isFiltered) {
            left.standing = .loneTwin
        }
        return left
    }

    /// Whether the name is that of sound, finished or not.
    private static func isSound(_ name: String) -> Bool { name.contains(".wav") || name.hasSuffix(".flac") }

    /// Whether the name is that of an unfinished file. A waveform or FLAC that is or was being made from a finished
    /// take does not count, because it can be made again.
    private static func isUnfinished(_ name: String) -> Bool {
        [".part", ".part.tmp"].contains(where: name.hasSuffix)
            && ![".flac.part", ".dat.part"].contains(where: name.hasSuffix)
    }

    /// The sound next to a sidecar that the sidecar does not list. The list is empty while the take is being recorded.
    private func omissions(_ sidecar: Result<Sidecar, Failure>, in folder: String) throws(Failure) -> [SoundOmission] {
        guard case .success(let sidecar) = sidecar else { return [] }
        do {
            guard case .finished(let omissions) = try sidecar.surroundings(in: folder) else { return [] }
            return omissions
        } catch {
            throw Failure(reading: error, "verify")
        }
    }

    /// The names in a folder that are not hidden, in order.
    private func names(in folder: String) throws(Failure) -> [String] {
        do {
            return try files.entries(folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw Failure(reading: error, "verify")
        }
    }

    /// A sidecar, or nil if the file is the notes of a take or longer than any sidecar.
    private func read(_ folder: String, _ name: String) -> Result<Sidecar, Failure>? {
        guard !name.hasSuffix(".notes.json") else { return nil }
        let path = "\(folder)/\(name)"
        do {
            return .success(try SidecarFile.sidecar(try files.contents(path, limit: 64 << 20), path: path))
        } catch {
            return .failure(Failure(reading: error, "verify"))
        }
    }

    private static func isAudio(_ name: String) -> Bool { endings.contains(where: name.hasSuffix) }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}

/// The take that the recorder is recording now.
struct RecordedTake {
    private let stem: String
    private let folder: FileIdentity

    /// Returns nil if no take is being recorded, or no recorder answers.
    init?(_ session: Session) {
        guard let (status, _) = try? session.askForStatus(.status, timeout: .seconds(5)), status.state == .recording,
            let stem = status.take, let directory = status.directory,
            let folder = try? FileSystem().identity(directory)
        else { return nil }
        self.stem = stem
        self.folder = folder
    }

    /// Whether a file belongs to it. Copies elsewhere do not.
    func isThat(_ left: SoundSearch.Unfinished) -> Bool {
        left.take == stem && (try? FileSystem().identity("\(left.folder)/..")) == folder
    }
}

import ArgumentParser
import Control
import Files
import TakeFiles
import Takes
import Transport

struct RemoteFetch: FieldfareCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Copy takes from a store into a folder, and compare their hashes.",
        discussion: """
            Files that are there already are never overwritten. Sound that the sidecar lists and the store does not have is named, \
            and so is sound that it does not list, or that was accepted as damaged. \
            Exit status 65: a file is missing, or differs.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var store: StoreOptions
    @Option(help: ArgumentHelp("The folder for those of the days; this one unless named.", valueName: "folder"))
    var to = "."
    @Argument(help: ArgumentHelp("A take's stem, its number, or 'last'.", valueName: "take"))
    var takes: [TakeReference]

    func run(in session: Session) throws(Failure) {
        let remote = try session.remote(store)
        let named = try remote.find(takes, for: "remote fetch")
        do throws(FileError) {
            _ = try FileSystem().makeFolder(to)
        } catch {
            throw Failure(exitStatus: 73, "remote fetch: \(error.fact): name a folder with --to that can be made there")
        }
        var fetched: [String] = []
        var missing: [String] = []
        for take in named {
            let sidecar = try take.readSidecar(remote)
            var hashes: [String: String] = [:]
            if let sidecar {
                hashes[sidecar.path] = sidecar.sha256
                for sound in sidecar.content.sounds { hashes["\(take.name.day)/\(sound.file)"] = sound.wholeSHA256 }
                missing += try missingSound(take, sidecar.content, session)
                nameUnproven(take, sidecar.content, session)
            }
            for file in take.files {
                let sound = sidecar?.content.sounds.first { file.path == "\(take.name.day)/\($0.file)" }
                let copy = FetchedFile("\(to)/\(file.path)", sound)
                try copy.write(expecting: hashes[file.path] ?? file.sha256, file.bytes) { receive throws(Failure) in
                    try remote.read(file.path, receive)
                }
                fetched.append(copy.path)
                if !options.json { try session.write(line: copy.path) }
            }
            if sidecar == nil {
                missing.append("\(take.name.day)/\(TakeFile.sidecar(of: take.stem).name)")
                session.console.complain("remote fetch: \(take.stem): it is not complete: no sidecar")
            }
        }
        if options.json {
            try session.write(
                line: JSONValue.object([
                    "files": .array(fetched.map { .string($0) }), "missing": .array(missing.map { .string($0) }),
                ]).description)
        }
        guard missing.isEmpty else {
            let files = missing.count == 1 ? "1 file is" : "\(missing.count) files are"
            throw Failure(exitStatus: 65, "remote fetch: \(files) missing in the store; all others are fetched")
        }
    }

    /// Names sound that cannot be checked because no sidecar lists it, and sound that differs but was accepted by a
    /// person.
    private func nameUnproven(_ take: RemoteTakes.Take, _ sidecar: Sidecar, _ session: Session) {
        for file in take.files where TakeFile(take.name(of: file), of: take.stem)?.isReplaceable == false {
            let sound = sidecar.sounds.first { file.path == "\(take.name.day)/\($0.file)" }
            if sound == nil {
                session.console.complain(
                    "remote fetch: \(file.path): its sidecar does not list it, so it cannot be checked")
            } else if sound?.acceptedSHA256 != nil {
                session.console.complain("remote fetch: \(file.path): is damaged, as a person accepted on the kit")
            }
        }
    }

    /// Names the sound that is missing in the store.
    /// - Returns: the missing files, except those that a person accepted as missing.
    private func missingSound(
        _ take: RemoteTakes.Take, _ sidecar: Sidecar, _ session: Session
    ) throws(Failure) -> [String] {
        let there = Set(take.files.map(\.path))
        var missing: [String] = []
        for file in sidecar.files where !file.isReplaceable {
            let path = "\(take.name.day)/\(file.name)"
            guard !there.contains(path) else { continue }
            if sidecar.isAcceptedMissing(file.name) {
                session.console.complain("remote fetch: \(path): is missing, as a person accepted on the kit")
            } else {
                session.console.complain("remote fetch: \(path): is missing: its sidecar lists it")
                missing.append(path)
            }
        }
        return missing
    }
}

/// A file that is being fetched. It gets its name once it is complete and its hash is right.
private struct FetchedFile {
    let path: String
    /// The sidecar's entry for this sound, or nil if the file is not sound.
    private let sound: RecordedSound?
    private let files = FileSystem()

    init(_ path: String, _ sound: RecordedSound?) {
        self.path = path
        self.sound = sound
    }

    private var draft: String { path + ".part" }

    /// - Parameters:
    ///   - sha256: the expected hash, or nil if unknown.
    ///   - byteCount: the length from the store's list, negative if the list lacks it.
    ///   - body: reads all bytes, and returns their hash.
    func write(
        expecting sha256: String?, _ byteCount: Int64,
        _ body: (([UInt8]) throws(Failure) -> Void) throws(Failure) -> String
    ) throws(Failure) {
        do {
            guard (try? files.openToRead(path)) == nil else {
                throw Failure(exitStatus: 73, "remote fetch: \(path): is there already: name another folder with --to")
            }
            let folder = try files.makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            let file = try files.create(draft, isNew: false)
            var offset: Int64 = 0
            let found: String
            do throws(Failure) {
                found = try body { bytes throws(Failure) in
                    guard byteCount < 0 || Int64(bytes.count) <= byteCount - offset else {
                        try? files.remove(draft)
                        throw Failure(
                            exitStatus: 65,
                            "remote fetch: \(path): is longer than the store lists it: see the store's copy")
                    }
                    do throws(FileError) {
                        try files.write(bytes, to: file, at: offset)
                    } catch {
                        throw Failure(exitStatus: 74, "remote fetch: \(error.fact)")
                    }
                    offset += Int64(bytes.count)
                }
            } catch {
                if offset == 0 { try? files.remove(draft) }
                throw error
            }
            guard sha256 == nil || sha256 == found else {
                throw refused("is not what was recorded: its hash differs")
            }
            if sha256 == nil, let problem = try soundProblem() { throw refused(problem) }
            try files.sync(file)
            try files.move(draft, to: path)
            try files.syncFolder(folder)
        } catch let failure as Failure {
            throw failure
        } catch let error as FileError {
            throw Failure(exitStatus: 74, "remote fetch: \(error.fact)")
        } catch {
            throw Failure(exitStatus: 74, "remote fetch: \(path): \(error)")
        }
    }

    private func refused(_ problem: String) -> Failure {
        try? files.remove(draft)
        return Failure(exitStatus: 65, "remote fetch: \(path): \(problem): see the store's copy")
    }

    /// The difference between the sound and its fingerprint. Nil if they agree, or the sound lacks a fingerprint.
    private func soundProblem() throws(FileError) -> String? {
        guard var sound, let slash = draft.lastIndex(of: "/") else { return nil }
        sound.file = String(draft[draft.index(after: slash)...])
        let folder = String(draft[..<slash])
        guard let finding = try SoundCheck(sound, in: folder).run(), finding.isDamage else { return nil }
        return finding.sentence(sound)
    }
}

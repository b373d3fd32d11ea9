import Digests
package import Takes

/// Limits that a server showed during uploads.
struct SFTPHabits {
    /// Whether the server accepts file names that begin with a dot.
    var takesHidden = true
    var renames = true
}

/// The upload of one file to an SFTP server.
///
/// A file is opened either for writing or for reading, never for both: services that store files as objects refuse
/// that.
struct SFTPUpload {
    let source: UploadSource
    /// The hash of the source, in hexadecimal.
    let sha256: String
    /// The folder of the day.
    let folder: String
    let file: String
    let modified: WallTime?
    let files: SFTPFiles
    /// Nil if attempts are not noted.
    let attempts: UnseenAttempts?
    let habits: Locked<SFTPHabits>
    let report: @Sendable (PutProgress) -> Void

    static let draftSuffix = ".part"

    private var path: String { "\(folder)/\(file)" }

    /// The state of the file's name on the server.
    private enum Presence {
        case nothing
        /// This user may not read the attributes, for this reason.
        case hidden(StoreError)
        case file(SFTPAttributes)
    }

    /// Uploads the file.
    /// - Returns: why the uploaded file could not be compared, or nil if it was compared.
    /// - Throws: `StoreError`; `.conflict` if another file has the name and must not be overwritten.
    func run(_ mode: PutMode) async throws -> StoreError? {
        do {
            let reason = try await deliver(mode)
            await attempts?.end()
            return reason
        } catch let error as StoreError where error.problem == .conflict {
            await attempts?.end()
            throw error
        }
    }

    private func deliver(_ mode: PutMode) async throws -> StoreError? {
        let presence = try await presence()
        let earlier = await attempts?.earlier(sha256)
        var resumes = false
        if case .file(let there) = presence {
            guard there.isFile else { throw conflict }
            resumes = try await isBeginning(there)
            if !resumes {
                let isOfLength = there.byteCount == nil || there.byteCount == source.byteCount
                guard mode.replaces || isOfLength || earlier == .writing else { throw conflict }
                do {
                    let found = try await files.hash(path)
                    if found == sha256 { return nil }
                    guard mode.allows(found) else { throw conflict }
                } catch let error as StoreError where error.problem == .hidden {
                    // A file of the same length that cannot be read is left as it is.
                    if isOfLength, !mode.replaces || mode.allows(sha256) {
                        guard mode.knows(sha256) || there.byteCount == 0 || earlier == .naming || earlier == .writing
                        else { throw conflict }
                        return error
                    }
                }
            }
        }
        try await files.makeFolder(folder)
        guard habits.withLock(\.renames), !resumes else {
            return try await sendDirectly(presence, mode, resumes: resumes, earlier)
        }
        let (draft, reason) = try await sendDraft()
        // If the answer to the next request is lost, only this note distinguishes this file from another kit's.
        if reason != nil, case .nothing = presence { try await attempts?.note(UnseenAttempt(sha256: sha256)) }
        var step = earlier
        switch try await name(draft, presence, mode, &step) {
        case .done:
            try await checkLength()
            return reason
        case .taken:
            // Another file took the name in between.
            guard try await isSame() else { throw conflict }
            try? await files.remove(draft)
            return nil
        case .refused:
            habits.withLock { $0.renames = false }
            try? await files.remove(draft)
            return try await sendDirectly(try await self.presence(), mode, resumes: false, step)
        case .unclear:
            try? await files.remove(draft)
            do {
                return try await sendDirectly(try await self.presence(), mode, resumes: false, step)
            } catch let error as StoreError where error.problem == .conflict {
                // The name is taken. It is the same file if an earlier rename got no answer.
                guard earlier == .naming, !mode.replaces, case .hidden(let hidden) = presence else { throw error }
                return reason ?? hidden
            }
        }
    }

    /// Whether the file that took the name in between has the same content.
    private func isSame() async throws -> Bool {
        do {
            return try await files.hash(path) == sha256
        } catch let error as StoreError where error.problem == .hidden {
            return false
        }
    }

    private var conflict: StoreError {
        StoreError(
            .conflict,
            "outbox: \(files.place(path)): another file of that name is there: it is not overwritten; move it away")
    }

    private func presence() async throws -> Presence {
        do {
            return try await files.attributes(path).map { .file($0) } ?? .nothing
        } catch let error as StoreError where error.problem == .hidden {
            return .hidden(error)
        }
    }

    /// Whether the file on the server is the beginning of this file, as an interrupted upload leaves it on a server
    /// that cannot rename. Writing the rest destroys nothing, even if another program wrote the beginning.
    private func isBeginning(_ there: SFTPAttributes) async throws -> Bool {
        guard let byteCount = there.byteCount, byteCount > 0, byteCount < source.byteCount else { return false }
        var hash = Digest(.sha256)
        return try await beginning(of: path, byteCount, &hash) == byteCount
    }

    /// How many bytes on the server equal the beginning of this file. A file that cannot be read counts as 0 bytes and
    /// is written anew.
    private func beginning(of place: String, _ byteCount: Int64, _ hash: inout Digest) async throws -> Int64 {
        guard byteCount > 0, byteCount <= source.byteCount else { return 0 }
        var begun: Int64 = 0
        do {
            try await files.with(place, .read) { handle in
                _ = try await files.read(handle, of: place, from: 0, to: byteCount) { bytes in
                    guard try await source.bytes(at: begun, count: bytes.count) == bytes else { return false }
                    hash.update(bytes)
                    begun += Int64(bytes.count)
                    return true
                }
            }
        } catch let error as StoreError where [.hidden, .refused, .missing].contains(error.problem) {
            hash = Digest(.sha256)
            return 0
        }
        return begun
    }

    // MARK: Sending

    /// Writes a verified copy under a draft name, which is hidden if the server accepts that.
    /// - Returns: its path, and why it could not be compared.
    private func sendDraft() async throws -> (String, StoreError?) {
        let plain = DraftName.name(of: file, sha256) + Self.draftSuffix
        var refusal: StoreError?
        if habits.withLock(\.takesHidden) {
            let draft = "\(folder)/.\(plain)"
            var opened: Opened?
            do {
                opened = try await open(draft)
            } catch let error as StoreError where [.refused, .busy(nil)].contains(error.problem) {
                refusal = error
            }
            if let opened { return (draft, try await send(to: opened, at: draft)) }
        }
        let draft = "\(folder)/\(plain)"
        let opened: Opened
        do {
            opened = try await open(draft)
        } catch let error as StoreError {
            throw refusal ?? error
        }
        // Only now is it certain that the dot was the reason for the refusal.
        habits.withLock { $0.takesHidden = false }
        return (draft, try await send(to: opened, at: draft))
    }

    /// A file open for writing, and the part of it that is already there.
    private struct Opened {
        var handle: SFTPHandle
        var begun: Int64 = 0
        var hash = Digest(.sha256)
    }

    /// Opens a draft, which may already have the beginning of the file.
    private func open(_ place: String) async throws -> Opened {
        let there: Int64
        do {
            there = try await files.attributes(place)?.byteCount ?? 0
        } catch let error as StoreError where error.problem == .hidden {
            there = 0
        }
        let missing = source.byteCount - (there <= source.byteCount ? there : 0)
        if let space = try await files.space(folder), space.freeBytes < missing {
            throw StoreError(
                .full,
                "outbox: \(files.place(folder)): full: \(StoreError.lack(missing, "sent", free: space.freeBytes))")
        }
        var hash = Digest(.sha256)
        let begun = try await beginning(of: place, there, &hash)
        if begun > 0 {
            do {
                return Opened(handle: try await files.open(place, [.write, .create]), begun: begun, hash: hash)
            } catch let error as StoreError where [.refused, .busy(nil)].contains(error.problem) {
                // Some services write files only from the beginning.
            }
        }
        return Opened(handle: try await files.open(place, [.write, .create, .empty]))
    }

    /// Writes the missing part, and compares the whole file.
    /// - Returns: why the file could not be compared, or nil if it was compared.
    private func send(to opened: Opened, at place: String) async throws -> StoreError? {
        let begun = opened.begun
        var hash = opened.hash
        if begun > 0 { report(.sent(begun)) }
        try await files.closing(opened.handle, of: place) { handle in
            try await files.write(source, from: begun, to: handle, of: place) { report(.sent($0)) }
            try await files.sync(handle, of: place)
        }
        if let seconds = modified?.secondsOfFile { try await files.setTime(place, seconds) }
        report(.verifying)
        var reason: StoreError?
        var read: Int64 = 0
        do {
            // Reads one byte more than expected, to detect a file that is too long.
            try await files.with(place, .read) { handle in
                read = try await files.read(handle, of: place, from: begun, to: source.byteCount + 1) {
                    hash.update($0)
                    return true
                }
            }
        } catch let error as StoreError where error.problem == .hidden {
            reason = error
        }
        guard try await source.sha256() == sha256 else { throw UploadSource.changed(source.path) }
        if let reason { return reason }
        guard begun + read == source.byteCount, hash.bytes.hexadecimal == sha256 else {
            try? await files.remove(place)
            throw StoreError(
                .damaged,
                "outbox: \(files.place(place)): the file read back differs from the sent one: check the disk there")
        }
        return nil
    }

    /// Writes the file directly under its own name, for servers that cannot rename.
    /// - Parameter earlier: the step of an earlier attempt that did not end.
    private func sendDirectly(
        _ presence: Presence, _ mode: PutMode, resumes: Bool, _ earlier: UnseenAttempt.Step?
    ) async throws -> StoreError? {
        if resumes { return try await send(to: try await open(path), at: path) }
        // Decides only where nothing can be read.
        let isOwn = mode.replaces || earlier == .writing
        let replaces: Bool
        switch presence {
        case .nothing: replaces = false
        case .hidden: replaces = isOwn
        case .file:
            // A file that appeared meanwhile must not be overwritten.
            do {
                replaces = try await mode.allows(files.hash(path))
            } catch let error as StoreError where error.problem == .hidden {
                replaces = isOwn
            }
            guard replaces else { throw conflict }
        }
        guard !replaces else {
            return try await send(
                to: Opened(handle: try await files.open(path, [.write, .create, .empty])), at: path)
        }
        try await attempts?.note(UnseenAttempt(sha256: sha256, .making))
        var handle: SFTPHandle
        do {
            handle = try await files.open(path, [.write, .create, .new])
        } catch let error as StoreError where error.problem == .busy(nil) {
            guard case .hidden = presence else { throw error }
            // Overwriting an empty file loses nothing.
            guard earlier == .making || earlier == .naming else { throw conflict }
            handle = try await files.open(path, [.write, .create])
            guard try await files.isEmpty(handle) else {
                _ = files.connection.send(.close(handle))
                throw conflict
            }
        }
        try await attempts?.note(UnseenAttempt(sha256: sha256, .writing))
        // The name was free, and still the draft could not be renamed to it.
        habits.withLock { $0.renames = false }
        return try await send(to: Opened(handle: handle), at: path)
    }

    // MARK: Naming

    /// Gives a draft its name.
    /// - Parameter step: set to `making` if an empty file of this kit reserves the name and the draft could not replace
    ///   it.
    private func name(
        _ draft: String, _ presence: Presence, _ mode: PutMode, _ step: inout UnseenAttempt.Step?
    ) async throws -> SFTPFiles.Renaming {
        switch presence {
        case .file:
            // Another client may have changed the file meanwhile.
            do {
                let found = try await files.hash(path)
                if found == sha256 { return .taken }
                guard mode.allows(found) else { throw conflict }
            } catch let error as StoreError where [.hidden, .missing].contains(error.problem) {}
            return try await files.replace(path, by: draft)
        case .hidden where mode.replaces:
            return files.connection.has(.replace) ? try await files.replace(path, by: draft) : .unclear
        case .hidden: return try await nameUnseen(draft, &step)
        case .nothing:
            guard try await files.attributes(path) == nil else { throw conflict }
            return try await files.rename(draft, to: path)
        }
    }

    /// Gives a draft its name on a server that hides its files. Some servers overwrite the target of a rename, so an
    /// empty file reserves the name first.
    private func nameUnseen(_ draft: String, _ step: inout UnseenAttempt.Step?) async throws -> SFTPFiles.Renaming {
        try await attempts?.note(UnseenAttempt(sha256: sha256, .making))
        var isReserved = true
        do {
            try await files.with(path, [.write, .create, .new]) { _ in }
        } catch let error as StoreError where error.problem == .busy(nil) {
            try await attempts?.note(UnseenAttempt(sha256: sha256, step ?? .making))
            return .unclear
        } catch let error as StoreError where error.problem == .refused {
            // The server refuses to create a file with this name.
            isReserved = false
        }
        try await attempts?.note(UnseenAttempt(sha256: sha256))
        let renaming = try await files.rename(draft, to: path)
        guard isReserved, renaming != .done else { return renaming }
        step = .making
        guard renaming != .refused else { return renaming }
        // The server does not overwrite the target of a rename.
        do {
            try await files.remove(path)
        } catch let error as StoreError where error.problem == .refused {
            return renaming
        }
        step = nil
        return try await files.rename(draft, to: path)
    }

    /// Checks the length of the renamed file. The rename happened just now, so a shorter file is this kit's own.
    private func checkLength() async throws {
        let there: SFTPAttributes?
        do {
            there = try await files.attributes(path)
        } catch let error as StoreError where error.problem == .hidden {
            return
        }
        guard let there, there.byteCount == nil || there.byteCount == source.byteCount else {
            try? await files.remove(path)
            throw StoreError(
                .damaged, "outbox: \(files.place(path)): was sent, but is missing or cut: it will be sent again")
        }
    }
}

extension WallTime {
    /// A modification time for SFTP and HTTP, in seconds since 1970. Nil if the clock was not set, or if the time does
    /// not fit into 32 bits.
    package var secondsOfFile: UInt32? {
        let seconds = microseconds / 1_000_000
        return seconds > 86_400 ? UInt32(exactly: seconds) : nil
    }
}

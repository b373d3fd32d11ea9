import Digests
package import Takes

/// What a server showed that it does otherwise than most.
struct SFTPHabits {
    /// Whether it takes files whose names begin with a dot.
    var takesHidden = true
    /// Whether it renames files.
    var renames = true
}

/// One file on its way to an SFTP server.
///
/// A file is opened to be written or to be read, never for both: services that keep files as objects refuse that.
struct SFTPUpload {
    let source: UploadSource
    /// Of the source, hexadecimal.
    let sha256: String
    /// Of its day.
    let folder: String
    let file: String
    let modified: WallTime?
    let files: SFTPFiles
    /// Nil: attempts are not noted.
    let attempts: UnseenAttempts?
    let habits: Locked<SFTPHabits>
    let report: @Sendable (PutProgress) -> Void

    static let draftSuffix = ".part"

    private var path: String { "\(folder)/\(file)" }

    /// What is at the file's name.
    private enum Presence {
        case nothing
        /// This user may not look, for this reason.
        case hidden(StoreError)
        case file(SFTPAttributes)
    }

    /// Has the file there.
    /// - Returns: why what arrived could not be compared; nil: it was.
    /// - Throws: `StoreError`: `.conflict`: another file is there, which may not be overwritten.
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
                    // One of this length that cannot be read is left as it is.
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
        // If the answer to the next request is lost, nothing else tells this file from another's.
        if reason != nil, case .nothing = presence { try await attempts?.note(UnseenAttempt(sha256: sha256)) }
        var step = earlier
        switch try await name(draft, presence, mode, &step) {
        case .done:
            try await checkLength()
            return reason
        case .taken:
            // Another has come in between.
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
                // The name is taken: by the same file, if an earlier renaming had no answer.
                guard earlier == .naming, !mode.replaces, case .hidden(let hidden) = presence else { throw error }
                return reason ?? hidden
            }
        }
    }

    /// Whether the file that came in between is this one.
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

    /// Whether what is there is the beginning of this file, as a server that cannot rename has it after a cut. To write the rest of it
    /// loses nothing, whoever wrote the beginning.
    private func isBeginning(_ there: SFTPAttributes) async throws -> Bool {
        guard let byteCount = there.byteCount, byteCount > 0, byteCount < source.byteCount else { return false }
        var hash = Digest(.sha256)
        return try await beginning(of: path, byteCount, &hash) == byteCount
    }

    /// How much of this file is the beginning of what is there. What cannot be read is written anew.
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

    /// Has a verified copy under a name of its own: a hidden one, where the server takes such.
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
        // Only now is it known that the dot was the reason.
        habits.withLock { $0.takesHidden = false }
        return (draft, try await send(to: opened, at: draft))
    }

    /// A file that is open to be written, and what of it is there.
    private struct Opened {
        var handle: SFTPHandle
        var begun: Int64 = 0
        var hash = Digest(.sha256)
    }

    /// Opens a draft, which may have the beginning already.
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
                // Some services write files only from their beginning.
            }
        }
        return Opened(handle: try await files.open(place, [.write, .create, .empty]))
    }

    /// Writes what is missing, and compares all of it.
    /// - Returns: why it could not be compared; nil: it was.
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
            // One byte more than there should be.
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
                "outbox: \(files.place(place)): what was read back is not what was sent: check the disk there")
        }
        return nil
    }

    /// Writes the file under its own name, where the server cannot rename.
    /// - Parameter earlier: what an attempt did that did not end.
    private func sendDirectly(
        _ presence: Presence, _ mode: PutMode, resumes: Bool, _ earlier: UnseenAttempt.Step?
    ) async throws -> StoreError? {
        if resumes { return try await send(to: try await open(path), at: path) }
        // Used where nothing can be read.
        let isOwn = mode.replaces || earlier == .writing
        let replaces: Bool
        switch presence {
        case .nothing: replaces = false
        case .hidden: replaces = isOwn
        case .file:
            // One that came meanwhile is not overwritten.
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
            // An empty file has nothing that could be lost.
            guard earlier == .making || earlier == .naming else { throw conflict }
            handle = try await files.open(path, [.write, .create])
            guard try await files.isEmpty(handle) else {
                _ = files.connection.send(.close(handle))
                throw conflict
            }
        }
        try await attempts?.note(UnseenAttempt(sha256: sha256, .writing))
        // The name was free, and yet no draft got it.
        habits.withLock { $0.renames = false }
        return try await send(to: Opened(handle: handle), at: path)
    }

    // MARK: Naming

    /// Gives a draft its name.
    /// - Parameter step: `making` afterwards if the name is reserved by an empty file of this kit, which the draft could not replace.
    private func name(
        _ draft: String, _ presence: Presence, _ mode: PutMode, _ step: inout UnseenAttempt.Step?
    ) async throws -> SFTPFiles.Renaming {
        switch presence {
        case .file:
            // Another may have changed it meanwhile.
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

    /// Gives a draft its name where nothing is shown. Some servers replace what has the new name: it is reserved before, by an empty file.
    private func nameUnseen(_ draft: String, _ step: inout UnseenAttempt.Step?) async throws -> SFTPFiles.Renaming {
        try await attempts?.note(UnseenAttempt(sha256: sha256, .making))
        var isReserved = true
        do {
            try await files.with(path, [.write, .create, .new]) { _ in }
        } catch let error as StoreError where error.problem == .busy(nil) {
            try await attempts?.note(UnseenAttempt(sha256: sha256, step ?? .making))
            return .unclear
        } catch let error as StoreError where error.problem == .refused {
            // It makes no files under this name.
            isReserved = false
        }
        try await attempts?.note(UnseenAttempt(sha256: sha256))
        let renaming = try await files.rename(draft, to: path)
        guard isReserved, renaming != .done else { return renaming }
        step = .making
        guard renaming != .refused else { return renaming }
        // It replaces nothing.
        do {
            try await files.remove(path)
        } catch let error as StoreError where error.problem == .refused {
            return renaming
        }
        step = nil
        return try await files.rename(draft, to: path)
    }

    /// That the renamed file has its length. It was renamed just now: a shorter one is this kit's own.
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
                .damaged, "outbox: \(files.place(path)): was sent, but is not there, or is cut: it is sent again")
        }
    }
}

extension WallTime {
    /// As SFTP and HTTP have times of files; nil: the clock was not set, or it is later than they can say.
    package var secondsOfFile: UInt32? {
        let seconds = microseconds / 1_000_000
        return seconds > 86_400 ? UInt32(exactly: seconds) : nil
    }
}

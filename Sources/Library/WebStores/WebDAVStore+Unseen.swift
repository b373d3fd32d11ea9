import NIOHTTP1
import Takes
import Upload

/// Uploads to a server that does not show its files. Only a request's own condition protects another file from being
/// overwritten.
extension WebDAVStore {
    /// Sends a file and gives it its name. If the answer to an earlier attempt was lost, the name may have the file of
    /// that attempt. It is complete if it was renamed. If it was written directly, it may be a part and is replaced.
    /// - Parameter wasBegun: whether there was such an attempt.
    /// - Returns: why the sent file could not be compared, or nil if that is not known here.
    func deliverUnseen(_ upload: WebDAVUpload, wasBegun: Bool) async throws -> StoreError? {
        let mayBePart = await resume.load(Direct.self, of: upload.object, in: directly)?.sha256 == upload.sha256
        if !wasBegun { try await attempts(of: upload).note(UnseenAttempt(sha256: upload.sha256)) }
        do {
            return try await deliver(upload, to: .unseen)
        } catch let error as StoreError where error.problem == .conflict && wasBegun {
            return mayBePart ? try await deliver(upload, to: .own) : nil
        }
    }

    func attempts(of upload: WebDAVUpload) -> UnseenAttempts {
        UnseenAttempts(resume, of: upload.object, in: name)
    }

    /// Removes the notes about attempts. From now on, a file found there may be another's.
    func forgetAttempts(of upload: WebDAVUpload) async {
        await attempts(of: upload).end()
        await resume.remove(upload.object, in: directly)
    }

    /// Whether an unreadable file of the same length is this kit's own, according to the server's hash, a receipt, or
    /// an attempt without an answer.
    func isOwn(_ there: WebDAVResource, _ upload: WebDAVUpload) async throws -> Bool {
        if there.isFolder { return false }
        if there.byteCount == 0 { return true }
        if let isStated = try await isStated(there, upload) { return isStated }
        if upload.mode.knows(upload.sha256) { return true }
        if await attempts(of: upload).earlier(upload.sha256) != nil { return true }
        return await resume.load(Direct.self, of: upload.object, in: directly)?.sha256 == upload.sha256
    }

    /// A request's condition that prevents overwriting.
    enum Condition {
        /// `Overwrite: F` of MOVE or COPY (RFC 4918, 10.6).
        case naming
        /// `If-None-Match: *` of PUT (RFC 9110, 13.1.2).
        case writing
    }

    /// Whether the server honours a condition. A server that does not know it would overwrite another's file, so it is
    /// tested once with files of this kit.
    func keeps(_ condition: Condition, in day: String) async throws -> Bool {
        if let known = habits.withLock({ $0.keeps[condition] }) { return known }
        try? await makeFolder(day)
        let isKept =
            switch condition {
            case .naming: try await keepsNamed(trial(in: day), by: trial("second.", in: day))
            case .writing: try await keepsWritten(trial(in: day))
            }
        habits.withLock { $0.keeps[condition] = isKept }
        return isKept
    }

    /// - Throws: `.refused` if the server does not honour `If-None-Match` either.
    func checkCondition(in day: String) async throws {
        guard try await !keeps(.writing, in: day) else { return }
        // Both conditions are tested again, because a person may have changed something.
        habits.withLock { $0.keeps = [:] }
        throw server.overwriting
    }

    private static let trial = ".trial\(suffix)"

    /// A file of this kit for trials.
    private func trial(_ mark: String = "", in day: String) -> WebDAVAddress {
        server.folder[day, ".\(kit).\(mark)\(Self.trial.dropFirst())"]
    }

    /// Whether a trial left this file.
    func isTrial(_ file: String) -> Bool { file.hasPrefix(".\(kit).") && file.hasSuffix(Self.trial) }

    private func keepsNamed(_ file: WebDAVAddress, by other: WebDAVAddress) async throws -> Bool {
        for file in [file, other] {
            let answer = try await write(file)
            guard answer.isDone else { throw server.problem(answer, "PUT", file) }
        }
        var moved = try await server.move(other, to: file, overwrites: false)
        if moved == .unknown { moved = try await server.move(other, to: file, overwrites: false, by: .COPY) }
        for file in [file, other] { try? await server.delete(file) }
        return moved == .taken
    }

    private func keepsWritten(_ file: WebDAVAddress) async throws -> Bool {
        var keeps = false
        // The file may be there from an earlier trial.
        for _ in 1...2 where !keeps {
            let answer = try await write(file, headers: [("If-None-Match", "*")])
            keeps = answer.status == 412
            guard answer.isDone || [400, 412, 501].contains(answer.status) else {
                throw server.problem(answer, "PUT", file)
            }
        }
        try? await server.delete(file)
        return keeps
    }

    private func write(_ file: WebDAVAddress, headers: [(String, String)] = []) async throws -> Web.Answer {
        try await server.order(.PUT, file, headers: headers, body: .bytes(Array("trial\n".utf8)))
    }
}

import Digests

/// File operations on a server over one connection. Every failure is a `StoreError` with the place on the server.
struct SFTPFiles: Sendable {
    let connection: SFTPConnection
    let address: SFTPAddress

    /// Bytes for each read or write request. Every server accepts this many.
    static let pieceByteCount = 32 << 10
    /// Concurrent requests for a file: at most 1 MiB in total.
    private static let mostUnderWay = 32

    /// A path on the server, for error sentences.
    func place(_ path: String) -> String { "sftp://\(address.place)\(path.hasPrefix("/") ? path : "/~/\(path)")" }

    /// The attributes of a file or folder, or nil if it does not exist.
    /// - Throws: `StoreError`; `.hidden` if this user may not read them.
    func attributes(_ path: String) async throws -> SFTPAttributes? {
        switch try await connection.ask(.attributes(path)) {
        case .attributes(var attributes):
            if attributes.byteCount == nil, attributes.isFile { attributes.byteCount = try await findLength(of: path) }
            return attributes
        case .status(SFTPStatus.missing): return nil
        case .status(SFTPStatus.denied), .status(SFTPStatus.unsupported): throw hidden(path)
        case let reply: throw problem(reply, path, "be looked at")
        }
    }

    /// Finds the length of a file by reading single bytes, for servers that do not state it.
    /// - Returns: nil if the file cannot be read either.
    private func findLength(of path: String) async throws -> Int64? {
        do {
            return try await with(path, .read) { handle in
                func has(_ offset: Int64) async throws -> Bool {
                    try await !data(connection.ask(.read(handle, at: offset, count: 1)), path).isEmpty
                }
                guard try await has(0) else { return 0 }
                var (last, end) = (Int64(0), Int64(1))
                while end < 1 << 50, try await has(end) { (last, end) = (end, 2 * end) }
                while end - last > 1 {
                    let middle = last + (end - last) / 2
                    if try await has(middle) { last = middle } else { end = middle }
                }
                return end
            }
        } catch let error as StoreError where error.problem != .away {
            return nil
        }
    }

    /// The error if this user may not read the path.
    private func hidden(_ path: String) -> StoreError {
        StoreError(
            .hidden,
            "outbox: \(place(path)): the server does not show it to \(address.user), so that nothing is verified, and no take is "
                + "deleted from the kit: give the user the right to read there")
    }

    /// Sets the modification time. A server that refuses this keeps its own time.
    /// - Parameter seconds: since 1970.
    func setTime(_ path: String, _ seconds: UInt32) async throws {
        _ = try await connection.ask(.setTime(path, seconds))
    }

    /// Creates a folder and its missing parents.
    func makeFolder(_ path: String) async throws {
        let found: SFTPAttributes?
        do {
            found = try await attributes(path)
        } catch let error as StoreError where error.problem == .hidden {
            // The folder may exist. The next write shows it.
            _ = try await connection.ask(.makeFolder(path))
            return
        }
        if let there = found {
            guard there.isFolder || there.mode == nil else {
                throw StoreError(.refused, "outbox: \(place(path)): not a folder: see url in [outbox.sftp]")
            }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try await makeFolder(String(path[..<slash])) }
        let reply = try await connection.ask(.makeFolder(path))
        if case .status(SFTPStatus.done) = reply { return }
        // Another client may have created it in between.
        let isThere = try await attributes(path)?.isFolder ?? false
        guard isThere else { throw await failure(reply, path, "be made") }
    }

    /// The files of a folder that `isWanted` accepts; empty if the folder does not exist.
    func entries(_ path: String, where isWanted: (SFTPEntry) -> Bool) async throws -> [SFTPEntry] {
        let handle: SFTPHandle
        switch try await connection.ask(.openFolder(path)) {
        case .handle(let opened): handle = opened
        case .status(SFTPStatus.missing): return []
        case let reply: throw problem(reply, path, "be listed")
        }
        defer { _ = connection.send(.close(handle)) }
        var found: [SFTPEntry] = []
        // The limit protects against a server whose list never ends.
        for _ in 0..<10_000 {
            switch try await connection.ask(.readFolder(handle)) {
            case .names(let names): found += names.filter(isWanted)
            case .status(SFTPStatus.end): return found
            case let reply: throw problem(reply, path, "be listed")
            }
            guard found.count <= 100_000 else { break }
        }
        throw StoreError(.refused, "outbox: \(place(path)): has more files than can be listed: look what is there")
    }

    /// Removes a file, if it exists.
    func remove(_ path: String) async throws {
        switch try await connection.ask(.remove(path)) {
        case .status(SFTPStatus.done), .status(SFTPStatus.missing): return
        case let reply: throw problem(reply, path, "be deleted")
        }
    }

    /// - Throws: `StoreError`; `.missing` if the file does not exist, `.hidden` if this user may not read it.
    func open(_ path: String, _ opening: SFTPOpening) async throws -> SFTPHandle {
        switch try await connection.ask(.open(path, opening)) {
        case .handle(let opened): return opened
        case .status(SFTPStatus.missing) where !opening.contains(.create):
            throw StoreError(.missing, "outbox: \(place(path)): no such file")
        case .status(SFTPStatus.denied) where opening == .read, .status(SFTPStatus.unsupported) where opening == .read:
            throw hidden(path)
        case let reply: throw await failure(reply, path, opening.contains(.write) ? "be written" : "be read")
        }
    }

    /// Opens a file, and closes it after `body`.
    /// - Throws: `StoreError`; `.missing` if the file does not exist, `.hidden` if this user may not read it.
    func with<Result>(_ path: String, _ opening: SFTPOpening, _ body: (SFTPHandle) async throws -> Result) async throws
        -> Result
    {
        try await closing(try await open(path, opening), of: path, body)
    }

    /// Uses an open file, and closes it afterwards.
    func closing<Result>(
        _ handle: SFTPHandle, of path: String, _ body: (SFTPHandle) async throws -> Result
    ) async throws -> Result {
        let result: Result
        do {
            result = try await body(handle)
        } catch {
            _ = connection.send(.close(handle))
            throw error
        }
        let reply = try await connection.ask(.close(handle))
        guard case .status(SFTPStatus.done) = reply else { throw await failure(reply, path, "be written") }
        return result
    }

    /// Reads a part of a file.
    /// - Parameter receive: receives the bytes in order, 32 KiB at a time; returns false to stop.
    /// - Returns: the number of bytes received, which is smaller if the file is shorter.
    @discardableResult
    func read(
        _ handle: SFTPHandle, of path: String, from start: Int64, to end: Int64,
        _ receive: ([UInt8]) async throws -> Bool
    ) async throws -> Int64 {
        var underWay: [(count: Int, answer: SFTPAnswer)] = []
        var (asked, received) = (start, start)
        while received < end {
            while asked < end, underWay.count < Self.mostUnderWay {
                let count = Int(min(Int64(Self.pieceByteCount), end - asked))
                underWay.append((count, connection.send(.read(handle, at: asked, count: count))))
                asked += Int64(count)
            }
            let (count, answer) = underWay.removeFirst()
            var bytes = try data(await answer.value(), path)
            while bytes.count < count {
                // A server may send fewer bytes than requested, also before the end of the file.
                let request = SFTPRequest.read(
                    handle, at: received + Int64(bytes.count), count: count - bytes.count)
                let more = try data(await connection.ask(request), path)
                guard !more.isEmpty else { break }
                bytes += more
            }
            received += Int64(bytes.count)
            guard !bytes.isEmpty, try await receive(bytes), bytes.count == count else { break }
        }
        return received - start
    }

    /// The bytes of an answer; empty at the end of the file.
    private func data(_ reply: SFTPReply, _ path: String) throws -> [UInt8] {
        switch reply {
        case .data(let bytes): return bytes
        case .status(SFTPStatus.end): return []
        case .status(SFTPStatus.denied), .status(SFTPStatus.unsupported): throw hidden(path)
        default: throw problem(reply, path, "be read")
        }
    }

    /// Whether an open file is empty; false if the server does not say.
    func isEmpty(_ handle: SFTPHandle) async throws -> Bool {
        guard case .attributes(let found) = try await connection.ask(.openAttributes(handle)) else { return false }
        return found.byteCount == 0
    }

    /// The SHA-256 of a file, in hexadecimal.
    func hash(_ path: String) async throws -> String {
        var hash = Digest(.sha256)
        let end = try await attributes(path)?.byteCount ?? .max
        try await with(path, .read) { handle in
            _ = try await read(handle, of: path, from: 0, to: end) {
                hash.update($0)
                return true
            }
        }
        return hash.bytes.hexadecimal
    }

    /// Writes the source from `start` on.
    /// - Parameter report: receives how many bytes of the file the server has.
    func write(
        _ source: UploadSource, from start: Int64, to handle: SFTPHandle, of path: String,
        _ report: (Int64) -> Void
    ) async throws {
        var underWay: [(end: Int64, answer: SFTPAnswer)] = []
        var sent = start
        while sent < source.byteCount || !underWay.isEmpty {
            if sent < source.byteCount, underWay.count < Self.mostUnderWay {
                let bytes = try await source.piece(at: sent, count: Self.pieceByteCount)
                try Task.checkCancellation()
                let answer = connection.send(.write(handle, at: sent, bytes))
                sent += Int64(bytes.count)
                underWay.append((sent, answer))
                continue
            }
            let (end, answer) = underWay.removeFirst()
            let reply = try await answer.value()
            guard case .status(SFTPStatus.done) = reply else { throw await failure(reply, path, "be written") }
            report(end)
        }
    }

    /// Syncs a file to the server's disk, if the server can do that.
    func sync(_ handle: SFTPHandle, of path: String) async throws {
        guard connection.has(.sync) else { return }
        switch try await connection.ask(.sync(handle)) {
        case .status(SFTPStatus.done), .status(SFTPStatus.unsupported): return
        case let reply: throw await failure(reply, path, "be written")
        }
    }

    func rename(_ path: String, to other: String) async throws -> Renaming {
        let reply = try await connection.ask(.rename(path, other))
        switch reply {
        case .status(SFTPStatus.done): return .done
        // OpenSSH reports only "failure".
        case .status(SFTPStatus.failure), .status(SFTPStatus.exists):
            do {
                if try await attributes(other) != nil { return .taken }
            } catch let error as StoreError where error.problem == .hidden {
                return .unclear
            }
        case .status(SFTPStatus.unsupported), .status(SFTPStatus.denied): return .refused
        default: break
        }
        let error = await failure(reply, path, "be renamed")
        guard case .busy = (error as? StoreError)?.problem else { throw error }
        return .refused
    }

    enum Renaming {
        case done
        /// The new name exists already.
        case taken
        /// The server refuses to rename this file, or any file.
        case refused
        /// Either the name is taken or the server cannot rename. This user may not read which.
        case unclear
    }

    /// Replaces a file by another one.
    func replace(_ other: String, by path: String) async throws -> Renaming {
        if connection.has(.replace) {
            let reply = try await connection.ask(.replace(path, other))
            switch reply {
            case .status(SFTPStatus.done): return .done
            case .status(SFTPStatus.unsupported), .status(SFTPStatus.denied): return .refused
            default: throw await failure(reply, other, "be replaced")
            }
        }
        try await remove(other)
        return try await rename(path, to: other)
    }

    /// The free space of a folder's file system, or nil if the server does not say.
    func space(_ path: String) async throws -> SFTPSpace? {
        guard connection.has(.space), case .space(let space) = try await connection.ask(.space(path)) else {
            return nil
        }
        return space
    }

    /// The error for a failed write. The answer does not say whether the disk is full, so the free space is requested.
    private func failure(_ reply: SFTPReply, _ path: String, _ what: String) async -> any Error {
        if case .status(SFTPStatus.failure) = reply {
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            let space = try? await space(folder.isEmpty ? "/" : folder)
            if let space, space.isReadOnly {
                return StoreError(.refused, "outbox: \(place(path)): cannot \(what): the disk there is read-only")
            }
            if let space, space.freeBytes < 1 << 20 || !space.hasFreeFiles {
                return StoreError(
                    .full, "outbox: \(place(path)): cannot \(what): the disk there is full: free some space there")
            }
        }
        return problem(reply, path, what)
    }

    private func problem(_ reply: SFTPReply, _ path: String, _ what: String) -> StoreError {
        func error(_ problem: StoreError.Problem, _ sentence: String) -> StoreError {
            StoreError(problem, "outbox: \(place(path)): cannot \(what): \(sentence)")
        }
        guard case .status(let code) = reply else {
            return error(.refused, "the server's answer does not fit: see its log")
        }
        switch code {
        case SFTPStatus.denied: return error(.refused, "\(address.user) has no right to it on the server")
        case SFTPStatus.missing: return error(.away, "it is not there any more")
        case SFTPStatus.unsupported: return error(.refused, "the server does not know how")
        case SFTPStatus.full, SFTPStatus.overQuota:
            return error(.full, "the disk or the quota there is full: free some space there")
        default: return error(.busy(nil), "the server reports a failure (\(code)): see its log if it repeats")
        }
    }
}

import Upload

/// Uploads directly to the final name, for servers that can neither move nor copy, or whose rename would overwrite an
/// existing file.
extension WebDAVStore {
    /// - Returns: why the file could not be compared, or nil if it was compared.
    func sendDirectly(_ upload: WebDAVUpload, to target: NameState) async throws -> StoreError? {
        if target == .unseen { try await checkCondition(in: upload.object.day) }
        try? await makeFolder(upload.object.day)
        let place = place(of: upload.object)
        // After an interruption, this note shows that the file is this kit's own.
        try await resume.save(Direct(sha256: upload.sha256), of: upload.object, in: directly)
        do {
            let stated = try await sendWhole(
                upload, to: place, headers: target == .own ? [] : [("If-None-Match", "*")])
            let reason = try await compared(upload, at: place, stated: stated)
            await resume.remove(upload.object, in: directly)
            return reason
        } catch let error as StoreError where [.damaged, .unreadable].contains(error.problem) {
            do {
                try await server.delete(place)
            } catch {
                // The next attempt recognises the file by this hash.
                let left = try? await server.sha256(of: place, byteCount: upload.source.byteCount)
                try await resume.save(Direct(sha256: upload.sha256, left: left), of: upload.object, in: directly)
            }
            throw error
        } catch let error as StoreError where error.problem == .conflict {
            // The same request may have succeeded before, and its answer may have been lost.
            let hasArrived: Bool
            do {
                hasArrived = try await self.hasArrived(upload, at: place)
            } catch let hidden as StoreError where hidden.problem == .hidden {
                throw error
            }
            await resume.remove(upload.object, in: directly)
            guard hasArrived else { throw error }
            return nil
        }
    }

    /// A note that a file is being sent directly to its own name.
    struct Direct: Codable {
        var sha256: String
        /// The SHA-256, in hexadecimal, of a damaged file that could not be deleted; nil if there is none.
        var left: String?
    }

    var directly: String { "\(name) (directly)" }

    /// Whether an attempt of this kit left the file: the beginning of the source, or a damaged file. The content is
    /// compared, because the length alone could match another's file. If it cannot be read, an attempt without an
    /// answer is the only evidence.
    /// - Parameter found: the hash of the file, or nil if it was not computed.
    func isOwnRest(
        _ there: WebDAVResource, _ upload: WebDAVUpload, _ found: String?
    ) async throws -> Bool {
        guard !there.isFolder, let rest = await resume.load(Direct.self, of: upload.object, in: directly) else {
            return false
        }
        if let left = rest.left, left == found { return true }
        guard rest.sha256 == upload.sha256, let byteCount = there.byteCount, byteCount < upload.source.byteCount
        else { return false }
        return try await isBeginning(of: upload.source, place(of: upload.object), byteCount)
    }

    /// Whether a file of this length is the beginning of the source; true if it cannot be read.
    private func isBeginning(
        of source: UploadSource, _ place: WebDAVAddress, _ byteCount: Int64
    ) async throws -> Bool {
        struct Other: Error {}
        var begun: Int64 = 0
        do {
            try await server.read(place) { piece in
                guard try await source.bytes(at: begun, count: piece.count) == piece else { throw Other() }
                begun += Int64(piece.count)
            }
        } catch is Other {
            return false
        } catch let error as StoreError where error.problem == .hidden {
            return true
        } catch let error as StoreError where error.problem == .missing {
            return false
        }
        return begun == byteCount
    }
}

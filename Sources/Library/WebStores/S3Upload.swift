import Digests
import FoundationEssentials
import NIOHTTP1
import Upload

/// The division of a file into parts.
struct S3Parts: Equatable, Sendable {
    let byteCount: Int64
    let partByteCount: Int64

    /// Files up to this length are sent whole. S3 accepts parts from 5 MiB on. After an interruption, an incomplete
    /// part is sent again.
    static let usual: Int64 = 8 << 20
    /// The limit of S3.
    static let most: Int64 = 10_000

    init(byteCount: Int64) {
        self.byteCount = byteCount
        let least = (byteCount + Self.most - 1) / Self.most
        let mebibyte: Int64 = 1 << 20
        partByteCount = max(Self.usual, (least + mebibyte - 1) / mebibyte * mebibyte)
    }

    var count: Int { Int((byteCount + partByteCount - 1) / partByteCount) }

    /// The bytes of a part; numbers begin at 1.
    func range(of number: Int) -> Range<Int64> {
        let offset = min(byteCount, Int64(number - 1) * partByteCount)
        return offset..<min(byteCount, offset + partByteCount)
    }
}

/// The state needed to resume a multipart upload.
struct S3Upload: Codable, Equatable, Sendable {
    /// The server's upload ID.
    var id: String
    /// The hash of the whole file, in hexadecimal. It is also in the metadata sent at the start.
    var sha256: String
    var byteCount: Int64
    var parts: [Part] = []

    /// A part that the server has.
    struct Part: Codable, Equatable, Sendable {
        var number: Int
        /// The `ETag`, which the completing request repeats. It is not treated as a hash.
        var tag: String
        /// Hexadecimal.
        var sha256: String
    }

    mutating func add(_ part: Part) {
        parts.removeAll { $0.number == part.number }
        parts.append(part)
    }

    /// The body of the request that completes the upload.
    func completion(withChecksums: Bool) -> [UInt8] {
        let parts = parts.sorted { $0.number < $1.number }.map {
            let checksum = Self.base64(hexadecimal: $0.sha256)
            return "<Part><ETag>\(WebXML.escaped($0.tag))</ETag><PartNumber>\($0.number)</PartNumber>"
                + (withChecksums ? "<ChecksumSHA256>\(checksum)</ChecksumSHA256></Part>" : "</Part>")
        }
        return Array(
            ("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(parts.joined())"
                + "</CompleteMultipartUpload>").utf8)
    }

    /// A hash in the form of the checksum headers.
    static func base64(hexadecimal: String) -> String { Data(bytes(hexadecimal: hexadecimal)).base64EncodedString() }

    static func bytes(hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// Sends one file in parts, and resumes an earlier attempt.
struct S3UploadRun {
    let bucket: S3Bucket
    let resume: ResumeStates
    let store: String
    let object: ObjectName
    let key: String
    let source: UploadSource
    let metadata: ObjectMetadata
    let prints: S3Prints
    let report: @Sendable (PutProgress) -> Void
    /// Whether this kit may not read the object.
    var isUnseen = false
    /// Whether the object is still the one from the start of the upload, or still missing.
    let mayComplete: @Sendable () async throws -> Bool

    /// - Parameters:
    ///   - headers: the object's headers, sent with the first request.
    ///   - condition: sent with the last request.
    /// - Returns: the object's tag.
    func send(headers: [(name: String, value: String)], condition: [(name: String, value: String)]) async throws
        -> String?
    {
        do {
            return try await attempt(headers, condition)
        } catch let failure as S3Failure where failure.isOfUpload {
            await resume.remove(object, in: store)
            return try await attempt(headers, condition)
        }
    }

    private func attempt(
        _ headers: [(name: String, value: String)], _ condition: [(name: String, value: String)]
    ) async throws -> String? {
        let earlier = try await resumed()
        var upload: S3Upload
        if let earlier { upload = earlier.0 } else { upload = try await begun(headers) }
        let listed = earlier?.1 ?? [:]
        let layout = S3Parts(byteCount: source.byteCount)
        for (number, part) in zip(1..., prints.parts) {
            let sha256 = part.sha256.map(\.hexadecimal) ?? metadata.sha256
            let range = layout.range(of: number)
            let md5 = part.md5
            if let there = listed[number], there.byteCount == range.upperBound - range.lowerBound,
                there.isOf(sha256, upload.parts.first { $0.number == number })
            {
                upload.add(.init(number: number, tag: there.tag, sha256: sha256))
                report(.sent(range.upperBound))
            } else {
                let tag = try await send(range, number, of: upload, sha256, md5)
                upload.add(.init(number: number, tag: tag, sha256: sha256))
                try await resume.save(upload, of: object, in: store)
            }
        }
        // A server that ignores the condition would overwrite an object that another client sent meanwhile.
        guard try await mayComplete() else {
            await abort(upload)
            throw S3Failure.ofCondition
        }
        let tag = try await complete(upload, condition)
        await resume.remove(object, in: store)
        return tag
    }

    private func begun(_ headers: [(name: String, value: String)]) async throws -> S3Upload {
        let document = try await bucket.document(
            "InitiateMultipartUpload",
            .init(
                method: .POST, key: key, query: [("uploads", "")],
                // `tidy` aborts a second upload that a repeated request starts.
                headers: headers + [("x-amz-checksum-algorithm", "SHA256")], mayRepeat: true))
        guard let id = document["UploadId"], !id.isEmpty else {
            throw StoreError(
                .refused,
                "outbox: \(bucket.address.place): begins an upload in parts, but gives it no name: see its server")
        }
        let upload = S3Upload(id: id, sha256: metadata.sha256, byteCount: source.byteCount)
        try await resume.save(upload, of: object, in: store)
        return upload
    }

    /// A part as the server lists it.
    private struct Listed {
        var tag: String
        var byteCount: Int64
        /// In base64, or nil if the server stores none.
        var checksum: String?

        /// Whether the part has this hash, according to the server now or when the part was sent.
        func isOf(_ sha256: String, _ sent: S3Upload.Part?) -> Bool {
            if let checksum { return checksum == S3Upload.base64(hexadecimal: sha256) }
            return sent?.sha256 == sha256 && sent?.tag == tag
        }
    }

    private func resumed() async throws -> (S3Upload, [Int: Listed])? {
        guard let upload = await resume.load(S3Upload.self, of: object, in: store) else { return nil }
        guard upload.sha256 == metadata.sha256, upload.byteCount == source.byteCount else {
            await abort(upload)
            return nil
        }
        do {
            return (upload, try await parts(of: upload))
        } catch let failure as S3Failure where failure.isOfUpload || failure.status == 404 {
            await resume.remove(object, in: store)
            return nil
        } catch let failure as S3Failure where [403, 405, 501].contains(failure.status) {
            // This key may not list parts, or the server cannot. The server compares the sent parts when the upload
            // completes.
            let layout = S3Parts(byteCount: upload.byteCount)
            let parts = upload.parts.map {
                let range = layout.range(of: $0.number)
                return ($0.number, Listed(tag: $0.tag, byteCount: range.upperBound - range.lowerBound))
            }
            return (upload, Dictionary(parts) { _, last in last })
        }
    }

    private func parts(of upload: S3Upload) async throws -> [Int: Listed] {
        let layout = 1...S3Parts(byteCount: upload.byteCount).count
        var parts: [Int: Listed] = [:]
        var after = 0
        while true {
            let marker = after > 0 ? [(name: "part-number-marker", value: String(after))] : []
            let page = try await bucket.document(
                "ListParts", .init(method: .GET, key: key, query: [("uploadId", upload.id)] + marker))
            for part in page.all("Part") {
                // Other part numbers do not belong to this file. Skipping them also bounds the memory for an endless
                // list.
                guard let number = part["PartNumber"].flatMap({ Int($0) }), layout.contains(number),
                    let tag = part["ETag"], let byteCount = part["Size"].flatMap({ Int64($0) })
                else { continue }
                parts[number] = Listed(tag: tag, byteCount: byteCount, checksum: part["ChecksumSHA256"])
            }
            guard page["IsTruncated"] == "true", let next = page["NextPartNumberMarker"].flatMap({ Int($0) }),
                next > after, next < layout.upperBound
            else { return parts }
            after = next
        }
    }

    /// - Returns: the part's tag.
    private func send(
        _ range: Range<Int64>, _ number: Int, of upload: S3Upload, _ sha256: String, _ md5: [UInt8]
    ) async throws -> String {
        let answer = try await bucket.ask(
            .init(
                method: .PUT, key: key, query: [("partNumber", String(number)), ("uploadId", upload.id)],
                headers: S3Store.checksum(sha256),
                body: .part(source, range, sha256: sha256, md5: md5) { report(.sent($0)) }))
        guard let tag = answer.headers.first(name: "etag") else {
            throw StoreError(.refused, "outbox: \(bucket.address.place): gives a part no ETag: see its server")
        }
        return tag
    }

    /// - Returns: the object's tag.
    private func complete(
        _ upload: S3Upload, _ condition: [(name: String, value: String)]
    ) async throws -> String? {
        do {
            return try await bucket.document(
                "CompleteMultipartUpload",
                .init(
                    method: .POST, key: key, query: [("uploadId", upload.id)],
                    headers: [("content-type", "application/xml")] + condition,
                    body: .bytes(upload.completion(withChecksums: !bucket.refuses("x-amz-checksum-algorithm"))),
                    needsCondition: isUnseen && !condition.isEmpty))["ETag"]
        } catch let failure as S3Failure where failure.isOfCondition {
            await abort(upload)
            throw failure
        } catch let failure as S3Failure where failure.isOfParts {
            await abort(upload)
            throw StoreError(
                .damaged, "outbox: \(bucket.address.place)/\(key): the server lost parts of it (\(failure.code))")
        }
    }

    /// Removes an upload's state and its parts on the server. If the request fails, `tidy` aborts the upload later.
    private func abort(_ upload: S3Upload) async {
        await resume.remove(object, in: store)
        _ = try? await bucket.ask(.init(method: .DELETE, key: key, query: [("uploadId", upload.id)]))
    }
}

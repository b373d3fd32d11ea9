import Digests
import Files
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// Counts how often a file is read until a store has it, including the read for its hash.
@Suite(.serialized, .needsServers)
struct ReadsTests {
    private let trial: StoreTrial

    init() throws { trial = try StoreTrial() }

    /// Sends a short and a long file without a noted SHA-256, and then two with one.
    /// - Returns: the number of reads of each file, in this order.
    private func reads(_ store: any Store) async throws -> [Double] {
        var found: [Double] = []
        for isNoted in [false, true] {
            for byteCount in [100_000, 9_000_000] {
                let file = "heron07-004\(found.count)-061811Z.wav"
                let path = try trial.file(file, byteCount: byteCount, seed: UInt64(found.count))
                let sha256 = try Digest.sha256([UInt8](Data(contentsOf: URL(filePath: path)))).hexadecimal
                let counted = CountedReads()
                let source = try await UploadSource(
                    path: path, sha256: isNoted ? sha256 : nil,
                    reader: DiskReader(files: FileSystem(calls: counted), name: "reader"))
                let hashes = isNoted ? ContentHashes(sha256: sha256) : try await source.hashes(for: store)
                let metadata = ObjectMetadata(
                    title: "heron07-0042-061811Z", started: "2026-11-21T06:18:11.250000Z", duration: 12.5,
                    kit: "heron07", waveform: "", sha256: hashes.sha256)
                _ = try await store.put(source, hashes.checksum, as: trial.name(file), metadata, mode: .create) { _ in }
                found.append(Double(counted.take()) / Double(byteCount))
            }
        }
        return found
    }

    @Test("S3: a file is read to be hashed, and to be sent")
    func s3() async throws {
        let (server, web) = (try S3Server(), try Web())
        do {
            let store = try S3Store(server.settings(), web: web, resume: trial.resume, kit: "heron07")
            #expect(try await reads(store) == [2, 2, 2, 2])
        } catch {
            await web.close()
            throw error
        }
        await web.close()
    }

    @Test("Firebase: a file is read to be hashed, and to be sent")
    func firebase() async throws {
        let servers = try FirebaseServers()
        #expect(try await reads(servers.store()) == [2, 2, 2, 2])
    }

    @Test("WebDAV: a file is read to be hashed unless that is noted, to be sent, and for a server that has SHA-1 alone")
    func webDAV() async throws {
        for (options, counts) in [([], [2, 2, 1, 1]), (["sums"], [3, 3, 2, 2])] as [([String], [Double])] {
            let server = try WebDAVTestServer.nextcloud(options)
            let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
            #expect(try await reads(store) == counts, "\(options)")
        }
    }
}

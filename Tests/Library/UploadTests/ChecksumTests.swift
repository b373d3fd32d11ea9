import Digests
import Files
import Foundation
import StoreTrials
import Testing

@testable import Upload

/// The SHA-256 of a file, and the checksum that a store wants.
struct ChecksumTests {
    private static let byteCount = 300_001

    private let trial: StoreTrial
    private let reads = CountedReads()
    private let reader: DiskReader
    private let path: String
    private let sha256: String
    private let crc: UInt32

    init() throws {
        trial = try StoreTrial()
        reader = try DiskReader(files: FileSystem(calls: reads), name: "reader")
        path = try trial.file("a", byteCount: Self.byteCount)
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        sha256 = Digest.sha256(bytes).hexadecimal
        var whole = CRC32C()
        whole.update(bytes)
        crc = whole.value
    }

    private func source(sha256: String? = nil) async throws -> UploadSource {
        try await UploadSource(path: path, sha256: sha256, reader: reader)
    }

    /// A store that compares a CRC-32C, or no checksum.
    private struct Wanting: FolderFront {
        let folder: FolderStore
        let isWanting: Bool

        func wantedChecksum(byteCount: Int64) -> (any Checksum)? { isWanting ? CRC32C() : nil }
    }

    private func store(isWanting: Bool) throws -> Wanting {
        let folder = try FolderStore(name: "folder:home", path: "\(trial.folder)/home", kit: "heron07")
        return Wanting(folder: folder, isWanting: isWanting)
    }

    @Test(arguments: [true, false])
    func `a file is read once for its hash and for the checksum that its store wants`(isWanting: Bool) async throws {
        let source = try await source()
        let hashes = try await source.hashes(for: store(isWanting: isWanting))
        #expect(hashes.sha256 == sha256)
        #expect((hashes.checksum as? CRC32C)?.value == (isWanting ? crc : nil))
        #expect(reads.take() == Self.byteCount)
        // Known sums are returned without a read.
        #expect(try await source.sha256() == sha256)
        if isWanting { #expect(try await source.checksum(CRC32C(), known: hashes.checksum).value == crc) }
        #expect(reads.take() == 0)
    }

    @Test func `a source keeps no checksum, and a file that changed since it was hashed has none`() async throws {
        let source = try await source()
        for _ in 0..<2 {
            #expect(try await source.checksum(CRC32C(), known: nil).value == crc)
            #expect(reads.take() == Self.byteCount)
        }
        let other = try await self.source(sha256: String(repeating: "0", count: 64))
        await trial.expectProblem(.unreadable) { _ = try await other.checksum(CRC32C(), known: nil) }
    }
}

import Files
import Glibc
import TakeFiles
import Takes

/// Compares the sound of a file in a store with the sidecar in the store, while the file is read back.
struct RemoteSound {
    private let recorded: RecordedSound
    private var content: Content

    private enum Content {
        case wav(WAVSound)
        /// FLAC is decoded from a file.
        case flac(TemporaryFile)
    }

    init(_ recorded: RecordedSound) throws(Failure) {
        self.recorded = recorded
        content = recorded.file.hasSuffix(".flac") ? .flac(try TemporaryFile(recorded.file)) : .wav(WAVSound())
    }

    mutating func add(_ bytes: [UInt8]) throws(Failure) {
        switch content {
        case .wav(var sound):
            sound.update(bytes)
            content = .wav(sound)
        case .flac(let file): try file.add(bytes)
        }
    }

    /// The difference, after all bytes were added. Nil if the sound is right, or lacks a fingerprint.
    func problem() throws(Failure) -> String? {
        let finding: SoundFinding?
        switch content {
        case .wav(let sound): finding = recorded.finding(sound.outcome)
        case .flac(let file):
            do {
                finding = try SoundCheck(recorded, in: file.folder).run()
            } catch {
                throw Failure(exitStatus: 74, "remote verify: \(error.fact)")
            }
        }
        guard let finding, finding.isDamage else { return nil }
        return finding.sentence(recorded)
    }
}

extension RecordedSound {
    /// The problem that the length and the sidecar show, or nil.
    /// - Parameter byteCount: negative if the store does not report it.
    func problem(ofLength byteCount: Int64) -> String? {
        if acceptedSHA256 != nil { return "not what was recorded: a person accepted it as it is" }
        let sound = frames * Int64(format.bytesPerFrame)
        guard byteCount >= 0, file.hasSuffix(".wav"), byteCount < sound else { return nil }
        return "it is cut: it has \(byteCount) bytes, and \(sound) bytes of sound were recorded"
    }
}

/// A file in a folder of its own, which is removed with the last reference.
private final class TemporaryFile {
    let folder: String
    private let file: OpenFile
    private var byteCount: Int64 = 0
    private static let files = FileSystem()

    /// - Parameter name: of the file, which lies in `/var/tmp`, because that is on a disk with room for a take.
    init(_ name: String) throws(Failure) {
        var template = Array("/var/tmp/fieldfare-XXXXXX".utf8CString)
        // Safe: the array ends with a zero byte, and lives as long as the call runs.
        let isMade = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
        guard isMade else { throw Failure(exitStatus: 73, "remote verify: cannot make a folder in /var/tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(FileError) {
            file = try Self.files.create("\(folder)/\(name)", isNew: true)
        } catch {
            throw Failure(exitStatus: 73, "remote verify: \(error.fact)")
        }
    }

    deinit {
        try? Self.files.remove(file.path)
        try? Self.files.removeFolder(folder)
    }

    func add(_ bytes: [UInt8]) throws(Failure) {
        do throws(FileError) {
            try Self.files.write(bytes, to: file, at: byteCount)
        } catch {
            throw Failure(exitStatus: 74, "remote verify: \(error.fact)")
        }
        byteCount += Int64(bytes.count)
    }
}

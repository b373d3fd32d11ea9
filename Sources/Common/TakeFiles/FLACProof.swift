import Files
import Glibc
import Takes

/// Compares a FLAC file that a sidecar lists with the WAV file next to it, in slices, to find out which one holds the
/// recorded sound.
final class FLACProof {
    enum Verdict: Hashable {
        /// The FLAC holds the recorded sound.
        case flac
        /// The FLAC does not hold the recorded sound, and the WAV does.
        case wav
        /// Neither file is proved to hold the recorded sound.
        case neither
    }

    /// The sound as the sidecar lists the FLAC file.
    let recorded: RecordedSound

    private let folder: String
    private let files: FileSystem
    private var phase: Phase

    private enum Phase {
        case flac(SoundCheck)
        /// Read the WAV, and compare it with the fingerprint. Without a fingerprint, compare it with the FLAC.
        case wav(SoundCheck, flac: SoundFinding)
    }

    /// - Parameters:
    ///   - recorded: lists a FLAC file.
    ///   - folder: the folder that contains both files.
    init(_ recorded: RecordedSound, in folder: String, files: FileSystem) {
        self.recorded = recorded
        self.folder = folder
        self.files = files
        phase = .flac(SoundCheck(recorded, in: folder, files: files))
    }

    /// Reads the next slice.
    /// - Returns: nil while there is more to read.
    /// - Throws: `FileError` if a file exists and cannot be read.
    func step() throws(FileError) -> Verdict? {
        switch phase {
        case .flac(let check):
            switch try check.step() {
            case nil: return nil
            case .asRecorded: return .flac
            case .unproven(let sha256): readWAV(behind: .unproven(sha256: sha256), sha256)
            case let damage?: readWAV(behind: damage, recorded.sha256)
            }
            return nil
        case .wav(let check, let flac):
            guard let wav = try check.step() else { return nil }
            guard case .asRecorded = wav else {
                // The WAV is the only remaining copy of the sound.
                if case (.unproven, .missing) = (wav, flac) { return .wav }
                return .neither
            }
            if case .unproven = flac { return .flac }
            return .wav
        }
    }

    private func readWAV(behind flac: SoundFinding, _ sha256: String?) {
        var wanted = recorded
        wanted.file = "\(recorded.base).wav"
        wanted.sha256 = sha256
        phase = .wav(SoundCheck(wanted, in: folder, files: files), flac: flac)
    }
}

/// The verdicts on the FLAC files of a take that have WAV files next to them.
struct FLACProofs {
    /// Names of the WAV files that are no longer needed, in the order of their removal.
    var superfluous: [String] = []
    /// Names of FLAC files whose sound only the WAV file holds.
    var damaged: [String] = []
    /// Names of FLAC files for which neither file is proved to hold the sound.
    var unknown: [String] = []

    mutating func add(_ verdict: FLACProof.Verdict, of recorded: RecordedSound) {
        switch verdict {
        case .flac: superfluous.append("\(recorded.base).wav")
        case .wav: damaged.append(recorded.file)
        case .neither: unknown.append(recorded.file)
        }
    }

    /// The sentence about the files in `unknown`.
    func sentence(in folder: String) -> String {
        let named = unknown.map { "\(folder)/\($0)" }.joined(separator: ", ")
        return "it is not proven that \(named) or the WAV beside it holds the recorded sound: both stay: "
            + "move the file that is damaged to another place"
    }
}

extension FileSystem {
    /// The FLAC files that a sidecar lists and that have a WAV file next to them, which a recorder wrote for the take.
    /// The twin of each part comes first. WAV files that a person decoded from a FLAC file do not count.
    func soundsInBoth(_ sidecar: Sidecar, of take: TakeName, in folder: String) throws(FileError) -> [RecordedSound] {
        let sounds = Dictionary(sidecar.sounds.map { ($0.file, $0) }) { first, _ in first }
        var found: [RecordedSound] = []
        for part in sidecar.parts {
            for file in [part.unfilteredFile, part.file].compactMap(\.self) where file.hasSuffix(".flac") {
                guard let sound = sounds[file], !file.contains("/"), take.mayOwn(file),
                    try isSound("\(folder)/\(sound.base).wav", of: take)
                else { continue }
                found.append(sound)
            }
        }
        return found
    }

    /// Whether a file with the name of one of the take's FLAC files comes from another program: it is neither the
    /// take's FLAC nor the remains of one after a power cut.
    func isForeignFLAC(_ path: String, of take: TakeName) throws(FileError) -> Bool {
        guard isTaken(path) else { return false }
        let file: OpenFile
        do throws(FileError) {
            file = try openToRead(path, followsLink: false)
            let head = try read(file, at: 0, count: 4)
            guard head.contains(where: { $0 != 0 }) else { return false }
            guard head == Array("fLaC".utf8) else { return true }
        } catch {
            guard [ELOOP, EISDIR, ESPIPE, ENXIO].contains(error.code) else { throw error }
            return true
        }
        guard let reader = try? SoundFileReader(path: path),
            let reading = try FLACReading(file, files: self, rateHz: reader.format.rateHz)
        else { return false }
        return reading.comments["TAKE"] != take.stem
    }
}

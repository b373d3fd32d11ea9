import Glibc
import Takes

/// The comparison of a FLAC file that a sidecar lists with the WAV file beside it, slice by slice: which of them holds the recorded sound.
final class FLACProof {
    /// The result.
    enum Verdict: Hashable {
        /// The FLAC holds it.
        case flac
        /// The FLAC does not, and the WAV does.
        case wav
        /// It is not known of either file.
        case neither
    }

    /// The files, as the sidecar lists the FLAC.
    let recorded: RecordedSound

    private let folder: String
    private let files: FileSystem
    private var phase: Phase

    private enum Phase {
        case flac(SoundCheck)
        /// Read the WAV, and compare it with the fingerprint, or with the FLAC if there is none.
        case wav(SoundCheck, flac: SoundFinding)
    }

    /// - Parameters:
    ///   - recorded: lists a FLAC file.
    ///   - folder: where both files are.
    init(_ recorded: RecordedSound, in folder: String, files: FileSystem) {
        self.recorded = recorded
        self.folder = folder
        self.files = files
        phase = .flac(SoundCheck(recorded, in: folder, files: files))
    }

    /// Reads the next slice.
    /// - Returns: nil while there is more to read.
    /// - Throws: `FileError`: a file is there and cannot be read.
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
                // Nothing else is left of the sound.
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

/// What is known of the FLAC files of a take beside which there are WAV files.
struct FLACProofs {
    /// Names of WAV files that are not needed any more, in the order in which they are removed.
    var superfluous: [String] = []
    /// Names of FLAC files whose sound only the WAV file holds.
    var damaged: [String] = []
    /// Names of FLAC files of which it is not known.
    var unknown: [String] = []

    mutating func add(_ verdict: FLACProof.Verdict, of recorded: RecordedSound) {
        switch verdict {
        case .flac: superfluous.append("\(recorded.base).wav")
        case .wav: damaged.append(recorded.file)
        case .neither: unknown.append(recorded.file)
        }
    }

    /// The sentence about files of which it is not known which holds the sound.
    func sentence(in folder: String) -> String {
        let named = unknown.map { "\(folder)/\($0)" }.joined(separator: ", ")
        return "it is not proven that \(named) or the WAV beside it holds the recorded sound: both stay: "
            + "move the file that is damaged to another place"
    }
}

extension FileSystem {
    /// The FLAC files that a sidecar lists, and beside which there is a WAV file that a recorder wrote for the take; of each part, the twin
    /// first. What a person decoded beside a FLAC file is not among them.
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

    /// Whether another program's file has the name of a FLAC file of the take: it is neither that nor what a cut leaves of it.
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

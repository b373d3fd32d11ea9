import Files
import Glibc
import Takes

/// Why a leftover take is not recovered.
enum LeftoverProblem: Error {
    /// It has no frame, and a recorder made all its files.
    case empty
    /// It was discarded, and not all of its files were removed.
    case removed
    /// It is a finished take, and no frame was recorded after its end. These audio files are left next to it, and these
    /// of another origin.
    case finished(Sidecar, rest: [AudioFile], strange: [String])
    /// It is a finished take, and only the revision that should replace its sidecar can be read.
    case unreplaced
    /// It is a finished take, and its sidecar is missing or damaged. Its audio files describe it.
    case lost(LostSidecar)
    /// These files have names of drafts that recovery overwrites or removes. They are not regular files, come from
    /// another program, or contain noise after a power cut.
    case strangeDrafts([String])
    /// A recorder does not leave such files, for this reason.
    case foreign(String)
    case failed(FileError)

    /// An audio file has two names. On a file system without a journal both may refer to one file, so neither may be
    /// removed.
    static func twoNames(of take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): an audio file is there under two names: check the file system (fsck)")
    }

    /// A file of another origin has a name that a file of the take has or must get.
    static func isInTheWay(
        _ file: String, of take: TakeName, _ relation: String = "has the name that its sound is to get"
    ) -> LeftoverProblem {
        .foreign("\(take.stem): \(file) \(relation), and is another file: \(advice)")
    }

    /// A part has only its unfiltered sound.
    static func loneTwin(_ twin: AudioFileName, of take: TakeName, _ event: String) -> LeftoverProblem {
        let file = twin.file + (twin.stage == .part ? ".part" : "")
        let advice = "it is a WAV file that plays: move it to another place, under a name that ends in .wav"
        return .foreign("\(take.stem): \(event), in \(file): \(advice)")
    }

    /// The take has no sound.
    /// - Parameter isOurs: whether a recorder made all its files.
    static func withoutSound(_ take: TakeName, isOurs: Bool) -> LeftoverProblem {
        isOurs ? .empty : .foreign("\(take.stem): it has no sound, and files that no recorder left")
    }

    /// Neither the sidecar nor a header can be read.
    static func headless(_ take: TakeName) -> LeftoverProblem {
        .foreign("\(take.stem): neither its sidecar nor the header of an audio file can be read")
    }

    /// The advice if another program's file prevents the recovery of a take.
    static let advice =
        "move that to another place, and the take is recovered within a minute, or by 'fieldfare recover'"

    /// The failure, if the storage cannot return stored data.
    var unreadable: FileError? {
        if case .failed(let error) = self, [EIO, EUCLEAN, EBADMSG].contains(error.code) { error } else { nil }
    }
}

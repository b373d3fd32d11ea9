/// The order of every write, sync and rename of a take. `TakeSite` executes this table, so the table and the operations
/// on the disk cannot differ.
///
/// At whatever moment the power fails, one of these states is on the disk:
/// - `STEM.json` and all files of the take under their final names: a finished take;
/// - an unreadable or missing `STEM.json`, and a readable `STEM.json.tmp`: a finished take whose sidecar was being
///   replaced;
/// - `STEM.json.part`, and no readable `STEM.json`: a take that can be finished. If the draft contains `ended_by`, its
///   frames are exact and closing chunks may follow them. If not, everything after the header, in whole frames, is
///   sound. Audio and peaks have their `.part` names or their final ones;
/// - `STEM.json.removed` and no sidecar: a discarded take. Recovery removes its remaining files;
/// - no `STEM.json`, and `.bin/DAY/STEM.json`: a take in the bin. Its files in the folder of the day are moved to the
///   bin (`TakesDirectory.settle`).
///
/// A take in the folder of its day is not in the bin. The bin then contains at most those of its documents that
/// `clearBin` removes.
///
/// A finished take has two more forms while its stop can be undone:
/// - with `STEM-p2.wav.tail` (and a twin), the sound after its end. The tail need not survive, and recovery removes it;
/// - with `STEM.json.part`, which lists parts that `STEM.json` does not, and with these parts as `.tail`, `.part` or
///   final files: the take continues, and can be finished as above. The parts that `STEM.json` lists are not written
///   again.
///
/// A finished take that is converted to FLAC (`FLACConversion`) has `.flac.part` files and then FLAC files next to its
/// WAV files. The sidecar names the files that belong to the take.
public enum TakePhase: CaseIterable, Sendable {
    /// Ensures that the next number cannot be given again, before any file of the take is written.
    case number
    /// Makes the day's folder, then the sidecar, then empty audio files.
    case begin
    /// Writes the header for the frames so far: at a sync, every 10 s of sound, and when the part ends.
    case writeHeader
    /// The sync thread's half of a sync.
    case sync
    /// Atomically replaces the sidecar of a take that is being recorded.
    case replaceSidecar
    /// Makes the next part. The next sync syncs it and replaces the sidecar.
    case split
    /// Makes all written data durable, with the header for the current length.
    case secure
    /// Appends the closing chunks to one part. Only allowed when the sidecar contains the length of the part without
    /// them.
    case close
    /// Makes a side file, such as the waveform, with a header for the records so far. Like `appendSide`, this is
    /// allowed at any time after `begin`. It needs no sync, since the take does not need the file.
    case beginSide
    case appendSide
    /// Ends a side file: writes the header for all records, and syncs the file.
    case endSide
    /// Removes a side file that cannot be written. The take continues without it.
    case dropSide
    /// Gives the files their final names and writes the sidecar last, which is the commit. The draft of the sidecar
    /// stays until the sidecar is safe: only a file system with a journal guarantees that a renamed file has one of its
    /// two names.
    case commit
    /// Removes the draft of the sidecar of a finished take, which is whole with or without the draft.
    case dropDraft
    /// Makes the tail of a finished take. Its name need not be synced, since it becomes part of the take only with
    /// `rejoin`.
    case beginTail
    /// Makes the tail the next part of its take, which is then not finished any more. The sidecar's draft is the
    /// commit.
    case rejoin
    /// Removes the tail, and the remains of a failed or interrupted `rejoin`. The take is finished without them.
    case dropTail
    /// Atomically replaces the sidecar of a finished take.
    case revise
    /// Renames a revision that had not replaced the sidecar yet to the sidecar, which is missing or unreadable.
    case restore
    /// Removes a finished take: first all files that could be taken for its sidecar, then the sidecar, without which it
    /// is not a take. Before the sidecar is removed, a note records that the rest must be removed too.
    case discard
    /// Makes the bin, and notes in it when the take was deleted. The take is not in the bin yet.
    case noteBinning
    case copyToBin
    /// Moves the take to the bin. The removal of its sidecar from the day's folder is the commit.
    case bin
    /// Moves the files of a take in the bin back to its day's folder, except the sidecar. `revise` writes the sidecar
    /// there, which is the commit.
    case takeOut
    /// Removes the bin's own documents of a take that is in its day's folder.
    case clearBin
    /// Renames a sidecar draft that had not replaced the older one yet. The older one is missing.
    case adopt
    /// Keeps an unreadable sidecar under another name.
    case setAside
    /// The same, and writes a new sidecar in its place. At any moment a readable sidecar or the old one exists.
    case replaceUnread
    /// Writes the sidecar of a finished take again if it is missing or damaged. A damaged one is kept under another
    /// name. Audio files are not changed. First the note of an incomplete removal is deleted: without a sidecar the
    /// removal would be carried out.
    case replaceLost
    /// Keeps the unreadable sidecar of an unfinished take under another name.
    case keepDamaged
    /// Cuts an audio file after its whole frames, and makes it durable.
    case repair
    /// Removes audio files without a frame.
    case dropAudio
    /// Removes a take without a frame, or the rest of a discarded take.
    case removeEmpty

    /// The phases of a take after its last frame. `close` runs for each part. A side file that was not begun is begun
    /// before its last records are appended, and nothing is appended if no records are left.
    public static let finish: [TakePhase] = [.secure, .replaceSidecar, .close, .appendSide, .endSide, .commit]
    /// The same on failing storage: the minimum that makes it a take. Markers are in the sidecar, and peaks can be made
    /// again.
    public static let abandon: [TakePhase] = [.secure, .replaceSidecar, .commit]
    /// The phases of the recovery of a take, whichever operation was interrupted. An interrupted recovery runs them
    /// again. The sidecar lists the frames and the reason for the end only after the audio contains exactly these
    /// frames. The waveform is made again, piece by piece, before that. `repair` and `close` run for each file.
    public static let recover: [TakePhase] = [
        .repair, .appendSide, .replaceSidecar, .close, .endSide, .dropAudio, .commit, .dropDraft,
    ]

    /// The phases of a finished take with a missing or damaged sidecar. Its sound is only read.
    static let rebuild: [TakePhase] = [.appendSide, .endSide, .replaceLost]

    /// In order.
    public var steps: [TakeStep] {
        switch self {
        case .number: Self.replace(.number, by: .numberDraft, .syncTakes)
        case .begin:
            [.makeDay, .syncTakes] + TakePhase.replaceSidecar.steps + [.createAudio, .syncAudio, .syncDay]
        case .writeHeader: [.writeHeader]
        case .sync: [.syncAudioData]
        case .replaceSidecar: Self.replace(.sidecarPart, by: .sidecarDraft, .syncDay)
        case .split: [.createAudio]
        case .secure: [.writeHeader, .syncAudio]
        case .close: [.writeClosing, .writeHeader, .syncAudio]
        case .beginSide: [.side(.create), .side(.append)]
        case .appendSide: [.side(.append)]
        case .endSide: [.side(.overwrite), .side(.sync)]
        case .dropSide: [.side(.remove)]
        case .commit:
            [.reserveAudio, .renameAudio, .side(.rename), .syncDay]
                + Self.replace(.sidecar, by: .revision, .syncDay)
        case .dropDraft: [.remove(.sidecarPart), .syncDay]
        case .beginTail: [.createAudio]
        case .rejoin:
            [.writeHeader, .syncAudio] + TakePhase.replaceSidecar.steps + [.reserveTail, .renameTail, .syncDay]
        case .dropTail:
            [
                .removeAudio, .remove(.sidecarPart), .remove(.sidecarDraft), .remove(.revision), .remove(.peaksPart),
                .remove(.removal), .syncDay,
            ]
        case .revise: Self.replace(.sidecar, by: .revision, .syncDay)
        case .restore:
            [.open(.revision), .sync(.revision), .rename(.revision, to: .sidecar), .syncDay]
        case .discard:
            [
                .remove(.revision), .remove(.sidecarPart), .remove(.sidecarDraft), .noteRemoval, .syncDay,
                .remove(.sidecar), .syncDay,
            ] + TakePhase.removeEmpty.steps
        case .noteBinning: [.makeBin, .syncTakes] + Self.replace(.binNote, by: .binNoteDraft, .syncBin)
        case .copyToBin: Self.replace(.binnedSidecar, by: .binnedSidecarDraft, .syncBin)
        case .bin:
            [
                .remove(.revision), .remove(.removal), .syncDay, .remove(.sidecar), .syncDay, .moveToBin, .syncBin,
                .syncDay,
            ]
        case .takeOut: [.remove(.binnedRemoval), .makeDay, .syncTakes, .moveFromBin, .syncDay, .syncBin]
        case .clearBin:
            [
                .remove(.binnedSidecarDraft), .remove(.binnedRemoval), .remove(.binnedSidecar), .syncBin,
                .remove(.binNoteDraft), .remove(.binNote), .syncBin,
            ]
        case .adopt:
            [.open(.sidecarDraft), .sync(.sidecarDraft), .rename(.sidecarDraft, to: .sidecarPart), .syncDay]
        case .replaceUnread:
            [
                .create(.sidecarDraft), .sync(.sidecarDraft), .syncDay, .rename(.sidecarPart, to: .sidecarUnread),
                .rename(.sidecarDraft, to: .sidecarPart), .syncDay,
            ]
        case .replaceLost:
            [
                .side(.rename), .remove(.removal), .syncDay,
                .keep(.sidecarPart, as: .sidecarUnread), .keep(.sidecar, as: .sidecarDamaged),
            ]
                + Self.replace(.sidecar, by: .revision, .syncDay) + [.remove(.sidecarDraft), .syncDay]
        case .keepDamaged: [.keep(.sidecar, as: .sidecarDamaged), .syncDay]
        case .setAside: [.rename(.sidecarPart, to: .sidecarUnread), .syncDay]
        case .repair: [.cutAudio, .writeHeader, .syncAudio]
        case .dropAudio: [.removeAudio]
        case .removeEmpty: [.removeRest, .syncDay, .remove(.removal), .syncDay]
        }
    }
}

extension TakePhase {
    /// Writes a document and renames it, replacing an existing one. The draft's name is synced before the rename, so at
    /// any moment the old or the new document exists under the final or the draft's name.
    private static func replace(
        _ document: TakeDocument, by draft: TakeDocument, _ syncFolder: TakeStep
    ) -> [TakeStep] {
        [.create(draft), .sync(draft), syncFolder, .rename(draft, to: document), syncFolder]
    }
}

/// One step that reaches the disk. Steps of audio are carried out for each given audio file, the filtered one before
/// its twin. Steps of side files are carried out for each given side file.
public enum TakeStep: Hashable, Sendable {
    /// Makes a small file and writes its content.
    case create(TakeDocument)
    /// Opens an existing small file.
    case open(TakeDocument)
    /// Syncs its content.
    case sync(TakeDocument)
    /// Renames it, replacing an existing file, and syncs it under the new name.
    case rename(TakeDocument, to: TakeDocument)
    /// Renames the object with this name, whatever it is, to a free name. Does nothing if it does not exist.
    case keep(TakeDocument, as: TakeDocument)
    case remove(TakeDocument)
    /// Records that the take is being removed, if the storage has space for that.
    case noteRemoval
    /// Removes all other files that a recorder made of the take, except that note.
    case removeRest
    /// Makes the bin and the folder of the take's day in it, or opens the existing ones.
    case makeBin
    /// Moves the files that a recorder made of the take from the day's folder to the bin, and syncs each there. On FAT
    /// they replace empty files, as with `reserveAudio`.
    case moveToBin
    /// Moves them back, except the documents that the bin keeps of a take.
    case moveFromBin

    case side(SideStep)

    /// Makes audio files with a header for 0 frames. On exFAT they get a chain of blocks at once.
    case createAudio
    /// Overwrites the header.
    case writeHeader
    /// Cuts off all bytes after the frames.
    case cutAudio
    case writeClosing
    /// Syncs the frames with `fdatasync(2)`.
    case syncAudioData
    /// Syncs the frames and all attributes of the file.
    case syncAudio
    /// Makes empty files `STEM-p2.wav.part` and syncs the folder. Only on FAT: there a rename is a single write only if
    /// it replaces a file whose whole name is on the disk.
    case reserveTail
    /// Renames `STEM-p2.wav.tail` to `STEM-p2.wav.part` and syncs the file.
    case renameTail
    /// Like `reserveTail`, for `STEM.wav`.
    case reserveAudio
    /// Renames `STEM.wav.part` to `STEM.wav` and syncs the file.
    case renameAudio
    case removeAudio

    /// Makes the folder of the day, or opens the existing one.
    case makeDay
    /// Syncs the names in the folder of the day.
    case syncDay
    /// Syncs the names in `takes`.
    case syncTakes
    /// Syncs the names in the bin's folder of the day.
    case syncBin
}

public enum SideStep: Hashable, Sendable {
    /// Makes its draft.
    case create
    case append
    /// Overwrites its beginning.
    case overwrite
    case sync
    /// Gives it its final name, replacing an older file, and syncs it. An incomplete draft is removed.
    case rename
    /// Removes its draft.
    case remove
}

/// A small file of the directory or of a take.
public enum TakeDocument: Hashable, Sendable {
    /// The last number given.
    case number
    /// The number's draft, before it replaces the number.
    case numberDraft
    /// The sidecar of a take that is being recorded.
    case sidecarPart
    /// Its draft, before it replaces the older one.
    case sidecarDraft
    /// The unreadable sidecar of a take that was recovered without it.
    case sidecarUnread
    /// The sidecar of a finished take.
    case sidecar
    /// The unreadable object that had the name of a finished take's sidecar.
    case sidecarDamaged
    /// The next revision of the sidecar, before it replaces the older one.
    case revision
    /// Empty. If the sidecar is gone, the take is being removed.
    case removal
    /// The waveform before the take is finished.
    case peaksPart
    /// The waveform of a finished take.
    case peaks
    /// When the take was moved to the bin.
    case binNote
    /// The note's draft, before it replaces the older note.
    case binNoteDraft
    /// The sidecar of a take in the bin.
    case binnedSidecar
    /// Its draft, before it gets its name.
    case binnedSidecarDraft
    /// Empty. If the sidecar in the bin is gone, the take is being removed from the bin.
    case binnedRemoval

    /// The file's name: relative to `takes` for the number, to the bin's folder of the day for documents in the bin,
    /// and otherwise to the folder of the day.
    public func name(stem: String) -> String {
        switch self {
        case .number: ".number"
        case .numberDraft: ".number.tmp"
        case .sidecarPart: "\(stem).json.part"
        case .sidecarDraft: "\(stem).json.part.tmp"
        case .sidecarUnread: "\(stem).json.part.unread"
        case .sidecar: "\(stem).json"
        case .sidecarDamaged: "\(stem).json.damaged"
        case .revision: "\(stem).json.tmp"
        case .removal: "\(stem).json.removed"
        case .peaksPart: "\(stem).dat.part"
        case .peaks: "\(stem).dat"
        case .binNote: "\(stem).json.binned"
        case .binNoteDraft: "\(stem).json.binned.tmp"
        case .binnedSidecar: "\(stem).json"
        case .binnedSidecarDraft: "\(stem).json.tmp"
        case .binnedRemoval: "\(stem).json.removed"
        }
    }
}

/// The order of every write, sync and rename of a take. This table is what is carried out (by `TakeSite`), so that
/// the table and what the disk sees cannot differ.
///
/// Whatever the moment at which the power goes, one of these is on the disk:
/// - `STEM.json` and all files of the take under their final names: a finished take;
/// - `STEM.json` that cannot be read, or none, and `STEM.json.tmp` that can: a finished take, whose sidecar was being replaced;
/// - `STEM.json.part`, and no `STEM.json` that can be read: a take that can be finished. If it says `ended_by`, its frames are exact and closing chunks may
///   follow them; if not, everything after the header, in whole frames, is sound. Audio and peaks have their `.part`
///   names or their final ones;
/// - `STEM.json.removed` and no sidecar: a take that was discarded; recovery removes what is left of it;
/// - no `STEM.json`, and `.bin/DAY/STEM.json`: a take in the bin. Files of it that lie in the folder of the day are moved into the bin
///   (`TakesBin.settle`).
///
/// A take that is in its day's folder is not in the bin: of it, the bin has at most the documents that `clearBin` removes.
///
/// A finished take has two more forms while its stop may be taken back:
/// - beside it, `STEM-p2.wav.tail` (and a twin): what followed its end. It is not promised to last, and recovery removes it;
/// - beside it, `STEM.json.part` that lists parts which `STEM.json` does not, and these parts, as `.tail`, `.part` or final
///   files: the take goes on, and can be finished as above. The parts that `STEM.json` lists are not written to again.
///
/// A finished take that becomes FLAC (`FLACConversion`) has `.flac.part` and then FLAC files beside its WAV files; the sidecar
/// names those that are the take.
public enum TakePhase: CaseIterable, Sendable {
    /// Makes the next number impossible to be given again. Before anything of the take is written.
    case number
    /// Makes the day's folder, the sidecar, then the audio files, empty.
    case begin
    /// Writes the header with the frames so far: at a sync, every 10 s of sound, and when the part ends.
    case writeHeader
    /// The sync thread's half.
    case sync
    /// Replaces the sidecar of a take that goes on, whole or not at all.
    case replaceSidecar
    /// Makes the next part. It is synced, and the sidecar replaced, at the next sync.
    case split
    /// Everything that was written is made safe, as the file stands.
    case secure
    /// Appends the closing chunks to one part. Only once the sidecar says how long the part is without them.
    case close
    /// Makes a side file, such as the waveform, with a header that reports the records so far. Like `appendSide` at any time after
    /// `begin`; no sync is owed for it, since the take can do without it.
    case beginSide
    /// Appends records to a side file.
    case appendSide
    /// Ends a side file: its header reports all records, and it is made safe.
    case endSide
    /// Removes a side file that cannot be written. The take goes on without it.
    case dropSide
    /// Gives the files their final names, and writes the sidecar last: the commit. The draft of the sidecar stays until that is
    /// safe, since no file system but one with a journal promises that a file has one of its two names.
    case commit
    /// Removes the draft of the sidecar of a take that is finished, and is whole with it or without it.
    case dropDraft
    /// Makes the tail of a finished take. No sync is owed for its name: it becomes part of a take with `rejoin` only.
    case beginTail
    /// Makes the tail the next part of its take, which is not finished any more: the sidecar's draft is the commit.
    case rejoin
    /// Removes the tail, and what a `rejoin` that failed, or a cut, left of a take that is finished without it.
    case dropTail
    /// Replaces the sidecar of a finished take, whole or not at all.
    case revise
    /// Takes over a revision that had not replaced the sidecar yet, where that is gone or cannot be read.
    case restore
    /// Removes a finished take: first what could be taken for its sidecar, then the sidecar, without which it is none. Before that goes, it is
    /// noted that the rest is to go too.
    case discard
    /// Makes the bin, and notes in it since when the take is there. The take is not in it yet.
    case noteBinning
    /// Puts a copy of the sidecar into the bin.
    case copyToBin
    /// Moves the take into the bin: the removal of its sidecar from the day's folder is the commit.
    case bin
    /// Moves the files of a take in the bin back to its day's folder, all but the sidecar: `revise` puts that there, and is the commit.
    case takeOut
    /// Removes the bin's own documents of a take that is in its day's folder.
    case clearBin
    /// Takes over a sidecar that had not replaced the old one yet, where the old one is gone.
    case adopt
    /// Keeps a sidecar that cannot be read, under another name.
    case setAside
    /// The same, and puts another in its place. At any moment there is one of them that can be read, or the old one.
    case replaceUnread
    /// Writes the sidecar of a finished take anew, where that is gone or damaged; a damaged one is kept under another name. No audio file is
    /// touched. A removal that was noted and not carried out is forgotten first: without a sidecar it would be carried out.
    case replaceLost
    /// Keeps the sidecar of a take that is not finished under another name: it cannot be read.
    case keepDamaged
    /// Cuts an audio file after its whole frames, and makes it safe.
    case repair
    /// Removes audio files that hold no frame.
    case dropAudio
    /// Removes a take in which no frame was recorded, and what is left of one that was discarded.
    case removeEmpty

    /// What a finished take goes through after its last frame. `close` is done part by part; a side file is begun
    /// before its last records are appended, if it was not yet, and nothing is appended if none are left.
    public static let finish: [TakePhase] = [.secure, .replaceSidecar, .close, .appendSide, .endSide, .commit]
    /// The same on storage that fails: the least that makes it a take. Markers are in the sidecar, and peaks can be made again.
    public static let abandon: [TakePhase] = [.secure, .replaceSidecar, .commit]
    /// What a take that a cut left behind goes through, whatever that was cut in, and again if it is cut itself. The
    /// sidecar lists the frames and why it ended only once the audio holds just these. The waveform is made again, piece
    /// by piece, before; `repair` and `close` are done file by file.
    public static let recover: [TakePhase] = [
        .repair, .appendSide, .replaceSidecar, .close, .endSide, .dropAudio, .commit, .dropDraft,
    ]

    /// What a finished take goes through whose sidecar is gone or damaged. Its sound is read and not written to.
    static let rebuild: [TakePhase] = [.appendSide, .endSide, .replaceLost]

    /// The steps, in order.
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
    /// Writes a document and gives it its name, in place of one that may be there. At any moment the old one or the new one is
    /// there, under that name or the draft's: so the draft's name is on the disk before the rename.
    private static func replace(
        _ document: TakeDocument, by draft: TakeDocument, _ syncFolder: TakeStep
    ) -> [TakeStep] {
        [.create(draft), .sync(draft), syncFolder, .rename(draft, to: document), syncFolder]
    }
}

/// One step that reaches the disk. Those of audio are done to each audio file at hand, the filtered one before its twin; those of side
/// files to each side file at hand.
public enum TakeStep: Hashable, Sendable {
    /// Makes a small file and writes its content.
    case create(TakeDocument)
    /// Opens a small file that is there.
    case open(TakeDocument)
    /// Its content is on the disk.
    case sync(TakeDocument)
    /// Gives it another name, in place of what had it, and syncs it there.
    case rename(TakeDocument, to: TakeDocument)
    /// Gives what has this name, whatever it is, another one that nothing has; nothing if it is not there.
    case keep(TakeDocument, as: TakeDocument)
    /// Removes it.
    case remove(TakeDocument)
    /// Notes that the take is being removed, if the storage has room for that.
    case noteRemoval
    /// Removes all other files that a recorder made of the take, but that note.
    case removeRest
    /// Makes the bin and the folder of the take's day in it, or takes those that are there.
    case makeBin
    /// Moves the files that a recorder made of the take from the day's folder into the bin, and syncs each there. On FAT they are moved to empty files, as `reserveAudio`
    /// makes them.
    case moveToBin
    /// The same back, but for the documents that the bin keeps of a take.
    case moveFromBin

    /// A step of each side file.
    case side(SideStep)

    /// Makes audio files, with a header that reports no frame. On exFAT they get a chain of blocks at once.
    case createAudio
    /// Writes the header over the old one.
    case writeHeader
    /// Cuts off what follows the frames.
    case cutAudio
    /// Appends the closing chunks.
    case writeClosing
    /// Its frames are on the disk.
    case syncAudioData
    /// Its frames and all that is known of it are on the disk.
    case syncAudio
    /// Makes empty files `STEM-p2.wav.part`, and syncs the folder: on FAT alone, where only a file whose whole name is on the disk
    /// is replaced in one write.
    case reserveTail
    /// `STEM-p2.wav.tail` becomes `STEM-p2.wav.part`, and is synced there.
    case renameTail
    /// The same as `reserveTail`, for `STEM.wav`.
    case reserveAudio
    /// `STEM.wav.part` becomes `STEM.wav`, and is synced there.
    case renameAudio
    /// Removes audio files.
    case removeAudio

    /// Makes the folder of the day, or takes the one that is there.
    case makeDay
    /// The names in the folder of the day are on the disk.
    case syncDay
    /// The names in `takes` are on the disk.
    case syncTakes
    /// The names in the bin's folder of the day are on the disk.
    case syncBin
}

/// One step of a side file.
public enum SideStep: Hashable, Sendable {
    /// Makes its draft.
    case create
    /// Writes on at its end.
    case append
    /// Writes over its beginning.
    case overwrite
    /// Its content is on the disk.
    case sync
    /// Gives it its final name, in place of an older one, and syncs it there. A draft that is not whole is removed.
    case rename
    /// Removes its draft.
    case remove
}

/// A small file, of the directory or of a take.
public enum TakeDocument: Hashable, Sendable {
    /// The last number given.
    case number
    /// The same before it has replaced the old one.
    case numberDraft
    /// What is known of a take that is recorded.
    case sidecarPart
    /// The same before it has replaced the old one.
    case sidecarDraft
    /// What could not be read of a take that was recovered without it.
    case sidecarUnread
    /// What is known of a finished take.
    case sidecar
    /// What was under the name of the sidecar of a finished take, and could not be read.
    case sidecarDamaged
    /// A higher revision of it, before it has replaced the old one.
    case revision
    /// Empty: the take is being removed, if its sidecar is gone.
    case removal
    /// The waveform before the take is finished.
    case peaksPart
    /// The waveform.
    case peaks
    /// Since when the take is in the bin.
    case binNote
    /// The same before it has replaced the old one.
    case binNoteDraft
    /// The sidecar of a take in the bin.
    case binnedSidecar
    /// The same before it has its name.
    case binnedSidecarDraft
    /// Empty: the take is being removed from the bin, if its sidecar is gone there.
    case binnedRemoval

    /// The file's name, below `takes` for the number, below the bin's folder of the day for what is in the bin, else below the folder of
    /// the day.
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

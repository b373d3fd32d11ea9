/// The order of every write, sync and rename of a take. This table is what is carried out (by `TakeSite`), so that
/// it cannot say one thing and the disk see another.
///
/// Whatever the moment at which the power goes, one of these is on the disk:
/// - `STEM.json` and all files of the take under their final names: a finished take;
/// - `STEM.json.part`: a take that can be finished. If it says `ended_by`, its frames are exact and closing chunks may
///   follow them; if not, everything after the header, in whole frames, is sound. Audio and peaks have their `.part`
///   names or their final ones;
/// - final audio without any sidecar: a take that somebody discarded.
///
/// A finished take that becomes FLAC (`FLACConversion`) has `.flac.part` and then FLAC files beside its WAV files; the sidecar
/// names those that are the take.
public enum TakePhase: CaseIterable, Sendable {
    /// Makes the next number impossible to be given again. Before anything of the take is written.
    case number
    /// Makes the day's folder, the sidecar, then the audio files, empty.
    case begin
    /// The writer's half of a sync: the header tells the frames written so far.
    case mark
    /// The sync thread's half.
    case sync
    /// Replaces the sidecar of a take that goes on, whole or not at all.
    case replaceSidecar
    /// Makes the next part. It is synced, and the sidecar replaced, at the next sync.
    case split
    /// Everything that was written is made safe, as the file stands.
    case settle
    /// Appends the closing chunks to one part. Only once the sidecar says how long the part is without them.
    case close
    /// Makes the file of the waveform, with a header that tells of no pixel. Like `appendPeaks` at any time after `begin`;
    /// no sync is owed for it, since a waveform can be made again from the sound.
    case beginPeaks
    /// Appends pixels to the waveform.
    case appendPeaks
    /// Ends the waveform: its header tells of all pixels, and it is made safe.
    case peaks
    /// Removes a waveform that cannot be written. The take goes on without one.
    case dropPeaks
    /// Gives the files their final names, the sidecar last: the commit.
    case reveal
    /// Replaces the sidecar of a finished take, whole or not at all.
    case revise
    /// Removes a finished take: first the sidecar, without which it is none.
    case discard
    /// Takes over a sidecar that had not replaced the old one yet, where the old one is gone.
    case adopt
    /// Puts a sidecar aside that cannot be read, for whoever can.
    case setAside
    /// Cuts an audio file after its whole frames, and makes it safe.
    case mend
    /// Removes audio files that hold no frame.
    case dropAudio
    /// Removes a take in which no frame was recorded.
    case forget

    /// What a finished take goes through after its last frame. `close` is done part by part; the waveform is begun
    /// before its last pixels are appended, if it was not yet, and nothing is appended if none are left.
    public static let finish: [TakePhase] = [.settle, .replaceSidecar, .close, .appendPeaks, .peaks, .reveal]
    /// The same on storage that fails: the least that makes it a take. Markers are in the sidecar, and peaks can be made again.
    public static let abandon: [TakePhase] = [.settle, .replaceSidecar, .reveal]
    /// What a take that a cut left behind goes through, whatever that was cut in, and again if it is cut itself. The
    /// sidecar tells the frames and why it ended only once the audio holds just these. The waveform is made anew, piece
    /// by piece, before; `mend` and `close` are done file by file.
    public static let recover: [TakePhase] = [
        .mend, .appendPeaks, .replaceSidecar, .close, .peaks, .dropAudio, .reveal,
    ]

    /// The steps, in order.
    public var steps: [TakeStep] {
        switch self {
        case .number: [.create(.numberDraft), .sync(.numberDraft), .rename(.numberDraft, to: .number), .syncTakes]
        case .begin:
            [.makeDay, .syncTakes] + TakePhase.replaceSidecar.steps + [.createAudio, .syncAudio, .syncDay]
        case .mark: [.writeHeader]
        case .sync: [.syncAudioData]
        case .replaceSidecar:
            [.create(.sidecarDraft), .sync(.sidecarDraft), .rename(.sidecarDraft, to: .sidecarPart), .syncDay]
        case .split: [.createAudio]
        case .settle: [.writeHeader, .syncAudio]
        case .close: [.writeClosing, .writeHeader, .syncAudio]
        case .beginPeaks: [.create(.peaksPart)]
        case .appendPeaks: [.append(.peaksPart)]
        case .peaks: [.overwrite(.peaksPart), .sync(.peaksPart)]
        case .dropPeaks: [.remove(.peaksPart)]
        case .reveal:
            [.renameAudio, .rename(.peaksPart, to: .peaks), .syncDay, .rename(.sidecarPart, to: .sidecar), .syncDay]
        case .revise:
            [.create(.revision), .sync(.revision), .rename(.revision, to: .sidecar), .syncDay]
        case .discard: [.remove(.sidecar), .syncDay, .removeRest, .syncDay]
        case .adopt:
            [.open(.sidecarDraft), .sync(.sidecarDraft), .rename(.sidecarDraft, to: .sidecarPart), .syncDay]
        case .setAside: [.rename(.sidecarPart, to: .sidecarUnread), .syncDay]
        case .mend: [.cutAudio, .writeHeader, .syncAudio]
        case .dropAudio: [.removeAudio]
        case .forget: [.removeRest, .syncDay]
        }
    }
}

/// One step that reaches the disk. Those of audio are done to each audio file at hand, the filtered one before its twin.
public enum TakeStep: Hashable, Sendable {
    /// Makes a small file and writes what it shall hold.
    case create(TakeDocument)
    /// Opens a small file that is there.
    case open(TakeDocument)
    /// Writes on at its end.
    case append(TakeDocument)
    /// Writes over its beginning.
    case overwrite(TakeDocument)
    /// Its content is on the disk.
    case sync(TakeDocument)
    /// Gives it another name, in place of what had it.
    case rename(TakeDocument, to: TakeDocument)
    /// Removes it.
    case remove(TakeDocument)
    /// Removes all other files of the take.
    case removeRest

    /// Makes audio files, with a header that tells of no frame.
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
    /// `STEM.wav.part` becomes `STEM.wav`.
    case renameAudio
    /// Removes audio files.
    case removeAudio

    /// Makes the folder of the day, or takes the one that is there.
    case makeDay
    /// The names in the folder of the day are on the disk.
    case syncDay
    /// The names in `takes` are on the disk.
    case syncTakes
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
    /// A higher revision of it, before it has replaced the old one.
    case revision
    /// The waveform before the take is finished.
    case peaksPart
    /// The waveform.
    case peaks

    /// The file's name, below `takes` for the number, else below the folder of the day.
    public func name(stem: String) -> String {
        switch self {
        case .number: ".number"
        case .numberDraft: ".number.tmp"
        case .sidecarPart: "\(stem).json.part"
        case .sidecarDraft: "\(stem).json.part.tmp"
        case .sidecarUnread: "\(stem).json.part.unread"
        case .sidecar: "\(stem).json"
        case .revision: "\(stem).json.tmp"
        case .peaksPart: "\(stem).dat.part"
        case .peaks: "\(stem).dat"
        }
    }
}

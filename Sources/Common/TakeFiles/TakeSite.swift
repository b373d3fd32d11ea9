import Glibc
import Takes

/// The place where one take is written: it carries out the steps of `TakePhase` there.
struct TakeSite: Sendable {
    let files: FileSystem
    /// `takes` itself.
    let takes: OpenFile
    let name: TakeName
    /// The folder of the day, once it is made.
    var day: OpenFile?
    /// The bin's folder of the day, once it is opened.
    var bin: OpenFile?
    /// The documents that are being written.
    private var drafts: [TakeDocument: OpenFile] = [:]

    /// What had the name of the day's folder, as a sentence; nil: nothing else did.
    private(set) var dayNews: String?
    /// The last name that `keep` gave.
    private(set) var keptName: String?

    init(files: FileSystem, takes: OpenFile, name: TakeName) {
        self.files = files
        self.takes = takes
        self.name = name
    }

    /// The path of a file in the folder of the day.
    func path(_ file: String) -> String {
        "\(takes.path)/\(name.day)/\(file)"
    }

    func path(_ document: TakeDocument) -> String {
        switch document {
        case .number, .numberDraft: "\(takes.path)/\(document.name(stem: name.stem))"
        case .sidecarPart, .sidecarDraft, .sidecarUnread, .sidecar, .sidecarDamaged, .revision, .removal, .peaksPart,
            .peaks:
            path(document.name(stem: name.stem))
        case .binNote, .binNoteDraft, .binnedSidecar, .binnedSidecarDraft, .binnedRemoval:
            "\(binPath)/\(document.name(stem: name.stem))"
        }
    }

    /// Carries out the steps of a phase, up to the first that fails.
    ///
    /// - Parameters:
    ///   - audio: the audio files that the steps are about.
    ///   - sides: the side files that the steps are about.
    ///   - content: what is written to the documents that are created, and to the side files.
    mutating func perform(
        _ phase: TakePhase, audio: inout [AudioFile], sides: inout [SideFile], content: [UInt8] = []
    ) throws(FileError) {
        for step in phase.steps {
            try perform(step, audio: &audio, sides: &sides, content: content)
        }
    }

    /// Carries out the steps of a phase that is about no side file.
    mutating func perform(
        _ phase: TakePhase, audio: inout [AudioFile], content: [UInt8] = []
    ) throws(FileError) {
        var none: [SideFile] = []
        try perform(phase, audio: &audio, sides: &none, content: content)
    }

    /// Carries out the steps of a phase that is about neither.
    mutating func perform(_ phase: TakePhase, content: [UInt8] = []) throws(FileError) {
        var none: [AudioFile] = []
        try perform(phase, audio: &none, content: content)
    }

    private mutating func perform(
        _ step: TakeStep, audio: inout [AudioFile], sides: inout [SideFile], content: [UInt8]
    ) throws(FileError) {
        switch step {
        case .create(let document):
            if document == .numberDraft { try KitMark.makeWay(in: takes.path, files) }
            if document == .revision, LeftoverTake.isStrange(document, at: self) { try files.setAside(path(document)) }
            try files.makeWay(for: path(document))
            let file = try files.createWhole(path(document), isNew: false)
            try files.write(content, to: file, at: 0)
            drafts[document] = file
        case .open(let document): drafts[document] = try files.open(path(document))
        case .sync(let document):
            if let draft = drafts.removeValue(forKey: document) { try files.sync(draft) }
        case .rename(let document, let final):
            // A folder or a link in its place costs no take.
            if final == .sidecarPart { try files.makeWay(for: path(final)) }
            try files.rename(path(document), to: path(final))
            try files.settle(path(final))
        case .keep(let document, let final): try keep(document, as: final)
        case .remove(let document):
            drafts[document] = nil
            try files.makeWay(for: path(document))
            try files.remove(path(document))
        case .noteRemoval:
            // A full disk is no reason to keep a take.
            try files.makeWay(for: path(.removal))
            _ = try? files.create(path(.removal), isNew: false)
        case .removeRest: try removeRest()
        case .side(let step):
            for index in sides.indices { try perform(step, on: &sides[index], content: content) }
        case .createAudio:
            files.removeSpacers(in: "\(takes.path)/\(name.day)")
            for index in audio.indices {
                let file = try files.createWhole(path(audio[index].currentName), isNew: true)
                audio[index].file = file
                try files.write(audio[index].headerBytes, to: file, at: 0)
                audio[index].identity = files.knownIdentity(of: file)
                files.claim(file)
            }
            try chain(audio)
        case .writeHeader:
            for audio in audio {
                if let file = audio.file { try files.write(audio.headerBytes, to: file, at: 0) }
            }
        case .cutAudio:
            for audio in audio {
                if let file = audio.file { try files.truncate(file, to: audio.end) }
            }
        case .writeClosing:
            for index in audio.indices {
                guard let file = audio[index].file else { continue }
                try files.write(audio[index].closing, to: file, at: audio[index].end)
                audio[index].isClosed = true
            }
        case .syncAudioData:
            for audio in audio {
                if let file = audio.file { try files.syncData(file) }
            }
        case .syncAudio:
            for audio in audio {
                if let file = audio.file { try files.sync(file) }
            }
        case .reserveAudio: try reserve(audio.filter(\.isUnnamed), .final)
        case .renameAudio:
            for index in audio.indices where audio[index].isUnnamed { try rename(&audio[index], .final) }
        case .reserveTail: try reserve(audio.filter { $0.stage == .tail }, .part)
        case .renameTail:
            for index in audio.indices where audio[index].stage == .tail { try rename(&audio[index], .part) }
        case .removeAudio:
            for audio in audio where audio.stage != .committed { try files.remove(path(audio.currentName)) }
        case .makeDay: try makeDay()
        case .syncDay: try files.syncFolder(openDay())
        case .syncTakes: try files.syncFolder(takes)
        case .makeBin: try makeBin()
        case .moveToBin: try moveToBin()
        case .moveFromBin: try moveFromBin()
        case .syncBin: try files.syncFolder(openBin())
        }
    }

    /// Has exFAT keep a chain of blocks for each of these files from their beginning on, while they hold no sound.
    ///
    /// It keeps none for a file whose blocks follow each other. Once they do not any more, it writes that there is a chain before it
    /// writes the chain, and a power cut between the two costs the whole file, whatever was synced before.
    private func chain(_ audio: [AudioFile]) throws(FileError) {
        guard try files.kind(of: takes.path) == .exFAT else { return }
        // It takes the block that the last of the files would get next.
        let obstacle = path(.sidecarDraft)
        try files.write([0], to: files.create(obstacle, isNew: false), at: 0)
        for audio in audio {
            guard let file = audio.file else { continue }
            // No exFAT has larger blocks than this by default.
            try files.truncate(file, to: audio.end + 1 << 20)
            try files.truncate(file, to: audio.end)
        }
        try files.remove(obstacle)
    }

    /// Makes empty files under the names that audio files get next, where that is of use.
    private mutating func reserve(_ audio: [AudioFile], _ stage: AudioFile.Stage) throws(FileError) {
        guard !audio.isEmpty, try files.kind(of: takes.path).splitsNames else { return }
        for audio in audio { try reserve(path(audio.name + stage.suffix)) }
        try files.syncFolder(openDay())
    }

    /// An empty file of that name was made for this before the power went, or is made now; another one stays as it is.
    func reserve(_ path: String) throws(FileError) {
        do throws(FileError) {
            _ = try files.create(path, isNew: true)
        } catch {
            guard error.code == EEXIST, try files.length(files.open(path)) == 0 else { throw error }
        }
    }

    private func rename(_ audio: inout AudioFile, _ stage: AudioFile.Stage) throws(FileError) {
        let named = path(audio.name + stage.suffix)
        try rename(audio, to: named)
        audio.stage = stage
        try files.settle(named)
    }

    /// The name may be that of a file that no recorder made. What was reserved is replaced: that is what it is for.
    func rename(_ audio: AudioFile, to named: String) throws(FileError) {
        if try !files.kind(of: takes.path).splitsNames {
            try files.renameNew(path(audio.currentName), to: named)
        } else {
            try files.rename(path(audio.currentName), to: named)
        }
    }

    /// Makes the folder of the day, or takes the one that is there. A link or a file of that name gets another one: what lies behind a link
    /// is found by nobody who looks for takes.
    mutating func makeDay() throws(FileError) {
        let path = "\(takes.path)/\(name.day)"
        if let found = try? files.status(named: path), found.kind != .folder, let other = try files.setAside(path) {
            let folder = "takes lie in a folder of that name"
            dayNews =
                "\(path) is a link or a file, and \(folder): it is \(other) now: move takes that are in it back here"
        }
        day = try files.makeWholeFolder(path)
    }

    /// The names in the folder of the day are on the disk when this returns.
    mutating func syncNames() throws(FileError) { try files.syncFolder(openDay()) }

    mutating func openDay() throws(FileError) -> OpenFile {
        if let day { return day }
        // A day's folder that is a link is not one that this made: what is in it may be all that there is of a take somewhere else.
        let folder = try files.openFolder("\(takes.path)/\(name.day)", followsLink: false)
        day = folder
        return folder
    }

    /// Whether another program's file has the name of the waveform: it has bytes, and does not begin as a waveform does.
    func isForeignWaveform(_ path: String) -> Bool {
        guard files.isTaken(path) else { return false }
        guard let file = try? files.openToRead(path, followsLink: false),
            let head = try? files.read(file, at: 0, count: PeaksFile.headerByteCount)
        else { return true }
        return !head.allSatisfy { $0 == 0 } && PeaksFile.shape(header: head) == nil
    }

    /// `STEM.json.damaged`, then `STEM.json.damaged.2`: nothing that was kept before is replaced.
    private mutating func keep(_ document: TakeDocument, as final: TakeDocument) throws(FileError) {
        for number in 1... {
            let kept = final.name(stem: name.stem) + (number == 1 ? "" : ".\(number)")
            do throws(FileError) {
                try files.renameNew(path(document), to: path(kept))
            } catch {
                if error.code == EEXIST { continue }
                guard error.code == ENOENT else { throw error }
                return
            }
            keptName = kept
            // It may be no file, or one that the storage cannot give back.
            try? files.settle(path(kept))
            return
        }
    }

    /// When a file was last written, by the clock of then; the first instant of the calendar, if that cannot be read.
    func written(_ file: String) -> WallTime {
        WallTime(microseconds: ((try? files.attributes(path(file)))?.modifiedNs ?? 0) / 1000)
    }

    private mutating func removeRest() throws(FileError) {
        _ = try openDay()
        let day = "\(takes.path)/\(name.day)"
        let names = try TakeListing.files(of: name, in: files.entries(day), folder: day, files: files)
        let note = TakeDocument.removal.name(stem: name.stem)
        for file in names.sorted() where file != note && TakeName.isOwnFile(file) {
            try files.remove(path(file))
        }
    }
}

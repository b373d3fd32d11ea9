import Files
import Glibc
import Takes

/// The place where one take is written. Executes the steps of `TakePhase` there.
struct TakeSite: Sendable {
    let files: FileSystem
    /// The folder `takes`.
    let takes: OpenFile
    let name: TakeName
    /// The folder of the day, after it is made.
    var day: OpenFile?
    /// The bin's folder of the day, after it is opened.
    var bin: OpenFile?
    /// The documents that are being written.
    private var drafts: [TakeDocument: OpenFile] = [:]

    /// The object that had the name of the day's folder, as a sentence, or nil if the name was free.
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
    ///   - audio: the audio files of the steps.
    ///   - sides: the side files of the steps.
    ///   - content: written to the documents that are created, and to the side files.
    mutating func perform(
        _ phase: TakePhase, audio: inout [AudioFile], sides: inout [SideFile], content: [UInt8] = []
    ) throws(FileError) {
        for step in phase.steps {
            try perform(step, audio: &audio, sides: &sides, content: content)
        }
    }

    /// Carries out the steps of a phase without side files.
    mutating func perform(
        _ phase: TakePhase, audio: inout [AudioFile], content: [UInt8] = []
    ) throws(FileError) {
        var none: [SideFile] = []
        try perform(phase, audio: &audio, sides: &none, content: content)
    }

    /// Carries out the steps of a phase without audio files and side files.
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
            // A folder or a link with that name must not cost a take.
            if final == .sidecarPart { try files.makeWay(for: path(final)) }
            try files.rename(path(document), to: path(final))
            try files.settle(path(final))
        case .keep(let document, let final): try keep(document, as: final)
        case .remove(let document):
            drafts[document] = nil
            try files.makeWay(for: path(document))
            try files.remove(path(document))
        case .noteRemoval:
            // A full disk must not prevent the removal of a take.
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

    /// Makes exFAT keep a chain of blocks for each of these files from the start, while they contain no sound.
    ///
    /// exFAT keeps no chain for a file with contiguous blocks. When the blocks stop being contiguous, it first writes
    /// that there is a chain, and then the chain. A power cut between the two loses the whole file, including synced
    /// data.
    private func chain(_ audio: [AudioFile]) throws(FileError) {
        guard try files.kind(of: takes.path) == .exFAT else { return }
        // This file takes the block that the last of the files would get next.
        let obstacle = path(.sidecarDraft)
        try files.write([0], to: files.create(obstacle, isNew: false), at: 0)
        for audio in audio {
            guard let file = audio.file else { continue }
            // By default exFAT blocks are not larger than this.
            try files.truncate(file, to: audio.end + 1 << 20)
            try files.truncate(file, to: audio.end)
        }
        try files.remove(obstacle)
    }

    /// Makes empty files under the next names of audio files, on file systems where that is useful.
    private mutating func reserve(_ audio: [AudioFile], _ stage: AudioFile.Stage) throws(FileError) {
        guard !audio.isEmpty, try files.kind(of: takes.path).splitsNames else { return }
        for audio in audio { try reserve(path(audio.name + stage.suffix)) }
        try files.syncFolder(openDay())
    }

    /// Makes an empty file, or uses the one that was made before the power failed. Any other file stays and is an
    /// error.
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

    /// A file that a recorder did not make may have the name. On FAT, the rename replaces the reserved file.
    func rename(_ audio: AudioFile, to named: String) throws(FileError) {
        if try !files.kind(of: takes.path).splitsNames {
            try files.renameNew(path(audio.currentName), to: named)
        } else {
            try files.rename(path(audio.currentName), to: named)
        }
    }

    /// Makes the folder of the day, or opens the existing one. A link or a file with that name is renamed: programs
    /// that look for takes do not follow links.
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
        // The recorder did not make a day's folder that is a link. It may contain the only copy of a take elsewhere.
        let folder = try files.openFolder("\(takes.path)/\(name.day)", followsLink: false)
        day = folder
        return folder
    }

    /// Whether another program's file has the name of the waveform: it is not empty, and does not begin like a
    /// waveform.
    func isForeignWaveform(_ path: String) -> Bool {
        guard files.isTaken(path) else { return false }
        guard let file = try? files.openToRead(path, followsLink: false),
            let head = try? files.read(file, at: 0, count: PeaksFile.headerByteCount)
        else { return true }
        return !head.allSatisfy { $0 == 0 } && PeaksFile.shape(header: head) == nil
    }

    /// Renames to `STEM.json.damaged`, then `STEM.json.damaged.2`, so that no kept file is replaced.
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
            // It may not be a regular file, or the storage may fail to read it.
            try? files.settle(path(kept))
            return
        }
    }

    /// When a file was last written, by the clock at that time, or the start of the calendar if that cannot be read.
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

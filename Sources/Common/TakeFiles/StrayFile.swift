import Glibc
import Takes

/// An audio file of a take that is being recorded, and that another program shortened, moved, removed or replaced.
struct StrayFile: Sendable, Hashable {
    /// The name that it will have, as `AudioFile.name`.
    var name: String
    /// Bytes of sound that it holds.
    var soundBytes: Int64
    /// The fate of its name.
    var place: Place

    enum Place: Sendable {
        /// It has its name.
        case named
        /// It has another name, or another file has its name.
        case moved
        /// It has no name: it lasts as long as it is open.
        case removed
        /// It was closed before: its name is gone, or something else has it.
        case gone
    }

    /// The event, as the end of a sentence.
    var event: String {
        switch place {
        case .named: "another program shortened it"
        case .moved: "another program moved or replaced it"
        case .removed: "another program removed it"
        case .gone: "another program removed or replaced it"
        }
    }
}

/// The progress of saving an audio file that lost its name. A file that another program moved gets its name again; what a
/// removed one holds is copied, a piece at a time, as long as it is open.
struct Rescue: Sendable {
    /// As it is to be.
    var audio: AudioFile
    /// The file that lost its name.
    let source: OpenFile
    /// The copy, once it is begun.
    var copy: OpenFile?
    /// Bytes of sound that the copy holds.
    var copiedBytes: Int64 = 0
    /// Whether the file is whole under its name, and safe there.
    var isDone = false

    /// Bytes that are copied at a time.
    static let pieceBytes: Int64 = 256 << 10
}

extension TakeSite {
    /// The trace that another program left on an open audio file; nil if there is none, or the storage does not answer.
    func stray(_ audio: AudioFile) -> StrayFile? {
        guard let file = audio.file, let status = try? files.status(of: file) else { return nil }
        let sound = sound(of: audio, holding: status.byteCount)
        var place = StrayFile.Place.named
        if status.linkCount == 0 {
            place = .removed
        } else if audio.identity != nil, files.has(path(audio.currentName), status.identity) == false {
            place = .moved
        }
        guard place != .named || sound < audio.dataBytes else { return nil }
        return StrayFile(name: audio.name, soundBytes: sound, place: place)
    }

    /// The same of an audio file that is closed.
    func strayClosed(_ audio: AudioFile) -> StrayFile? {
        guard let identity = audio.identity else { return nil }
        do throws(FileError) {
            let found = try files.status(named: path(audio.currentName))
            let isOther = files.kind?.keepsFileNumbers == true && found.identity != identity
            guard found.kind == .file, !isOther else { return StrayFile(name: audio.name, soundBytes: 0, place: .gone) }
            let sound = sound(of: audio, holding: found.byteCount)
            return sound < audio.dataBytes ? StrayFile(name: audio.name, soundBytes: sound, place: .named) : nil
        } catch {
            guard error.isAbsence else { return nil }
            return StrayFile(name: audio.name, soundBytes: 0, place: .gone)
        }
    }

    /// Bytes of an audio file's sound, in whole frames, that a file of so many bytes holds.
    private func sound(of audio: AudioFile, holding byteCount: Int64) -> Int64 {
        let held = max(0, byteCount - Int64(WAVHeader.byteCount))
        return min(audio.dataBytes, held - held % Int64(audio.header.format.bytesPerFrame))
    }

    /// Whether a path leads to a file, or to any; nil if the storage does not answer.
    private func leads(_ path: String, to identity: FileIdentity?) -> Bool? {
        do throws(FileError) {
            let found = try files.identity(path)
            return identity.map { $0 == found } ?? true
        } catch {
            return error.isAbsence ? false : nil
        }
    }

    /// That the storage with the take is not in its place any more, although the open files still answer; nil: it is, or that is not
    /// known.
    var absence: FileError? {
        guard let day, let status = try? files.status(of: day), files.has(day.path, status.identity) == false else {
            return nil
        }
        let around = takes.path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let place = leads(takes.path, to: nil) == false ? (around.isEmpty ? "/" : around) : takes.path
        let found = try? files.identity(place)
        // A folder that is made anew beside a mount point would be on another storage.
        return found?.device == status.identity.device ? nil : FileError("open", takes.path, code: ENOENT)
    }

    /// Makes the folder of the day again, and `takes`, if another program moved or removed them while the take was recorded.
    mutating func renewDay() throws(FileError) {
        guard let day, let status = try? files.status(of: day), files.has(day.path, status.identity) == false else {
            return
        }
        if let absence { throw absence }
        try files.syncFolder(files.makeFolder(takes.path))
        try makeDay()
    }

    /// The attributes of the sidecar's draft on the disk, if they can be read.
    var draftOnDisk: FileAttributes? { try? files.attributes(path(.sidecarPart)) }

    /// Whether another program removed, replaced or changed the draft of the sidecar.
    /// - Parameter draft: its attributes when it was written, if they could be read.
    func lostDraft(_ draft: FileAttributes?) -> Bool {
        guard let draft else { return false }
        do throws(FileError) {
            let found = try files.attributes(path(.sidecarPart))
            if case .journaled = files.kind, found.inode != draft.inode { return true }
            return found.byteCount != draft.byteCount
        } catch {
            return error.isAbsence
        }
    }
}

extension TakeSite {
    /// Writes the sidecar's draft over the old one, where the storage takes no new file. No more blocks are added than are free, so that
    /// this cannot end in the middle for want of room.
    func overwriteDraft(with content: [UInt8]) throws(FileError) {
        let file = try files.open(path(.sidecarPart))
        let length = Int(try files.length(file))
        let block = 4096
        let free = max(0, ((try? files.freeBytes(takes.path)) ?? 0) - Int64(16 * block))
        guard Int64(content.count) <= Int64((length + block - 1) / block * block) + free else {
            throw FileError("write", file.path, code: ENOSPC)
        }
        // Spaces may follow JSON.
        let rest = [UInt8](repeating: UInt8(ascii: " "), count: max(0, length - content.count))
        try files.write(content + rest, to: file, at: 0)
        try files.sync(file)
    }
}

// MARK: - Rescue

extension TakeSite {
    /// Brings a file that lost its name some way back to it.
    /// - Parameters:
    ///   - byteCount: as much is copied at most.
    ///   - leastFree: so many bytes stay free.
    mutating func advance(
        _ rescue: inout Rescue, copying byteCount: Int64, leastFree: Int64
    ) throws(FileError) {
        guard !rescue.isDone else { return }
        try renewDay()
        let path = path(rescue.audio.currentName)
        let status = try files.status(of: rescue.source)
        if files.has(path, status.identity) == true { return try finish(&rescue, rescue.source) }
        if let copy = rescue.copy, let found = try? files.status(of: copy), files.has(path, found.identity) == false {
            // The copy was removed as well.
            rescue.copy = nil
            rescue.copiedBytes = 0
        }
        if rescue.copy == nil {
            try files.setAside(path)
            if status.linkCount > 0, (try? files.link(rescue.source, to: path)) != nil {
                return try finish(&rescue, rescue.source)
            }
        }
        guard try files.freeBytes(takes.path) - (rescue.audio.dataBytes - rescue.copiedBytes) >= leastFree else {
            throw FileError("copy", path, code: ENOSPC)
        }
        let copy: OpenFile
        if let begun = rescue.copy {
            copy = begun
        } else {
            copy = try files.createWhole(path, isNew: true)
            rescue.copy = copy
            try files.write(rescue.audio.headerBytes, to: copy, at: 0)
        }
        let end = min(rescue.audio.dataBytes, rescue.copiedBytes + byteCount)
        while rescue.copiedBytes < end {
            let place = Int64(WAVHeader.byteCount) + rescue.copiedBytes
            let bytes = try files.read(
                rescue.source, at: place, count: Int(min(Rescue.pieceBytes, end - rescue.copiedBytes)))
            guard !bytes.isEmpty else { throw FileError("read", path, code: EIO) }
            try files.write(bytes, to: copy, at: place)
            rescue.copiedBytes += Int64(bytes.count)
        }
        if rescue.copiedBytes == rescue.audio.dataBytes { try finish(&rescue, copy) }
    }

    /// The file is whole: makes it safe under its name.
    private mutating func finish(_ rescue: inout Rescue, _ file: OpenFile) throws(FileError) {
        try files.write(rescue.audio.headerBytes, to: file, at: 0)
        try files.truncate(file, to: rescue.audio.end)
        try files.sync(file)
        try files.syncFolder(openDay())
        rescue.copiedBytes = rescue.audio.dataBytes
        rescue.audio.identity = files.knownIdentity(of: file)
        rescue.isDone = true
    }
}

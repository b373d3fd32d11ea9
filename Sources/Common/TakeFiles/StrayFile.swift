import Files
import Glibc
import Takes

/// An audio file of a take that is being recorded, after another program shortened, moved, removed or replaced it.
struct StrayFile: Sendable, Hashable {
    /// The final name, as `AudioFile.name`.
    var name: String
    /// Bytes of sound that it contains.
    var soundBytes: Int64
    var place: Place

    enum Place: Sendable {
        /// It still has its name.
        case named
        /// It has another name, or another file has its name.
        case moved
        /// It has no name, and exists until it is closed.
        case removed
        /// It was closed before. Its name is gone, or something else has the name.
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

/// The progress of rescuing an audio file that lost its name. A moved file gets its name again. The content of a
/// removed file is copied, a piece at a time, while it is open.
struct Rescue: Sendable {
    /// The audio file as it should be.
    var audio: AudioFile
    /// The file that lost its name.
    let source: OpenFile
    /// Nil before the copy is begun.
    var copy: OpenFile?
    var copiedBytes: Int64 = 0
    /// Whether the file is whole and durable under its name.
    var isDone = false

    /// Bytes that are copied at a time.
    static let pieceBytes: Int64 = 256 << 10
}

extension TakeSite {
    /// The change that another program made to an open audio file, or nil if the file is unchanged or the storage does
    /// not answer.
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

    /// The same for a closed audio file.
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

    /// Bytes of an audio file's sound, in whole frames, in a file of this size.
    private func sound(of audio: AudioFile, holding byteCount: Int64) -> Int64 {
        let held = max(0, byteCount - Int64(WAVHeader.byteCount))
        return min(audio.dataBytes, held - held % Int64(audio.header.format.bytesPerFrame))
    }

    /// Whether a path leads to this file, or to any if `identity` is nil. Nil if the storage does not answer.
    private func leads(_ path: String, to identity: FileIdentity?) -> Bool? {
        do throws(FileError) {
            let found = try files.identity(path)
            return identity.map { $0 == found } ?? true
        } catch {
            return error.isAbsence ? false : nil
        }
    }

    /// The error if the storage with the take is no longer in its place although the open files still work. Nil if it
    /// is in place or that is unknown.
    var absence: FileError? {
        guard let day, let status = try? files.status(of: day), files.has(day.path, status.identity) == false else {
            return nil
        }
        let around = takes.path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let place = leads(takes.path, to: nil) == false ? (around.isEmpty ? "/" : around) : takes.path
        let found = try? files.identity(place)
        // A folder made again at an empty mount point would be on another storage.
        return found?.device == status.identity.device ? nil : FileError("open", takes.path, code: ENOENT)
    }

    /// Makes the folder of the day and `takes` again, if another program moved or removed them during recording.
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
    /// Overwrites the sidecar's draft in place, if the storage does not accept a new file. It needs at most as many new
    /// blocks as are free, so that it cannot stop in the middle for lack of space.
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
    /// Advances the rescue of a file that lost its name.
    /// - Parameters:
    ///   - byteCount: the maximum number of bytes to copy.
    ///   - leastFree: the number of bytes that must stay free.
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

    /// The file is whole. Makes it durable under its name.
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

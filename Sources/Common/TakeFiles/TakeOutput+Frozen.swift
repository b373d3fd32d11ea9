import Glibc
import Takes

/// Files of a take that is recorded which take nothing more, such as one that a person made immutable, while the storage takes others.
extension TakeOutput {
    /// A file of the newest part refused sound: it goes on in another part. Without the unfiltered sound, the filtered goes on alone.
    /// - Parameter index: of the file in its part.
    /// - Throws: `error`, if it is the storage's, or no other file can be made.
    func leave(frozen index: Int, _ error: FileError) throws(FileError) {
        let part = parts.count - 1
        guard error.isOfOneFile, syncState.allowsNewPart else { throw error }
        // Another file refuses it as well, or there is none.
        if parts[part].frames == 0 || (try? split(format: parts[part].format, firstFrame: nextFrame)) == nil {
            guard index == 1 else { throw error }
            stopTwin(of: part)
            return news.append(.trouble("\(error): the sound goes on without the unfiltered sound"))
        }
        partFailure = nil
        for audio in parts[part].audio {
            if let file = audio.file { try? site.files.truncate(file, to: audio.end) }
        }
        news.append(.trouble("\(error): the sound goes on in \(parts[part + 1].audio[0].name)"))
    }

    /// No more is written to the unfiltered twin of a part; one that has no sound is removed.
    private func stopTwin(of part: Int) {
        guard parts[part].frames == 0 else { return parts[part].audio[1].isFrozen = true }
        let twin = parts[part].audio.remove(at: 1)
        try? site.files.remove(site.path(twin.currentName))
    }
}

extension FileError {
    /// Whether a write failed for what is so of one file, and need not be so of another.
    var isOfOneFile: Bool { [EPERM, EACCES, EBADF, ESTALE, EFBIG, ETXTBSY].contains(code) }
}

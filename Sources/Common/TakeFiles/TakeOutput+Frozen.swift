import Files
import Glibc
import Takes

/// Handles files of a take that accept no more data, for example after a person made one immutable, while the storage
/// accepts other files.
extension TakeOutput {
    /// Handles a file of the newest part that refused sound: recording continues in another part. If only the
    /// unfiltered file fails, the filtered sound continues alone.
    /// - Parameter index: of the file in its part.
    /// - Throws: `error`, if the storage caused it, or if no other file can be made.
    func leave(frozen index: Int, _ error: FileError) throws(FileError) {
        let part = parts.count - 1
        guard error.isOfOneFile, syncState.allowsNewPart else { throw error }
        // The new file refuses the sound as well, or cannot be made.
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

    /// Stops writing the unfiltered twin of a part. A twin without sound is removed.
    private func stopTwin(of part: Int) {
        guard parts[part].frames == 0 else { return parts[part].audio[1].isFrozen = true }
        let twin = parts[part].audio.remove(at: 1)
        try? site.files.remove(site.path(twin.currentName))
    }
}

extension FileError {
    /// Whether a write failed for a reason that may concern only this file.
    var isOfOneFile: Bool { [EPERM, EACCES, EBADF, ESTALE, EFBIG, ETXTBSY].contains(code) }
}

public import Files
import Glibc
public import Takes

/// A stop that can be undone. The sound that the card delivers after the end of a finished take is written to a tail.
/// The tail becomes the take's next part, or is dropped. Meanwhile the take is finished for all other programs, and
/// only the `.tail` files on the disk belong to the tail. Recovery removes them.
extension TakeOutput {
    /// Begins the tail of a take that `finish` has ended. From now on, appended and synced frames go to the tail, and
    /// noted events stay in memory.
    ///
    /// - Parameter format: as the card delivers the sound. The first frame is the one after the take's last.
    /// - Throws: `FileError`. There is then no tail.
    public func beginTail(format: StreamFormat) throws(FileError) {
        guard case .finished = state else { preconditionFailure("\(name.stem) is not finished") }
        for part in parts.indices {
            for index in parts[part].audio.indices {
                parts[part].audio[index].stage = .committed
                parts[part].audio[index].file = nil
            }
        }
        state = .tail
        directory.resumptions.note(.possible, of: name)
        do throws(FileError) {
            try makePart(format: format, firstFrame: nextFrame, .beginTail)
        } catch {
            state = .over
            directory.resumptions.note(nil, of: name)
            throw error
        }
    }

    /// Makes the tail the take's next part. The take continues, with the revision after that of its sidecar on the
    /// disk. All appended frames are on the disk when this returns.
    ///
    /// - Throws: `FileError`. The take then stays finished, and the caller must drop the tail. `EINVAL` if the take is
    ///   not WAV any more: a take must not be converted while it has a tail.
    public func rejoin() throws(FileError) {
        guard case .tail = state else { preconditionFailure("\(name.stem) has no tail") }
        try checkSync()
        directory.resumptions.note(.underWay, of: name)
        do throws(FileError) {
            let finished = try finishedSidecar()
            guard finished.parts.allSatisfy({ $0.file.hasSuffix(".wav") }) else {
                throw FileError("go on with", site.path(.sidecar), code: EINVAL)
            }
            try settleTail()
            ledger.goOn(after: finished)
            try renumberTail()
            do throws(FileError) {
                try perform(.rejoin, content: SidecarFile.bytes(snapshot()))
            } catch {
                guard error.code == EEXIST else { throw error }
                // Another program has just taken one of the names.
                try renumberTail()
                try perform(.rejoin, content: SidecarFile.bytes(snapshot()))
            }
            draft = site.draftOnDisk
        } catch {
            directory.resumptions.note(.possible, of: name)
            throw error
        }
        state = .recording
        for part in parts.indices { parts[part].reportedFrames = parts[part].frames }
        syncedFrames = frames
        ledger.written(ledger.change)
        releaseSynced()
        peaks.goOn()
    }

    /// Removes the tail.
    /// - Throws: `FileError`. Recovery removes the files that could not be removed now.
    public func dropTail() throws(FileError) {
        guard case .tail = state else { return }
        state = .over
        defer { directory.resumptions.note(nil, of: name) }
        // Another program's objects now have their names.
        for part in parts.indices { parts[part].audio.removeAll(where: isNameless) }
        try perform(.dropTail)
    }

    /// The take's sidecar as it is on the disk. It may have been revised since the take was finished.
    private func finishedSidecar() throws(FileError) -> Sidecar {
        do {
            return try directory.sidecar(of: name)
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError("read", site.path(.sidecar), code: EIO)
        }
    }
}

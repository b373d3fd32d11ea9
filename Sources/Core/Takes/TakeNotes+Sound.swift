/// The result of comparing a take's sound with the recording.
public enum SoundStanding: String, Codable, CaseIterable, Sendable {
    /// It matches the fingerprint that was computed during the recording.
    case asRecorded = "as-recorded"
    /// Its length matches. Its fingerprint was computed later.
    case later
    /// It differs, and nobody accepted that.
    case damaged
    /// It differs, and a person accepted it.
    case accepted
}

extension TakeNotes {
    public struct SoundNote: Codable, Hashable, Sendable {
        public var file: String
        /// The length in bytes, or 0 if the file was missing.
        public var bytes: Int64
        /// The modification time in nanoseconds since 1970, or 0 if the file was missing.
        public var modifiedNs: Int64
        /// The status change time in nanoseconds since 1970. Nil if it is unknown, or an earlier version compared the
        /// file.
        public var changedNs: Int64?
        /// The length in frames by the sidecar.
        public var frames: Int64
        /// SHA-256 of the whole file at the comparison, hexadecimal. A file is only sent while it has this hash. Nil if
        /// the file was missing, or an earlier version compared it.
        public var wholeSHA256: String?
        /// The fingerprint that its sound is compared with, or nil if the file was damaged before it had one.
        public var soundSHA256: String?
        public var fingerprint: Sidecar.Part.Fingerprint?
        /// The reason why the file is damaged, or nil if it is not.
        public var problem: String?
        /// SHA-256 of the whole file that a person accepted, or "missing" if the person accepted its loss; otherwise
        /// nil.
        public var acceptedSHA256: String?
        /// True if the sidecar does not list the file; otherwise nil.
        public var isUnlisted: Bool?

        public init(file: String, bytes: Int64, modifiedNs: Int64, frames: Int64) {
            self.file = file
            self.bytes = bytes
            self.modifiedNs = modifiedNs
            self.frames = frames
        }

        enum CodingKeys: String, CodingKey {
            case file, bytes, frames, fingerprint, problem
            case modifiedNs = "modified_ns"
            case changedNs = "changed_ns"
            case wholeSHA256 = "sha256"
            case soundSHA256 = "sound_sha256"
            case acceptedSHA256 = "accepted_sha256"
            case isUnlisted = "unlisted"
        }

        /// Marks a missing file that a person accepted.
        public static let missing = "missing"

        /// Whether the file is damaged, and nobody accepted that.
        public var isDamage: Bool { problem != nil && acceptedSHA256 == nil }

        /// SHA-256 of the whole file that may be sent: the intact file, or the file that a person accepted.
        public var fitSHA256: String? {
            guard !isDamage, acceptedSHA256 != Self.missing else { return nil }
            return acceptedSHA256 ?? wholeSHA256
        }

        /// The name of the file without its extension, which a conversion to FLAC changes.
        public var base: Substring { file.prefix { $0 != "." } }

        /// Whether the note is about this length and this fingerprint.
        fileprivate func isOf(frames: Int64, sha256: String?) -> Bool {
            self.frames == frames && (sha256 == nil || sha256 == soundSHA256)
        }
    }

    public func sound(of file: String) -> SoundNote? { sounds?.first { $0.file == file } }

    /// The result for the whole take, or nil until all its files were compared with this sidecar.
    public func soundStanding(of sidecar: Sidecar) -> SoundStanding? {
        let notes = of(sidecar.recordingStart)
        guard notes.sounds != nil, let found = notes.comparisons(with: sidecar) else { return nil }
        if found.contains(where: \.isDamage) { return .damaged }
        if found.contains(where: { $0.acceptedSHA256 != nil }) { return .accepted }
        return found.allSatisfy { $0.fingerprint == .capture } ? .asRecorded : .later
    }

    /// Reopens the receipts if a file that a person had accepted has changed: the stores have a copy of the accepted
    /// file.
    /// - Parameter found: the results that replace these.
    /// - Returns: whether the take must be sent again.
    public mutating func reopenReceipts(before found: [SoundNote]) -> Bool {
        let isOther = (sounds ?? []).contains { old in
            old.isUnlisted != true && old.acceptedSHA256 != nil
                && old.acceptedSHA256 != found.first { $0.file == old.file }?.acceptedSHA256
        }
        guard isOther else { return false }
        for index in receipts.indices { receipts[index].reopen() }
        return true
    }

    /// The reason why a take is damaged, in one sentence. Nil if no damage was found, or a person accepted it.
    public func damage(of sidecar: Sidecar) -> String? {
        let found = of(sidecar.recordingStart).comparisons(with: sidecar)?.filter(\.isDamage) ?? []
        guard let first = found.first else { return nil }
        let more = found.count == 1 ? "" : " (and \(found.count - 1) more of its files)"
        return "\(first.file): \(first.problem ?? "")\(more)"
    }

    /// The results for all audio files, including those that the sidecar does not list, or nil until all were compared
    /// with this sidecar.
    private func comparisons(with sidecar: Sidecar) -> [SoundNote]? {
        var found: [SoundNote] = []
        for part in sidecar.parts {
            let twin = part.unfilteredFile.map {
                ($0, part.twinFrames, part.unfilteredSoundSHA256)
            }
            for (file, frames, sha256) in [(part.file, part.frames, part.soundSHA256), twin].compactMap(\.self) {
                guard let note = sound(of: file), note.isOf(frames: frames, sha256: sha256) else { return nil }
                found.append(note)
            }
        }
        let listed = Set(sidecar.audioFiles)
        return found + (sounds ?? []).filter { $0.isUnlisted == true && !listed.contains($0.file) }
    }
}

extension Sidecar {
    /// Adds results about its sound to a copy that is sent: fingerprints that were computed later, and the hashes that
    /// a person accepted.
    public mutating func add(_ sounds: [TakeNotes.SoundNote]?) {
        for note in sounds ?? [] {
            for index in parts.indices {
                if parts[index].file == note.file, parts[index].frames == note.frames {
                    parts[index].soundSHA256 = parts[index].soundSHA256 ?? note.soundSHA256
                    parts[index].acceptedSHA256 = note.acceptedSHA256
                } else if parts[index].unfilteredFile == note.file, parts[index].twinFrames == note.frames {
                    parts[index].unfilteredSoundSHA256 = parts[index].unfilteredSoundSHA256 ?? note.soundSHA256
                    parts[index].acceptedUnfilteredSHA256 = note.acceptedSHA256
                } else {
                    continue
                }
                if parts[index].fingerprint == nil { parts[index].fingerprint = note.fingerprint }
            }
        }
    }
}

extension Sidecar {
    public func isAcceptedMissing(_ file: String) -> Bool {
        acceptedSHA256(of: file) == TakeNotes.SoundNote.missing
    }

    /// The hash of an audio file that a person accepted instead of the recorded one, or nil.
    public func acceptedSHA256(of file: String) -> String? {
        for part in parts {
            if part.file == file { return part.acceptedSHA256 }
            if part.unfilteredFile == file { return part.acceptedUnfilteredSHA256 }
        }
        return nil
    }
}

/// Whether a take's sound is what was recorded, as far as it was compared.
public enum SoundStanding: String, Codable, CaseIterable, Sendable {
    /// By the fingerprint that was computed while it was recorded.
    case asRecorded = "as-recorded"
    /// By its length alone: its fingerprint was computed later.
    case later
    /// It is not, and nobody has accepted that.
    case damaged
    /// It is not, and a person has accepted it as it is.
    case accepted
}

extension TakeNotes {
    /// The result of comparing an audio file with the sidecar.
    public struct SoundNote: Codable, Hashable, Sendable {
        /// The file's name.
        public var file: String
        /// Its length in bytes; 0 if it was missing.
        public var bytes: Int64
        /// When it was written, in nanoseconds since 1970; 0: it was missing.
        public var modifiedNs: Int64
        /// When it or its attributes changed, in nanoseconds since 1970; nil: not known, or an earlier version compared it.
        public var changedNs: Int64?
        /// Its length in frames by the sidecar.
        public var frames: Int64
        /// SHA-256 of the whole file as it was compared, hexadecimal: what is sent later must be this. Nil if it was missing, or an earlier
        /// version compared it.
        public var wholeSHA256: String?
        /// The fingerprint that its sound is compared with; nil if it was damaged before it had one.
        public var soundSHA256: String?
        /// The origin of that fingerprint.
        public var fingerprint: Sidecar.Part.Fingerprint?
        /// Why it is damaged; nil if it is not.
        public var problem: String?
        /// SHA-256 of the whole file as a person accepted it, or "missing" for a missing file; nil if nobody did.
        public var acceptedSHA256: String?
        /// True if the sidecar does not list the file; nil if it does.
        public var isUnlisted: Bool?

        /// A comparison of a file.
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

        /// The note on a missing file that a person accepted.
        public static let missing = "missing"

        /// Whether it is damaged, and nobody has accepted that.
        public var isDamage: Bool { problem != nil && acceptedSHA256 == nil }

        /// SHA-256 of the whole file that may be sent: as it was found good, or as a person accepted it.
        public var fitSHA256: String? {
            guard !isDamage, acceptedSHA256 != Self.missing else { return nil }
            return acceptedSHA256 ?? wholeSHA256
        }

        /// The name of the file without its ending, which a conversion to FLAC changes.
        public var base: Substring { file.prefix { $0 != "." } }

        /// Whether it is of what a sidecar says now.
        fileprivate func isOf(frames: Int64, sha256: String?) -> Bool {
            self.frames == frames && (sha256 == nil || sha256 == soundSHA256)
        }
    }

    /// The result for a file, if it was compared.
    public func sound(of file: String) -> SoundNote? { sounds?.first { $0.file == file } }

    /// The standing of a take's sound; nil before all of it was compared with this sidecar.
    public func soundStanding(of sidecar: Sidecar) -> SoundStanding? {
        let notes = of(sidecar.recordingStart)
        guard notes.sounds != nil, let found = notes.comparisons(with: sidecar) else { return nil }
        if found.contains(where: \.isDamage) { return .damaged }
        if found.contains(where: { $0.acceptedSHA256 != nil }) { return .accepted }
        return found.allSatisfy { $0.fingerprint == .capture } ? .asRecorded : .later
    }

    /// Has a take sent again of which a person had accepted a file as it was, and the file is another now: the copies at home are of the
    /// accepted one.
    /// - Parameter found: the results that take the place of these.
    /// - Returns: whether it is to be sent again.
    public mutating func reopenReceipts(before found: [SoundNote]) -> Bool {
        let isOther = (sounds ?? []).contains { old in
            old.isUnlisted != true && old.acceptedSHA256 != nil
                && old.acceptedSHA256 != found.first { $0.file == old.file }?.acceptedSHA256
        }
        guard isOther else { return false }
        for index in receipts.indices { receipts[index].reopen() }
        return true
    }

    /// Why a take is damaged, in one sentence; nil if no damage was found, or a person has accepted it.
    public func damage(of sidecar: Sidecar) -> String? {
        let found = of(sidecar.recordingStart).comparisons(with: sidecar)?.filter(\.isDamage) ?? []
        guard let first = found.first else { return nil }
        let more = found.count == 1 ? "" : " (and \(found.count - 1) more of its files)"
        return "\(first.file): \(first.problem ?? "")\(more)"
    }

    /// The results for all audio files, and for those that the sidecar does not list; nil before all were compared with this sidecar.
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
    /// Adds what was found of its sound, for a copy that is sent: fingerprints that were computed later, and what a person accepted.
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
    /// Whether a person accepted that an audio file is missing.
    public func isAcceptedMissing(_ file: String) -> Bool {
        acceptedSHA256(of: file) == TakeNotes.SoundNote.missing
    }

    /// What a person accepted in place of an audio file that was recorded; nil: nothing.
    public func acceptedSHA256(of file: String) -> String? {
        for part in parts {
            if part.file == file { return part.acceptedSHA256 }
            if part.unfilteredFile == file { return part.acceptedUnfilteredSHA256 }
        }
        return nil
    }
}

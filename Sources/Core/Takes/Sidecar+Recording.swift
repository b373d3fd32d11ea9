/// Identifies the recording that a sidecar describes, even after recovery rebuilt the sidecar and the boot id is lost.
extension Sidecar {
    /// Whether recovery rebuilt the sidecar from the sound files, which do not contain the boot id.
    public var isRebuilt: Bool { bootID.isEmpty }

    /// Whether another sidecar describes the same recording. The boot and the instant decide. If one of the two was
    /// rebuilt, the start time and the hashes of the sound decide.
    public func isOfSameRecording(as other: Sidecar) -> Bool {
        guard take == other.take else { return false }
        guard isRebuilt || other.isRebuilt else { return recordingStart == other.recordingStart }
        return hasSameStart(as: other) && hasSameSound(as: other)
    }

    /// In microseconds. The header of a sound file stores the time to a frame.
    private static let startTolerance: Int64 = 1_000_000

    private func hasSameStart(as other: Sidecar) -> Bool {
        func isNear(_ first: WallTime?, _ second: WallTime?) -> Bool {
            guard let first, let second else { return false }
            let (distance, isFar) = first.microseconds.subtractingReportingOverflow(second.microseconds)
            return !isFar && distance.magnitude < Self.startTolerance
        }
        return isNear(WallTime(iso8601: started), WallTime(iso8601: other.started)) || isNear(begun, other.begun)
    }

    private func hasSameSound(as other: Sidecar) -> Bool {
        let (mine, others) = (parts.filter { $0.frames > 0 }, other.parts.filter { $0.frames > 0 })
        return !mine.isEmpty && mine.count == others.count && zip(mine, others).allSatisfy { $0.hasSameSound(as: $1) }
    }

    /// Stores the hash of an audio file in its part.
    public mutating func setHash(_ sha256: String, of file: String) {
        for index in parts.indices {
            if parts[index].file == file { parts[index].sha256 = sha256 }
            if parts[index].unfilteredFile == file { parts[index].unfilteredSHA256 = sha256 }
        }
    }

    /// Adds the data that only the earlier sidecar of the same recording has: gaps, filter, levels, the clock map, and
    /// the values of markers that sound files do not contain.
    public func completed(by other: Sidecar) -> Sidecar {
        var whole = other
        whole.revision = max(revision, other.revision)
        whole.recovered = true
        let earlier = Dictionary(other.markers.map { ($0.atFrame, $0) }) { first, _ in first }
        whole.markers = markers.map { marker in earlier[marker.atFrame].map { marker.completed(by: $0) } ?? marker }
        whole.pendingFormat = pendingFormat
        whole.parts = zip(parts, other.parts.filter { $0.frames > 0 }).map { $0.completed(by: $1) }
        return whole
    }
}

extension Sidecar.Marker {
    /// Adds the values that sound files do not contain, if the other marker has the same length.
    fileprivate func completed(by other: Self) -> Self {
        guard content.endFrame == other.content.endFrame else { return self }
        var marker = self
        (marker.by, marker.score) = (marker.by ?? other.by, marker.score ?? other.score)
        if marker.lowHz == nil, marker.highHz == nil { (marker.lowHz, marker.highHz) = (other.lowHz, other.highHz) }
        return marker
    }
}

extension Sidecar.Part {
    /// The name of the file without its extension, which a conversion to FLAC changes.
    private var base: Substring { file.prefix { $0 != "." } }

    fileprivate func hasSameSound(as other: Self) -> Bool {
        base == other.base && frames == other.frames && (unfilteredFile == nil) == (other.unfilteredFile == nil)
            && Self.isSame(soundSHA256, other.soundSHA256, sha256, other.sha256)
            && (unfilteredFile == nil
                || Self.isSame(
                    unfilteredSoundSHA256, other.unfilteredSoundSHA256, unfilteredSHA256, other.unfilteredSHA256))
    }

    /// Compares the fingerprints, or the hashes of the whole files if a fingerprint is missing.
    private static func isSame(_ sound: String?, _ other: String?, _ whole: String?, _ otherWhole: String?) -> Bool {
        if let sound, let other { return sound == other }
        return whole != nil && whole == otherWhole
    }

    fileprivate func completed(by other: Self) -> Self {
        var part = self
        (part.firstFrame, part.rateHz, part.significantBits) = (other.firstFrame, other.rateHz, other.significantBits)
        part.place = other.place
        guard other.soundSHA256 != nil else { return part }
        (part.soundSHA256, part.unfilteredSoundSHA256) = (other.soundSHA256, other.unfilteredSoundSHA256)
        part.fingerprint = other.fingerprint
        return part
    }
}

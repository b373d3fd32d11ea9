public import Takes

/// The sound of one audio file, as the sidecar describes it.
public struct RecordedSound: Hashable, Sendable {
    /// The file's name, in the folder of the sidecar.
    public var file: String
    public var frames: Int64
    /// The format of the WAV file. FLAC decodes to the same samples.
    public var format: StreamFormat
    /// SHA-256 of its samples, hexadecimal, or nil without a fingerprint.
    public var sha256: String?
    /// SHA-256 of the whole file as it was sent, hexadecimal. Only the sidecar of a copy contains it.
    public var wholeSHA256: String?
    /// SHA-256 of the whole file, hexadecimal, if the file is damaged and a person accepted it.
    public var acceptedSHA256: String?

    public init(
        file: String, frames: Int64, format: StreamFormat, sha256: String? = nil, wholeSHA256: String? = nil,
        acceptedSHA256: String? = nil
    ) {
        self.file = file
        self.frames = frames
        self.format = format
        self.sha256 = sha256
        self.wholeSHA256 = wholeSHA256
        self.acceptedSHA256 = acceptedSHA256
    }

    /// The name without its extension, which a conversion to FLAC changes.
    public var base: String { Self.base(of: file) }

    public static func base(of file: String) -> String { String(file.prefix { $0 != "." }) }
}

extension Sidecar {
    /// The sound of each audio file, in order. Each is followed by its unfiltered twin.
    public var sounds: [RecordedSound] {
        parts.flatMap { part in
            let format = part.streamFormat(channels: channels).stored
            let sound = RecordedSound(
                file: part.file, frames: part.frames, format: format, sha256: part.soundSHA256,
                wholeSHA256: part.sha256, acceptedSHA256: part.acceptedSHA256)
            let twin = part.unfilteredFile.map { file in
                RecordedSound(
                    file: file, frames: part.twinFrames, format: format,
                    sha256: part.unfilteredSoundSHA256,
                    wholeSHA256: part.unfilteredSHA256, acceptedSHA256: part.acceptedUnfilteredSHA256)
            }
            return [sound, twin].compactMap(\.self)
        }
    }
}

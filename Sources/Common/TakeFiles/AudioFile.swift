import Files
import Takes

/// One audio file of a take that is being written.
struct AudioFile: Sendable {
    /// The final name.
    var name: String
    var header: WAVHeader
    let firstFrame: TakeFrame
    var dataBytes: Int64 = 0
    /// The fingerprint of the sound, and the sound that is not known to be on the disk.
    var written: WrittenSound
    /// The chunks that must follow the sound.
    var closing: [UInt8] = []
    /// Whether `closing` is written.
    var isClosed = false
    var stage: Stage
    /// Nil before the file is made, and after it is synced and complete.
    var file: OpenFile?
    /// The identity of the file when it was made, or nil if the file system does not report which file has a name.
    var identity: FileIdentity?
    /// Whether the header could not be written, and must be written at the end.
    var owesHeader = false
    /// Whether it takes no more sound while its twin still does.
    var isFrozen = false
    /// Whether another program changed the content. Such a file has no fingerprint from capture.
    var isTouched = false

    /// How far an audio file is on its way to its final name.
    enum Stage: Sendable {
        /// A tail: it follows the end of a finished take, and has a name that recovery removes.
        case tail
        /// A part of a take that is not finished.
        case part
        case final
        /// The sidecar of a finished take names it. It is never written again.
        case committed

        /// The suffix after the final name.
        var suffix: String {
            switch self {
            case .tail: ".tail"
            case .part: ".part"
            case .final, .committed: ""
            }
        }
    }

    init(
        name: String, header: WAVHeader, firstFrame: TakeFrame, stage: Stage = .part, hasFingerprint: Bool = true
    ) {
        self.name = name
        written = WrittenSound(hasFingerprint: hasFingerprint)
        self.stage = stage
        self.header = header
        self.firstFrame = firstFrame
    }

    var isUnnamed: Bool {
        switch stage {
        case .tail, .part: true
        case .final, .committed: false
        }
    }
    var currentName: String { name + stage.suffix }
    /// The offset in bytes at which the next frame is written.
    var end: Int64 { Int64(WAVHeader.byteCount) + dataBytes }
    var frames: Int64 { dataBytes / Int64(header.format.bytesPerFrame) }
    /// The header for the sound written so far.
    var headerBytes: [UInt8] {
        header.bytes(dataBytes: dataBytes, trailingBytes: isClosed ? closing.count : 0)
    }

    /// Records that these bytes were written after the sound.
    mutating func wrote(_ bytes: UnsafeRawBufferPointer) {
        unsafe written.append(bytes)
        dataBytes += Int64(bytes.count)
    }

    /// Sets the chunks that must follow the sound.
    ///
    /// - Parameters:
    ///   - sidecar: of the take, or nil if the take is not known.
    ///   - isLast: whether the file belongs to the take's last part.
    mutating func setClosing(_ sidecar: Sidecar?, isLast: Bool) {
        let cues = sidecar?.cues(
            firstFrame: firstFrame, frames: frames, rateHz: header.format.rateHz, isLast: isLast)
        closing = CueChunks.closing(cues ?? [], afterBytes: dataBytes)
    }
}

extension TakeSite {
    /// Changes the final name, and renames the file to the new name with the suffix of its stage.
    mutating func rename(_ audio: inout AudioFile, to name: String) throws(FileError) {
        var renamed = audio
        renamed.name = name
        if try files.kind(of: takes.path).splitsNames {
            try reserve(path(renamed.currentName))
            try syncNames()
        }
        try rename(audio, to: path(renamed.currentName))
        audio = renamed
        try files.settle(path(audio.currentName))
    }

    /// Appends the closing chunks to one audio file, if there are any.
    mutating func close(_ audio: inout AudioFile, of sidecar: Sidecar?, isLast: Bool) throws(FileError) {
        guard audio.stage != .committed else { return }
        audio.setClosing(sidecar, isLast: isLast)
        guard !audio.closing.isEmpty else { return }
        if audio.file == nil { audio.file = try files.open(path(audio.currentName)) }
        var one = [audio]
        defer { audio = one[0] }
        try perform(.close, audio: &one)
        one[0].file = nil
    }
}

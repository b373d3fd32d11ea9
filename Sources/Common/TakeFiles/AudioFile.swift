import Takes

/// One audio file of a take that is being written.
struct AudioFile: Sendable {
    /// The name that it will have.
    var name: String
    /// The header that it begins with.
    var header: WAVHeader
    /// The frame of the take that it begins with.
    let firstFrame: TakeFrame
    /// Sound written so far.
    var dataBytes: Int64 = 0
    /// Its fingerprint, and what of it is not known to be on the disk.
    var written: WrittenSound
    /// What is to follow the sound.
    var closing: [UInt8] = []
    /// Whether the closing is written.
    var isClosed = false
    /// How far it is.
    var stage: Stage
    /// Nil before it is made, and once it is synced and nothing more is to be written.
    var file: OpenFile?
    /// What had its name when it was made; nil: not every file system says which file has a name.
    var identity: FileIdentity?
    /// Whether its header could not be written, and is to be written at the end.
    var owesHeader = false
    /// Whether it takes no more sound, while its twin does.
    var isFrozen = false
    /// Whether another program changed what it holds: it has no fingerprint from capture.
    var isTouched = false

    /// How far an audio file is on its way to its final name.
    enum Stage: Sendable {
        /// It follows the end of a finished take, and has a name that recovery removes.
        case tail
        /// It is a part of a take that is not finished.
        case part
        /// It has its final name.
        case final
        /// The sidecar of a finished take names it: it is never written to again.
        case committed

        /// What is appended to its final name.
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

    /// Whether it has yet to get its final name.
    var isUnnamed: Bool {
        switch stage {
        case .tail, .part: true
        case .final, .committed: false
        }
    }
    /// The name that it has now.
    var currentName: String { name + stage.suffix }
    /// Where the next frame goes.
    var end: Int64 { Int64(WAVHeader.byteCount) + dataBytes }
    /// Whole frames written so far.
    var frames: Int64 { dataBytes / Int64(header.format.bytesPerFrame) }
    /// The header, with the sound so far.
    var headerBytes: [UInt8] {
        header.bytes(dataBytes: dataBytes, trailingBytes: isClosed ? closing.count : 0)
    }

    /// These bytes were written behind its sound.
    mutating func wrote(_ bytes: UnsafeRawBufferPointer) {
        unsafe written.append(bytes)
        dataBytes += Int64(bytes.count)
    }

    /// Sets what is to follow the sound.
    ///
    /// - Parameters:
    ///   - sidecar: of the take; nil: nothing is known of it.
    ///   - isLast: whether it belongs to the take's last part.
    mutating func setClosing(_ sidecar: Sidecar?, isLast: Bool) {
        let cues = sidecar?.cues(
            firstFrame: firstFrame, frames: frames, rateHz: header.format.rateHz, isLast: isLast)
        closing = CueChunks.closing(cues ?? [], afterBytes: dataBytes)
    }
}

extension TakeSite {
    /// Gives an audio file another final name, and the one that belongs to that at its stage.
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

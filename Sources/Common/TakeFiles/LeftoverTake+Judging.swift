import Takes

extension LeftoverTake {
    /// Finds the parts and the valid length of each.
    mutating func judge(_ found: [Found], _ take: TakeName, isAnew: Bool) {
        let ended = sidecar.endedBy != nil && !isAnew
        var judged: [Sidecar.Part] = []
        var formats: [StreamFormat] = []
        var files: [[Found]] = []
        var counts: [[Int64]] = []
        // The start of a continued take is known.
        var start = settled.isEmpty ? nil : WallTime(iso8601: sidecar.started)
        let usual = found.lazy.compactMap(\.header?.format).first ?? sidecar.streamFormat.stored
        for number in Set(found.map(\.name.part)).sorted() {
            let own = found.filter { $0.name.part == number }
            let file = own[0].name.sibling(isUnfiltered: false)
            let known = sidecar.parts.first { $0.file == file }
            let granted = [known?.streamFormat(channels: sidecar.channels), sidecar.streamFormat].compactMap(\.self)
            var format =
                own.lazy.compactMap(\.header?.format).first
                ?? known?.streamFormat(channels: sidecar.channels).stored ?? formats.last ?? usual
            // The file's header does not contain the number of significant bits.
            var delivered = format
            if let agreeing = granted.first(where: { $0.stored.sampleFormat == format.sampleFormat }) {
                delivered.sampleFormat = agreeing.sampleFormat
                delivered.significantBits = agreeing.significantBits
                format.significantBits = agreeing.stored.significantBits
            }
            let frames = own.map { file in
                let room = file.frames(of: format)
                if let bytes = file.receivedBytes { return min(room, bytes / Int64(format.bytesPerFrame)) }
                if ended, let known { return min(room, file.name.isUnfiltered ? known.twinFrames : known.frames) }
                guard isAnew, file.isClosed, let header = file.header else { return room }
                return min(room, header.dataBytes / Int64(format.bytesPerFrame))
            }
            let hasTwin = zip(own, frames).contains { $0.name.isUnfiltered && $1 > 0 }
            let twin = hasTwin ? own[0].name.sibling(isUnfiltered: true) : nil
            let begun = own.lazy.compactMap { $0.header?.origin?.started }.first
            let end = (judged.last ?? settled.last).map(sidecar.end) ?? .first
            var first = known?.firstFrame ?? end
            if known == nil, let start, let begun {
                first = max(end, Self.frame(of: begun, start, rateHz: sidecar.rateHz, near: end))
            }
            if start == nil, let begun {
                start = begun - Self.duration(first.count, rateHz: sidecar.rateHz)
                if isAnew, let start { sidecar.started = start.iso8601 }
            }
            var part = Sidecar.Part(
                file: file, unfilteredFile: twin, firstFrame: first,
                frames: own[0].name.isUnfiltered ? 0 : frames[0], format: delivered)
            if twin != nil, let count = frames.last, count != part.frames { part.unfilteredFrames = count }
            part.place = known?.place
            if let known { part.keepFingerprints(of: known) }
            judged.append(part)
            formats.append(format)
            files.append(own)
            counts.append(frames)
        }
        sidecar.setParts(settled + judged.filter { $0.frames > 0 })
        let started = WallTime(iso8601: sidecar.started) ?? WallTime(microseconds: 0)
        for part in judged.indices {
            var sound: [AudioFile] = []
            for (file, frames) in zip(files[part], counts[part]) {
                var audio = AudioFile(
                    name: file.name.file,
                    header: WAVHeader(
                        format: formats[part],
                        origin: BroadcastOrigin(
                            sidecar: sidecar, started: started, firstFrame: judged[part].firstFrame.count,
                            format: formats[part], isUnfiltered: file.name.isUnfiltered)),
                    firstFrame: judged[part].firstFrame)
                audio.stage = file.name.stage
                audio.dataBytes = frames * Int64(formats[part].bytesPerFrame)
                if judged[part].frames > 0, frames > 0 {
                    sound.append(audio)
                } else if frames > 0 {
                    loneTwins.append(audio.currentName)
                } else if file.isBlank || file.header != nil {
                    empty.append(audio)
                }
            }
            if !sound.isEmpty { parts.append(sound) }
        }
    }

    /// The frame of the take that was sampled at `time`. Returns `near` if the rounding of both times explains the
    /// difference, or if a take cannot be that long.
    static func frame(of time: WallTime, _ start: WallTime, rateHz: Int, near: TakeFrame) -> TakeFrame {
        let seconds = Double(time.microseconds - start.microseconds) / 1e6
        guard seconds * Double(rateHz) <= Double(Sidecar.latestFrame) else { return near }
        let frame = TakeFrame(Int64(max(0, seconds * Double(rateHz)).rounded()))
        return abs(frame - near) <= 2 ? near : frame
    }

    private static func duration(_ frames: Int64, rateHz: Int) -> Duration {
        .seconds(Double(frames) / Double(rateHz))
    }
}

extension Sidecar.Part {
    /// Keeps the fingerprints that were computed during recording, for each file whose number of frames is unchanged.
    fileprivate mutating func keepFingerprints(of known: Sidecar.Part) {
        if known.frames == frames { soundSHA256 = known.soundSHA256 }
        var isWhole = known.frames == frames
        if let unfilteredFile {
            let isSame = known.unfilteredFile == unfilteredFile && known.twinFrames == twinFrames
            if isSame { unfilteredSoundSHA256 = known.unfilteredSoundSHA256 }
            isWhole = isWhole && isSame
        }
        if isWhole { fingerprint = known.fingerprint }
    }
}

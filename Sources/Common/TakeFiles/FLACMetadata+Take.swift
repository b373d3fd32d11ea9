package import Takes

extension FLACMetadata {
    /// The metadata of a part: the content of `bext` and `cue ` in its WAV file, and which part of which take it is.
    ///
    /// ffmpeg reads and writes `bext` under the same comment names.
    ///
    /// - Parameters:
    ///   - sidecar: of the take. If its clock was set later, the corrected time is used.
    ///   - part: the index of the part, from 0.
    ///   - format: the stored format.
    ///   - frames: of the file.
    ///   - chunks: of the WAV file.
    package init(
        sidecar: Sidecar, part: Int, isUnfiltered: Bool, format: StreamFormat, frames: Int64, chunks: [[UInt8]]
    ) {
        let firstFrame = sidecar.parts[part].firstFrame
        var texts: [(String, String)] = []
        let isAlone = sidecar.parts.count == 1
        texts.append(
            ("TITLE", sidecar.take + (isAlone ? "" : ", part \(part + 1)") + (isUnfiltered ? ", unfiltered" : "")))
        let started = sidecar.startedCorrected.flatMap { WallTime(iso8601: $0) } ?? WallTime(iso8601: sidecar.started)
        if let started {
            let origin = BroadcastOrigin(
                sidecar: sidecar, started: started, firstFrame: firstFrame.count, format: format,
                isUnfiltered: isUnfiltered)
            texts += [
                ("DESCRIPTION", origin.description), ("ORIGINATOR", origin.originator),
                ("ORIGINATOR_REFERENCE", origin.reference),
            ]
            if let started = origin.started {
                texts += [
                    ("DATE", started.date), ("CREATION_TIME", started.iso8601), ("ORIGINATION_DATE", started.date),
                    ("ORIGINATION_TIME", started.timeOfDay),
                    ("TIME_REFERENCE", String(origin.timeReference(rateHz: format.rateHz))),
                ]
            }
            texts.append(("CODING_HISTORY", origin.codingHistory))
        }
        texts += [("TAKE", sidecar.take), ("KIT", sidecar.kit), ("CARD", sidecar.card)]
        texts += [("CLOCK", sidecar.clock.rawValue), ("FIRST_FRAME", String(firstFrame.count))]
        if !isAlone { texts.append(("PART", "\(part + 1)/\(sidecar.parts.count)")) }
        // As in the WAV file, more than two channels are not assigned to loudspeakers (RFC 9639, section 8.6.2).
        if format.channels > 2 { texts.append(("WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "0x0")) }
        texts.append(("ENCODER", "Fieldfare \(sidecar.version)"))
        self.init(
            comments: texts.map { Comment(name: $0.0, text: $0.1) },
            cues: Self.cues(sidecar, part: part, rateHz: format.rateHz, frames: frames), frames: frames,
            rateHz: format.rateHz, chunks: chunks)
    }

    /// The markers that lie in a part, sorted by frame.
    private static func cues(_ sidecar: Sidecar, part: Int, rateHz: Int, frames: Int64) -> [Cue] {
        let cues = sidecar.cues(
            firstFrame: sidecar.parts[part].firstFrame, frames: frames, rateHz: rateHz,
            isLast: part == sidecar.parts.count - 1
        ).map { Cue(frame: $0.frame, label: $0.label, frames: $0.region?.frames) }
        // By frame, then by position in the list: `sorted` is not guaranteed to be stable.
        return cues.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
            .map(\.element)
    }
}

public import Spectra
public import Takes

extension PictureQuery {
    /// Whether each part in the range has its file of columns.
    /// - Parameter readers: one for each part of the take, in order, or nil for a part without a file.
    public func isCovered(by readers: [SpectraReader?], of sidecar: Sidecar) -> Bool {
        zip(sidecar.parts, readers).allSatisfy { part, reader in
            reader != nil || !touches(TakeSound.Part(part, of: sidecar))
        }
    }

    /// Makes a coarse picture from the files of columns. Parts without a file are silent, as is the time between parts.
    /// - Parameters:
    ///   - readers: one for each part of the take, in order.
    ///   - check: called before each read. Its error ends the work.
    /// - Throws: `FileError`, `SpectraError`, and the errors of `check`.
    public func picture(
        of sidecar: Sidecar, by readers: [SpectraReader?], check: () throws -> Void = {}
    ) throws -> TakePicture {
        var picture = TakePicture(self)
        for (listed, reader) in zip(sidecar.parts, readers) {
            let part = TakeSound.Part(listed, of: sidecar)
            guard let reader, channel < reader.format.channels, touches(part) else { continue }
            let map = TakePicture.RowMap(
                picture, rows: ColumnFormat.bands, hasLast: false, rateHz: reader.format.rateHz)
            for run in runs(in: part.range) {
                try check()
                let shown = frames(of: run.lowerBound).lowerBound..<frames(of: run.upperBound - 1).upperBound
                let found = try reader.picture(of: part.fileFrames(in: shown), columns: run.count, channel: channel)
                picture.raise(run, to: found, by: map)
            }
        }
        return picture
    }

    /// Frames that are transformed at once: 1 MB of numbers.
    private static let framesAtATime = 1 << 18

    /// Makes a picture from the sound, a few seconds at a time.
    /// - Parameter check: called before each read. Its error ends the work.
    /// - Throws: `FileError`, `SoundFileError`, `ExportError`, `SpectraError`, and the errors of `check`.
    public func picture(of sound: TakeSound, check: () throws -> Void = {}) throws -> TakePicture {
        guard isShort else {
            throw ExportError(
                .usage,
                "spectrum: \(sound.sidecar.take): at most \(SoundPicture.mostSeconds) s of sound are transformed at once: "
                    + "ask for a shorter range")
        }
        var picture = TakePicture(self)
        for (index, part) in sound.parts.enumerated() where channel < part.format.channels && touches(part) {
            let window = try samplesPerWindow(of: part)
            let map = TakePicture.RowMap(picture, rows: window / 2, hasLast: true, rateHz: part.format.rateHz)
            // The limit of one picture is in seconds, which matters at the lowest rates.
            let most = Int64(
                max(1, min(Self.framesAtATime, SoundPicture.mostSeconds * part.format.rateHz - window)))
            var rest = stretches(of: part, most: most)[...]
            while let first = rest.first {
                try check()
                let piece = rest.prefix { $0.frames.upperBound - first.frames.lowerBound <= most }
                rest = rest.dropFirst(piece.count)
                let found = try values(of: Array(piece), window: window, sound, part: index)
                picture.raise(piece.map(\.column), to: found, by: map)
            }
        }
        return picture
    }

    /// Frames of a part in one column of the picture.
    private struct Stretch {
        var column: Int
        var frames: Range<Int64>
    }

    /// The frames of a part in each column, in order, divided into pieces of at most `most` frames.
    private func stretches(of part: TakeSound.Part, most: Int64) -> [Stretch] {
        (0..<columns).flatMap { column -> [Stretch] in
            let shown = frames(of: column)
            guard shown.overlaps(part.range) else { return [] }
            let frames = part.fileFrames(in: shown)
            return stride(from: frames.lowerBound, to: frames.upperBound, by: Int64.Stride(most)).map { start in
                Stretch(column: column, frames: start..<min(frames.upperBound, start + most))
            }
        }
    }

    private func samplesPerWindow(of part: TakeSound.Part) throws(SpectraError) -> Int {
        switch detail {
        case .coarse: try ColumnFormat(rateHz: part.format.rateHz, channels: part.format.channels).window
        case .fine(let window): window
        }
    }

    /// The bins of a piece of a part, stretch after stretch.
    private func values(
        of piece: [Stretch], window: Int, _ sound: TakeSound, part index: Int
    ) throws -> [UInt8] {
        let (start, end) = (piece[0].frames.lowerBound, piece[piece.count - 1].frames.upperBound)
        let (part, half) = (sound.parts[index], Int64(window / 2))
        let (from, to) = (max(0, start - half), min(part.frames, end + half))
        let samples = try sound.channel(channel, ofPart: index, from: from, count: Int(to - from))
        let edges = piece.map { Int($0.frames.lowerBound - from) } + [Int(end - from)]
        return try SoundPicture(
            of: samples.span, rateHz: part.format.rateHz, edges: edges, window: window, bins: 0..<window / 2 + 1
        ).values
    }
}

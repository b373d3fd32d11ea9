public import Files
import TakeFiles
public import Takes

/// The sound of a finished take on its timeline, from frame 0. It is silent between parts, while the card was away. Not
/// thread-safe.
public final class TakeSound {
    public let sidecar: Sidecar
    let parts: [Part]
    private let files: FileSystem
    private var open: OpenPart?

    /// A part at its own rate.
    struct Part {
        var path: String
        var format: StreamFormat
        /// The first frame on the timeline, at the take's rate.
        var first: Int64
        /// The length at the part's own rate.
        var frames: Int64
        /// The length at the take's rate.
        var takeFrames: Int64
        var range: Range<Int64> { first..<(first + takeFrames) }

        /// A part as the sidecar describes it, without its file.
        init(_ part: Sidecar.Part, of sidecar: Sidecar) {
            self.init(part, of: sidecar, path: part.file, format: part.streamFormat(channels: sidecar.channels).stored)
        }

        fileprivate init(_ part: Sidecar.Part, of sidecar: Sidecar, path: String, format: StreamFormat) {
            self.path = path
            self.format = format
            first = part.firstFrame.count
            frames = part.frames
            // No take is longer.
            takeFrames = min(
                TakeFrame.last.count, Sidecar.frames(part.frames, at: format.rateHz, countedAt: sidecar.rateHz))
        }

        /// The frame of the file for a frame of the timeline.
        func frame(at frame: Int64) -> Int64 {
            guard takeFrames != frames, takeFrames > 0 else { return frame - first }
            return min(frames - 1, Int64(Double(frame - first) * Double(frames) / Double(takeFrames)))
        }

        /// The frames of the file for a range of the timeline that touches the part: at least one. Ranges that follow
        /// each other have frames that follow each other.
        func fileFrames(in range: Range<Int64>) -> Range<Int64> {
            let range = range.clamped(to: self.range)
            let start = frame(at: range.lowerBound)
            let end = range.upperBound == self.range.upperBound ? frames : frame(at: range.upperBound)
            return start..<max(start + 1, end)
        }
    }

    private final class OpenPart {
        let index: Int
        var reader: SoundFileReader
        var place: Int64 = 0

        init(_ index: Int, _ reader: consuming SoundFileReader) {
            self.index = index
            self.reader = reader
        }
    }

    /// Opens the audio files that a sidecar names. Symbolic links are not followed.
    /// - Parameter folder: the folder of the take's day.
    /// - Throws: `FileError`, `SoundFileError`; `ExportError` if there is no sound or a length differs from the
    ///   sidecar.
    public init(of sidecar: Sidecar, in folder: String, files: FileSystem = FileSystem()) throws {
        self.sidecar = sidecar
        self.files = files
        parts = try sidecar.parts.map { part in
            let path = "\(folder)/\(part.file)"
            let reader = try Self.reader(path, files)
            guard part.firstFrame >= .first, reader.frames == part.frames else {
                throw ExportError(
                    .take, "\(sidecar.take): \(path) holds \(reader.frames) frames, and its sidecar says \(part.frames)"
                )
            }
            return Part(part, of: sidecar, path: path, format: reader.format)
        }
        guard !parts.isEmpty else { throw ExportError(.take, "\(sidecar.take): it has no sound") }
    }

    /// The length of the timeline.
    public var frameCount: Int64 { parts.map(\.range.upperBound).max() ?? 0 }

    /// The format of a range of the timeline. All parts in it must have the same format.
    /// - Throws: `ExportError`.
    func format(of range: Range<Int64>) throws(ExportError) -> StreamFormat {
        let formats = parts.filter { $0.range.overlaps(range) }.map(\.format)
        let format = formats.first ?? parts[0].format
        guard formats.allSatisfy({ $0 == format }), format.rateHz == sidecar.rateHz else {
            throw ExportError(
                .usage,
                "\(sidecar.take): the card had another rate or format in the middle of this range: choose a range of one part"
            )
        }
        return format
    }

    /// Reads frames as integers with full scale 2³¹.
    func readIntegers(from frame: Int64, count: Int, channels: Int) throws -> [Int32] {
        try read(from: frame, count: count, channels: channels, silence: 0) { reader, span in
            try reader.read(into: &span)
        }
    }

    /// Reads frames as numbers with full scale 1.
    func readNumbers(from frame: Int64, count: Int, channels: Int) throws -> [Double] {
        try read(from: frame, count: count, channels: channels, silence: 0) { reader, span in
            try reader.read(into: &span)
        }
    }

    private func read<Sample>(
        from frame: Int64, count: Int, channels: Int, silence: Sample,
        _ body: (inout SoundFileReader, inout MutableSpan<Sample>) throws -> Int
    ) throws -> [Sample] {
        var samples = [Sample](repeating: silence, count: count * channels)
        for (index, part) in parts.enumerated() {
            let range = part.range.clamped(to: frame..<(frame + Int64(count)))
            guard !range.isEmpty, part.format.channels == channels else { continue }
            let opened = try self.open(index)
            let start = part.frame(at: range.lowerBound)
            let wanted = Int(part.frame(at: range.upperBound - 1) + 1 - start)
            if opened.place != start { try opened.reader.seek(toFrame: start) }
            var piece = [Sample](repeating: silence, count: wanted * channels)
            var span = piece.mutableSpan
            let found = try body(&opened.reader, &span)
            guard found == wanted else {
                open = nil
                throw ExportError(.take, "\(sidecar.take): \(part.path) ends before its header says")
            }
            opened.place = start + Int64(found)
            let place = Int(range.lowerBound - frame) * channels
            guard wanted != range.count else {
                samples.replaceSubrange(place..<(place + piece.count), with: piece)
                continue
            }
            // A part with another rate: choose the nearest earlier frame for each frame of the timeline.
            for index in 0..<range.count {
                let source = Int(part.frame(at: range.lowerBound + Int64(index)) - start) * channels
                for channel in 0..<channels { samples[place + index * channels + channel] = piece[source + channel] }
            }
        }
        return samples
    }

    private static let framesAtATime = 1 << 13

    /// Reads one channel of a part as numbers with full scale 1. A number that is not finite, or above 65 536, becomes 0.
    /// - Parameters:
    ///   - index: of the part.
    ///   - frame: of the part's file.
    func channel(_ channel: Int, ofPart index: Int, from frame: Int64, count: Int) throws -> [Float] {
        let opened = try open(index)
        let (part, channels) = (parts[index], parts[index].format.channels)
        if opened.place != frame { try opened.reader.seek(toFrame: frame) }
        opened.place = frame
        var numbers: [Float] = []
        numbers.reserveCapacity(count)
        while numbers.count < count {
            let wanted = min(Self.framesAtATime, count - numbers.count)
            var piece = [Double](repeating: 0, count: wanted * channels)
            var span = piece.mutableSpan
            let found = try opened.reader.read(into: &span)
            guard found == wanted else {
                open = nil
                throw ExportError(.take, "\(sidecar.take): \(part.path) ends before its header says")
            }
            opened.place += Int64(found)
            for index in 0..<found {
                let number = Float(piece[index * channels + channel])
                numbers.append(number.magnitude <= 65_536 ? number : 0)
            }
        }
        return numbers
    }

    private func open(_ index: Int) throws -> OpenPart {
        if let open, open.index == index { return open }
        open = nil
        let opened = OpenPart(index, try Self.reader(parts[index].path, files))
        open = opened
        return opened
    }

    private static func reader(_ path: String, _ files: FileSystem) throws -> SoundFileReader {
        try SoundFileReader(files.openTakeFile(path))
    }
}

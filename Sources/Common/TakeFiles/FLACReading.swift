import Files
import Takes

/// The take's metadata in the header of a FLAC file that a recorder wrote (`FLACMetadata`).
struct FLACReading {
    /// The values by comment name.
    let comments: [String: String]
    /// The markers, counted in frames of the file.
    let cues: [PartCue]
    /// The origin of the WAV file, if the FLAC file kept it.
    let wavOrigin: BroadcastOrigin?

    /// More than all metadata needs.
    private static let mostBytes = 64 << 20

    /// Reads the blocks before the sound. Nil if the file is not FLAC or the blocks are not complete.
    init?(_ file: OpenFile, files: FileSystem, rateHz: Int) throws(FileError) {
        guard try files.read(file, at: 0, count: 4) == Array("fLaC".utf8) else { return nil }
        var offset: Int64 = 4
        var comments: [(String, String)] = []
        var starts: [Int64] = []
        var riff: [UInt8] = []
        while true {
            let head = try files.read(file, at: offset, count: 4)
            guard head.count == 4, offset < Self.mostBytes else { return nil }
            let size = head[1...].reduce(0) { $0 << 8 | Int($1) }
            switch head[0] & 0x7f {
            case 2, 4, 5:
                let content = try files.read(file, at: offset + 4, count: size)
                guard content.count == size else { return nil }
                switch head[0] & 0x7f {
                case 4: comments = Self.comments(content)
                case 5: starts = Self.starts(content)
                default: if content.starts(with: Array("riff".utf8)) { riff += content.dropFirst(4) }
                }
            default: break
            }
            offset += 4 + Int64(size)
            if head[0] & 0x80 != 0 { break }
        }
        self.comments = Dictionary(comments) { first, _ in first }
        wavOrigin = Self.origin(riff, rateHz: rateHz)
        let kept = CueReading.cues(Self.closing(riff))
        cues = kept.isEmpty ? Self.chapters(self.comments, starts, rateHz: rateHz) : kept
    }

    /// The comments of a VORBIS_COMMENT block (RFC 9639, section 8.6).
    private static func comments(_ bytes: [UInt8]) -> [(String, String)] {
        var rest = bytes[...]
        func take(_ count: Int) -> ArraySlice<UInt8> {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func number() -> Int { take(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
        _ = take(number())
        var found: [(String, String)] = []
        for _ in 0..<number() {
            guard !rest.isEmpty else { break }
            let text = String(decoding: take(number()), as: UTF8.self)
            guard let mark = text.firstIndex(of: "=") else { continue }
            found.append((String(text[..<mark]), String(text[text.index(after: mark)...])))
        }
        return found
    }

    /// The start frames of the tracks in a CUESHEET block (section 8.7), without the lead-out.
    private static func starts(_ bytes: [UInt8]) -> [Int64] {
        var place = 128 + 8 + 259 + 1
        var starts: [Int64] = []
        while place + 36 <= bytes.count {
            let start = bytes[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if bytes[place + 8] != 255, start <= UInt64(Sidecar.mostFrames) { starts.append(Int64(start)) }
            place += 36 + 12 * Int(bytes[place + 35])
        }
        return starts
    }

    /// The chapters. Chapter times are only exact to the millisecond, so each chapter gets the start frame of the track
    /// that begins at its time.
    private static func chapters(_ comments: [String: String], _ starts: [Int64], rateHz: Int) -> [PartCue] {
        var cues: [PartCue] = []
        for number in 1...FLACMetadata.mostChapters {
            let digits = String(number)
            let name = "CHAPTER" + String(repeating: "0", count: 3 - digits.count) + digits
            guard let text = comments[name], let milliseconds = milliseconds(text) else { break }
            let first = milliseconds * Int64(rateHz) / 1000
            let frame = starts.first { $0 >= first && $0 * 1000 / Int64(rateHz) == milliseconds } ?? first
            var cue = PartCue(number: number, frame: frame, label: comments[name + "NAME"] ?? "")
            let frames = comments[name + "FRAMES"].flatMap { Int64($0) }
            if let frames, (0...Sidecar.mostFrames).contains(frames) {
                cue.region = PartCue.Region(frames: frames, label: "")
            }
            cues.append(cue)
        }
        return cues
    }

    /// Parses `01:02:03.456`.
    private static func milliseconds(_ text: String) -> Int64? {
        let fields = text.split(whereSeparator: { $0 == ":" || $0 == "." }).map { Int64($0) }
        guard fields.count == 4, let hours = fields[0], let minutes = fields[1], let seconds = fields[2],
            let rest = fields[3], (0..<100_000).contains(hours), (0..<60).contains(minutes), (0..<61).contains(seconds),
            (0..<1000).contains(rest)
        else { return nil }
        return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest
    }

    /// The chunks after the header of `data`, as `RIFFChunks` keeps them.
    private static func closing(_ riff: [UInt8]) -> [UInt8] {
        let head = WAVHeader.byteCount
        return riff.count > head ? Array(riff[head...]) : []
    }

    private static func origin(_ riff: [UInt8], rateHz: Int) -> BroadcastOrigin? {
        riff.count < WAVHeader.byteCount ? nil : WAVHeaderReading(Array(riff[..<WAVHeader.byteCount]))?.origin
    }
}

public import Files
import Glibc
import TakeFiles
public import Takes

/// Waveforms of takes at any zoom, in audiowaveform's format (version 2, 8 bits).
///
/// A take's file `STEM.dat` has 256 frames per pixel. Coarser levels are computed from it once and cached in a folder,
/// so that a waveform of a day opens as quickly as one of a minute. Finer pixels are computed from the sound itself.
/// Thread-safe.
public struct WaveformPyramid: Sendable {
    private let folder: String
    private let files: FileSystem
    /// Only one level file is built at a time, because each build reads the whole waveform of a take.
    private let building = Locked(())

    /// The most pixels in one answer with up to eight channels. With more channels, the limit is lower.
    public static let mostPixels = 20_000
    private static let usualChannels = 8
    /// The limit for the cached levels of all takes.
    static let mostBytes: Int64 = 64 << 20

    /// Uses a folder for the levels, and makes it if it does not exist.
    /// - Throws: `FileError`.
    public init(in folder: String, files: FileSystem = FileSystem()) throws {
        self.folder = folder
        self.files = files
        _ = try files.makeFolder(folder, mode: 0o700)
    }

    /// A waveform.
    /// - Parameters:
    ///   - day: the folder of the take's day.
    ///   - framesPerPixel: 1 or more.
    ///   - range: a range of the take's frames. It is cut at the end of the take.
    /// - Returns: the whole file. Its header contains `framesPerPixel`, and its first pixel begins with the range.
    /// - Throws: `ExportError`, `FileError`, `SoundFileError`.
    public func waveform(
        of sidecar: Sidecar, in day: String, framesPerPixel: Int64, range: Range<Int64>
    ) throws -> [UInt8] {
        let take = sidecar.take
        let end = sidecar.parts.map { sidecar.end(of: $0).count }.max() ?? 0
        let range = range.lowerBound..<max(range.lowerBound, min(range.upperBound, end))
        guard framesPerPixel >= 1, !range.isEmpty else {
            throw ExportError(
                .usage,
                "waveform: \(take) has frames 0 to \(end): from must lie before to, and a pixel has a frame at least")
        }
        let count = (Int64(range.count) + framesPerPixel - 1) / framesPerPixel
        let most = Self.mostPixels * Self.usualChannels / max(Self.usualChannels, sidecar.channels)
        guard framesPerPixel <= Int64(Int32.max) else {
            throw ExportError(
                .usage, "waveform: frames_per_pixel: found \(framesPerPixel), at most \(Int32.max) are allowed")
        }
        guard count <= most else {
            throw ExportError(
                .usage,
                "waveform: \(take): that makes \(count) pixels, at most \(most) are sent: ask for more frames a pixel"
            )
        }
        let pairs =
            framesPerPixel < Int64(PeaksFile.framesPerPixel)
            ? try measured(sidecar, day, framesPerPixel, range, Int(count))
            : try kept(sidecar, day, framesPerPixel, range, Int(count))
        return PeaksFile.header(
            rateHz: sidecar.rateHz, channels: sidecar.channels, length: Int(count), framesPerPixel: Int(framesPerPixel))
            + pairs.map { UInt8(bitPattern: $0) }
    }

    /// A waveform of more pixels is read from coarser levels.
    private static let fewPixels: Int64 = 100_000
    private static let pixelsAtATime: Int64 = 1 << 15

    /// The greatest magnitude of all channels in each of some ranges. Full scale is 128.
    ///
    /// A range may show a little more than its frames: up to a sixteenth of the longest range at each end.
    /// - Parameters:
    ///   - day: the folder of the take's day.
    ///   - ranges: frames of the take.
    /// - Throws: `ExportError`, `FileError`.
    func magnitudes(of sidecar: Sidecar, in day: String, _ ranges: [Range<Int64>]) throws -> [Int] {
        let source = try StoredPeaks(of: sidecar, in: day, files: files)
        var level = Level(framesPerPixel: Int64(PeaksFile.framesPerPixel), length: source.length, offset: nil)
        var file: OpenFile?
        if source.length > Self.fewPixels {
            let (levels, opened) = try levels(sidecar, source)
            let longest = Int64(ranges.map(\.count).max() ?? 0)
            file = opened
            level = levels.last { $0.framesPerPixel * Level.fineRatio <= longest } ?? level
        }
        return try ranges.map { range in
            let end = min(level.length, (range.upperBound + level.framesPerPixel - 1) / level.framesPerPixel)
            var pixel = range.lowerBound / level.framesPerPixel
            var greatest = 0
            while pixel < end {
                let next = min(end, pixel + Self.pixelsAtATime)
                for value in try read(pixel..<next, of: level, file, source) {
                    greatest = max(greatest, Int(value.magnitude))
                }
                pixel = next
            }
            return greatest
        }
    }

    // MARK: - From the sound

    private static let samplesAtATime: Int64 = 1 << 16

    private func measured(
        _ sidecar: Sidecar, _ day: String, _ framesPerPixel: Int64, _ range: Range<Int64>, _ count: Int
    ) throws -> [Int8] {
        let sound = try TakeSound(of: sidecar, in: day, files: files)
        let channels = sidecar.channels
        var pairs: [Int8] = []
        pairs.reserveCapacity(count * 2 * channels)
        let step = max(1, Self.samplesAtATime / Int64(channels) / framesPerPixel) * framesPerPixel
        var frame = range.lowerBound
        while frame < range.upperBound {
            let frames = Int(min(step, range.upperBound - frame))
            let samples = try sound.readIntegers(from: frame, count: frames, channels: channels)
            for start in stride(from: 0, to: frames, by: Int(framesPerPixel)) {
                let pixel = start..<min(frames, start + Int(framesPerPixel))
                for channel in 0..<channels {
                    var (least, most) = (Int32.max, Int32.min)
                    for index in pixel {
                        let sample = samples[index * channels + channel]
                        least = min(least, sample)
                        most = max(most, sample)
                    }
                    pairs += [Self.pixel(least), Self.pixel(most)]
                }
            }
            frame += Int64(frames)
        }
        return pairs
    }

    /// The same value as in the recorder's peaks: the upper half of 16 bits.
    private static func pixel(_ sample: Int32) -> Int8 { Int8(truncatingIfNeeded: (sample >> 16) / 256) }

    // MARK: - From levels

    private func kept(
        _ sidecar: Sidecar, _ day: String, _ framesPerPixel: Int64, _ range: Range<Int64>, _ count: Int
    ) throws -> [Int8] {
        let source = try StoredPeaks(of: sidecar, in: day, files: files)
        let channels = source.channels
        var level = Level(framesPerPixel: Int64(PeaksFile.framesPerPixel), length: source.length, offset: nil)
        var file: OpenFile?
        if framesPerPixel >= Level.coarser(level.framesPerPixel) {
            let (levels, opened) = try levels(sidecar, source)
            file = opened
            let isExact = { (level: Level) in
                framesPerPixel % level.framesPerPixel == 0 && range.lowerBound % level.framesPerPixel == 0
            }
            let ratio = { (level: Level) in framesPerPixel / level.framesPerPixel }
            // A pixel that is not aligned with the level's pixels is off by at most one sixteenth of its width.
            level =
                levels.last { isExact($0) && (1...Level.quickRatio).contains(ratio($0)) }
                ?? levels.last { ratio($0) >= Level.fineRatio } ?? level
        }
        let size = level.framesPerPixel
        let first = range.lowerBound / size
        let last = min(level.length, (range.upperBound + size - 1) / size)
        let pixels = try read(first..<max(first, last), of: level, file, source)
        var pairs = [Int8](repeating: 0, count: count * 2 * channels)
        for index in 0..<count {
            let start = range.lowerBound + Int64(index) * framesPerPixel
            let end = min(range.upperBound, start + framesPerPixel)
            let found = Int(start / size - first)..<Int(max(start / size, min(last, (end + size - 1) / size)) - first)
            for channel in 0..<channels where !found.isEmpty {
                var (least, most) = (Int8.max, Int8.min)
                for pixel in found {
                    least = min(least, pixels[(pixel * channels + channel) * 2])
                    most = max(most, pixels[(pixel * channels + channel) * 2 + 1])
                }
                pairs[(index * channels + channel) * 2] = least
                pairs[(index * channels + channel) * 2 + 1] = most
            }
        }
        return pairs
    }

    /// Pixels of one size.
    private struct Level {
        var framesPerPixel: Int64
        var length: Int64
        /// The offset in the file of levels, or nil for the take's own waveform.
        var offset: Int64?

        static let factor: Int64 = 4
        /// Up to this many level pixels per pixel of the answer are fast enough.
        static let quickRatio: Int64 = 64
        /// From this many level pixels per pixel on, alignment is not required.
        static let fineRatio: Int64 = 16
        static func coarser(_ framesPerPixel: Int64) -> Int64 { framesPerPixel * factor }
    }

    private func read(
        _ pixels: Range<Int64>, of level: Level, _ file: OpenFile?, _ source: StoredPeaks
    ) throws -> [Int8] {
        guard let offset = level.offset, let file else { return try source.pixels(pixels) }
        let size = Int64(2 * source.channels)
        let bytes = try files.read(file, at: offset + pixels.lowerBound * size, count: Int(Int64(pixels.count) * size))
        guard bytes.count == pixels.count * Int(size) else {
            throw ExportError(.take, "waveform: \(file.path) ends too early: try again")
        }
        return bytes.map { Int8(bitPattern: $0) }
    }

    private static let levelCount = 6
    private static let headByteCount = 64
    private static let bytesAtATime: Int64 = 1 << 18

    private func levels(_ sidecar: Sidecar, _ source: StoredPeaks) throws -> ([Level], OpenFile) {
        var levels: [Level] = []
        var before = Level(framesPerPixel: Int64(PeaksFile.framesPerPixel), length: source.length, offset: nil)
        var offset = Int64(Self.headByteCount)
        for _ in 0..<Self.levelCount {
            let length = (before.length + Level.factor - 1) / Level.factor
            before = Level(framesPerPixel: Level.coarser(before.framesPerPixel), length: length, offset: offset)
            levels.append(before)
            offset += length * Int64(2 * source.channels)
        }
        let head = Self.head(source)
        let path = "\(folder)/\(sidecar.take).levels"
        if let file = opened(path, head, offset) { return (levels, file) }
        var result: Result<OpenFile, any Error>?
        building.withLock { _ in
            // Another thread may have built it in the meantime.
            result = opened(path, head, offset).map { .success($0) } ?? Result { try build(levels, source, head, path) }
        }
        guard let file = try result?.get() else {
            throw ExportError(.take, "waveform: \(sidecar.take): it was not made")
        }
        return (levels, file)
    }

    /// The file of levels, if it was built from the present waveform.
    private func opened(_ path: String, _ head: [UInt8], _ byteCount: Int64) -> OpenFile? {
        guard let file = try? files.openToRead(path, followsLink: false), (try? files.length(file)) == byteCount,
            (try? files.read(file, at: 0, count: head.count)) == head
        else { return nil }
        return file
    }

    private func build(_ levels: [Level], _ source: StoredPeaks, _ head: [UInt8], _ path: String) throws -> OpenFile {
        try makeRoom()
        let draft = path + ".tmp"
        let file = try files.create(draft, isNew: false, mode: 0o600)
        let channels = source.channels
        let pixelsAtATime = max(1, Self.bytesAtATime / Int64(2 * channels) / Level.factor)
        var finer = Level(framesPerPixel: Int64(PeaksFile.framesPerPixel), length: source.length, offset: nil)
        for level in levels {
            var pixel: Int64 = 0
            while pixel < level.length {
                let next = min(level.length, pixel + pixelsAtATime)
                let from = pixel * Level.factor..<min(finer.length, next * Level.factor)
                let pixels = try read(from, of: finer, finer.offset == nil ? nil : file, source)
                let bytes = Self.coarser(pixels, channels: channels)
                try files.write(bytes, to: file, at: (level.offset ?? 0) + pixel * Int64(2 * channels))
                pixel = next
            }
            finer = level
        }
        // Write the head last, so that an interrupted file has none.
        try files.syncData(file)
        try files.write(head, to: file, at: 0)
        try files.sync(file)
        try files.move(draft, to: path)
        return try files.openToRead(path, followsLink: false)
    }

    private static func coarser(_ pixels: [Int8], channels: Int) -> [UInt8] {
        let width = 2 * channels
        let count = pixels.count / width
        let factor = Int(Level.factor)
        var bytes = [UInt8](repeating: 0, count: (count + factor - 1) / factor * width)
        for (place, start) in zip(stride(from: 0, to: bytes.count, by: width), stride(from: 0, to: count, by: factor)) {
            for channel in 0..<channels {
                var (least, most) = (Int8.max, Int8.min)
                for pixel in start..<min(count, start + factor) {
                    least = min(least, pixels[pixel * width + 2 * channel])
                    most = max(most, pixels[pixel * width + 2 * channel + 1])
                }
                bytes[place + 2 * channel] = UInt8(bitPattern: least)
                bytes[place + 2 * channel + 1] = UInt8(bitPattern: most)
            }
        }
        return bytes
    }

    /// Identifies the waveform from which the levels were built.
    private static func head(_ source: StoredPeaks) -> [UInt8] {
        var bytes = Array("FFLEVEL1".utf8)
        for number in [
            source.attributes.byteCount, source.attributes.modifiedNs, source.attributes.inode, source.length,
            Int64(source.channels),
        ] {
            bytes.append(littleEndian: number)
        }
        var check = CRC32(.ieee)
        check.update(bytes)
        bytes.append(littleEndian: check.value)
        return bytes + [UInt8](repeating: 0, count: headByteCount - bytes.count)
    }

    /// Removes the levels that were built longest ago.
    private func makeRoom() throws {
        var kept: [(path: String, attributes: FileAttributes)] = []
        for name in try files.entries(folder) where name.hasSuffix(".levels") {
            let path = "\(folder)/\(name)"
            if let attributes = try? files.attributes(path) { kept.append((path, attributes)) }
        }
        kept.sort { $0.attributes.modifiedNs > $1.attributes.modifiedNs }
        var sum: Int64 = 0
        for level in kept {
            sum += level.attributes.byteCount
            if sum > Self.mostBytes { try files.remove(level.path) }
        }
    }
}

/// A take's file `STEM.dat` on the take's timeline. It is silent between parts.
struct StoredPeaks: Sendable {
    let channels: Int
    /// The number of pixels on the timeline.
    let length: Int64
    let attributes: FileAttributes
    private let file: OpenFile
    private let files: FileSystem
    private let stretches: [Stretch]

    /// Pixels that are contiguous in the file.
    private struct Stretch {
        /// The pixels of the timeline.
        var pixels: Range<Int64>
        /// The index of the first one in the file, and their number there.
        var stored: Int64
        var count: Int64

        /// The index in the file of a pixel of the timeline. Older versions counted the pixels of a part at the part's
        /// own rate.
        func place(of pixel: Int64) -> Int64 {
            let length = Int64(pixels.count)
            guard length != count else { return stored + pixel - pixels.lowerBound }
            return stored + min(count - 1, (pixel - pixels.lowerBound) * count / length)
        }
    }

    init(of sidecar: Sidecar, in day: String, files: FileSystem) throws {
        let path = "\(day)/\(TakeFile.waveform(of: sidecar.take).name)"
        let file: OpenFile
        do throws(FileError) {
            file = try files.openTakeFile(path)
            attributes = try files.attributes(of: file)
        } catch {
            throw ExportError(
                .take, "waveform: \(error.fact): only fewer than \(PeaksFile.framesPerPixel) frames a pixel can be made"
            )
        }
        let head = try files.read(file, at: 0, count: PeaksFile.headerByteCount)
        guard let shape = PeaksFile.shape(header: head), shape.channels == sidecar.channels,
            attributes.byteCount == Int64(PeaksFile.headerByteCount + shape.length * shape.bytesPerPixel)
        else { throw ExportError(.take, "waveform: \(path) is damaged") }
        let size = Int64(PeaksFile.framesPerPixel)
        var stretches: [Stretch] = []
        var before: Int64 = 0
        let isOfOneRate = Self.isOfOneRate(sidecar, length: Int64(shape.length) * size)
        for part in sidecar.parts {
            let stored = before / size
            let takeFrames = Sidecar.frames(part.frames, at: part.rateHz, countedAt: sidecar.rateHz)
            before += isOfOneRate ? takeFrames : part.frames
            let end = min(Int64(shape.length), part == sidecar.parts.last ? Int64(shape.length) : before / size)
            guard end > stored, part.firstFrame >= .first else { continue }
            let first = part.firstFrame.count / size
            let length = isOfOneRate ? end - stored : max(1, takeFrames / size)
            stretches.append(Stretch(pixels: first..<(first + length), stored: stored, count: end - stored))
        }
        self.files = files
        self.file = file
        self.stretches = stretches
        channels = shape.channels
        length = stretches.map(\.pixels.upperBound).max() ?? 0
    }

    /// Whether all pixels of a waveform count frames at the take's rate. Older versions counted each part at its own
    /// rate.
    private static func isOfOneRate(_ sidecar: Sidecar, length: Int64) -> Bool {
        let own = sidecar.parts.reduce(0) { $0 + $1.frames }
        let counted = sidecar.parts.reduce(0) {
            $0 + Sidecar.frames($1.frames, at: $1.rateHz, countedAt: sidecar.rateHz)
        }
        return abs(length - counted) <= abs(length - own)
    }

    /// The minimum and maximum of each channel, pixel by pixel.
    func pixels(_ range: Range<Int64>) throws(FileError) -> [Int8] {
        let size = Int64(2 * channels)
        var pairs = [Int8](repeating: 0, count: range.count * Int(size))
        for stretch in stretches {
            let found = stretch.pixels.clamped(to: range)
            guard !found.isEmpty else { continue }
            let place = stretch.place(of: found.lowerBound)
            let count = Int(stretch.place(of: found.upperBound - 1) + 1 - place)
            let bytes = try files.read(
                file, at: Int64(PeaksFile.headerByteCount) + place * size, count: count * Int(size))
            let start = Int(found.lowerBound - range.lowerBound) * Int(size)
            for pixel in 0..<found.count {
                let source = Int(stretch.place(of: found.lowerBound + Int64(pixel)) - place) * Int(size)
                guard source + Int(size) <= bytes.count else { break }
                for index in 0..<Int(size) {
                    pairs[start + pixel * Int(size) + index] = Int8(bitPattern: bytes[source + index])
                }
            }
        }
        return pairs
    }
}

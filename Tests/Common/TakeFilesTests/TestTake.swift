import TakeFiles
import Takes

/// Sound for tests. The bytes depend on their position, so that a lost, repeated or moved frame is noticed.
func sound(_ frames: Range<Int64>, _ format: StreamFormat, seed: UInt64 = 0) -> [UInt8] {
    let size = Int64(format.stored.bytesPerFrame)
    return (frames.lowerBound * size..<frames.upperBound * size).map { place in
        var bits = (UInt64(bitPattern: place) &+ seed &* 0x1_0000_0001) &* 0x9e37_79b9_7f4a_7c15
        bits ^= bits >> 29
        return UInt8(truncatingIfNeeded: bits &* 0xbf58_476d_1ce4_e5b9 >> 56)
    }
}

let stereo16 = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)

/// 2026-11-21T06:18:11.250000Z.
let morning = WallTime(microseconds: 1_795_241_891_250_000)

func testSidecar(_ name: TakeName, _ format: StreamFormat = stereo16, started: WallTime = morning) -> Sidecar {
    Sidecar(
        name: name, started: started, startedMonotonic: Instant(nanoseconds: 5_000_000_000),
        bootID: "0b0c0d0e-0000-4000-8000-000000000001", clock: .ntp, card: "usb:0d8c:0014", format: format,
        preRollFrames: 0, gainDB: 12, agc: false, version: "0.1")
}

extension TakeOutput {
    /// Begins a take with the next number, at `morning`.
    convenience init(
        _ directory: TakesDirectory, _ format: StreamFormat = stereo16, keepsUnfiltered: Bool = false,
        splitBytes: Int64 = TakeOutput.largestSplitBytes, started: WallTime = morning, pendingFormat: String? = nil
    ) throws {
        let name = try directory.nextTake(kit: "heron07", started: started)
        var sidecar = testSidecar(name, format, started: started)
        sidecar.pendingFormat = pendingFormat
        try self.init(
            in: directory, name: name, sidecar: sidecar, started: started, format: format,
            keepsUnfiltered: keepsUnfiltered, splitBytes: splitBytes)
    }

    /// Appends the next `count` frames of `sound`, and of another seed as the unfiltered twin.
    func append(_ count: Int64, _ format: StreamFormat = stereo16, unfiltered: Bool = false) throws {
        let bytes = sound(frames..<frames + count, format)
        let twin = sound(frames..<frames + count, format, seed: 7)
        try bytes.withUnsafeBytes { bytes in
            try twin.withUnsafeBytes { twin in try append(bytes, unfiltered: unfiltered ? twin : nil) }
        }
    }

    /// Carries out both halves of a sync.
    /// - Throws: also the failure to replace the sidecar, after which a take continues.
    func sync() throws {
        try synced(syncPoint().run())
        if let draftFailure { throw draftFailure }
    }

    func note(markers: [Sidecar.Marker]) {
        for marker in markers { note(.marker(marker)) }
    }

    func note(gaps: [Sidecar.Gap]) {
        for gap in gaps { note(.gap(at: gap.atFrame, frames: gap.frames, cause: gap.cause)) }
    }

    func note(filter: [Sidecar.FilterChange]) {
        for change in filter { note(.filter(change)) }
    }
}

func soundSHA256(_ bytes: some Sequence<UInt8>) -> String {
    var digest = SoundDigest()
    digest.update(Array(bytes))
    return digest.hexadecimal
}

extension Sidecar.Part {
    /// A copy with the fingerprints of its samples and of its twin's samples.
    func with(_ sound: [UInt8], unfiltered: [UInt8]? = nil) -> Sidecar.Part {
        var part = self
        part.soundSHA256 = TakeFilesTests.soundSHA256(sound)
        part.unfilteredSoundSHA256 = unfiltered.map { TakeFilesTests.soundSHA256($0) }
        part.fingerprint = .capture
        return part
    }
}

// Positions in a take as plain numbers, for readability. Those of a sidecar are in TakePlaces.

extension TakeOutput {
    func beginPart(format: StreamFormat, firstFrame: Int64) throws {
        try beginPart(format: format, firstFrame: TakeFrame(firstFrame))
    }
}

/// All frames of a file of integers, as the bytes that it stores.
func frames(of path: String) throws -> [UInt8] {
    var reader = try SoundFileReader(path: path)
    var samples = [Int32](repeating: 0, count: Int(reader.frames) * reader.format.channels)
    var span = samples.mutableSpan
    let count = try reader.read(into: &span)
    precondition(count == Int(reader.frames))
    let size = reader.format.sampleFormat.bytesPerSample
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * size)
    for sample in samples {
        for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: sample >> (32 - 8 * size + 8 * place))) }
    }
    return bytes
}

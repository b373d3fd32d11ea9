import Files
import OtherPrograms
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Other programs read a take's sound.
struct OtherReadersTests {
    let bench = RecoveryBench()

    static let formats: [StreamFormat] = [1, 2, 4].flatMap { channels in
        [.s16, .s24, .s24Packed, .s32].map { StreamFormat(rateHz: 48_000, channels: channels, sampleFormat: $0) }
    }
    static let plain = formats.filter { $0.channels <= 2 && $0.stored.sampleFormat != .s32 }
    static let inFLAC = formats.filter { $0.sampleFormat != .s32 }

    /// The WAV file of a finished take with markers, a region and an odd number of frames.
    func take(_ format: StreamFormat, pendingFormat: String? = nil) throws -> String {
        let name = try bench.record(format, splitBytes: 1 << 20, pendingFormat: pendingFormat) { output in
            try output.append(501, format)
            var region = Sidecar.Marker(atFrame: 9, note: "dawn")
            (region.endFrame, region.label) = (TakeFrame(200), "song")
            output.note(markers: [
                Sidecar.Marker(atFrame: 7, note: "wren"), region, Sidecar.Marker(atFrame: 300, note: "owl"),
            ])
            _ = try output.finish(endedBy: .stop, levels: [])
        }
        return "\(bench.folder)/\(name.stem).wav"
    }

    /// Decodes a file with the options from fieldfare-takes(5).
    func decode(_ flac: String, _ format: StreamFormat, to wav: String) throws {
        let option = format.channels > 2 ? "--channel-map=none" : "--force-legacy-wave-format"
        _ = try OtherProgram.flac.output(["-s", "-d", "--keep-foreign-metadata", option, "-o", wav, flac])
    }

    @Test(.needs(.python), arguments: plain)
    func `Python's wave opens 16 and 24 bits of one and two channels, and reads every frame`(format: StreamFormat)
        throws
    {
        let script = """
            import hashlib, sys, wave
            with open(sys.argv[1], "rb") as file:
                head = file.read(4096)
            # From 3.12 on it opens the extensible form, too.
            assert head[head.index(b"fmt ") + 8:][:2] == b"\\1\\0"
            sound = wave.open(sys.argv[1])
            form = sound.getnchannels(), sound.getsampwidth(), sound.getframerate(), sound.getnframes()
            print(*form, hashlib.sha256(sound.readframes(sound.getnframes())).hexdigest())
            """
        let (channels, size) = (format.channels, format.stored.sampleFormat.bytesPerSample)
        let meant = "\(channels) \(size) 48000 501 \(soundSHA256(sound(0..<501, format)))\n"
        #expect(try OtherProgram.python.output(["-c", script, take(format)]) == meant)
    }

    @Test(.needs(.ffmpeg), arguments: formats)
    func `ffmpeg reads every frame`(format: StreamFormat) throws {
        let codec = "pcm_s\(format.stored.sampleFormat.bytesPerSample * 8)le"
        let options = ["-f", "hash", "-hash", "sha256", "-c", codec, "-"]
        let printed = try OtherProgram.ffmpeg.output(["-v", "error", "-nostdin", "-i", take(format)] + options)
        #expect(printed == "SHA256=\(soundSHA256(sound(0..<501, format)))\n")
    }

    @Test(.needs(.sox), arguments: formats)
    func `SoX reads every frame, without a warning`(format: StreamFormat) throws {
        let raw = "\(bench.folder)/sound.raw"
        #expect(try OtherProgram.sox.output([take(format), raw]).isEmpty)
        #expect(try bench.files.contents(raw) == sound(0..<501, format))
    }

    @Test(.needs(.ffmpeg)) func `ffmpeg and libsndfile read the label of each marker, also behind a region`() throws {
        let path = try take(stereo16)
        let printed = try OtherProgram.ffmpeg.output(["-v", "error", "-nostdin", "-i", path, "-f", "ffmetadata", "-"])
        let titles = printed.split(separator: "\n").filter { $0.hasPrefix("title=") }
        #expect(titles == ["title=wren", "title=dawn", "title=owl"])
        #expect(try SoundFileReader(path: path).cues().map(\.label) == ["wren", "dawn", "owl"])
    }

    @Test(.needs(.flac), arguments: inFLAC)
    func `flac makes of a take in FLAC the WAV file that it was`(format: StreamFormat) throws {
        let wav = try take(format, pendingFormat: "flac")
        let before = try bench.files.contents(wav)
        let directory = try TakesDirectory(path: bench.path)
        let name = try #require(try directory.takesInWAV().first)
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        let flac = "\(bench.folder)/\(name.stem).flac"
        let back = "\(bench.folder)/back.wav"
        try decode(flac, format, to: back)
        #expect(try bench.files.contents(back) == before)
    }

    @Test(.needs(.flac), arguments: inFLAC)
    func `flac that encoded a WAV file makes the same file again`(format: StreamFormat) throws {
        let wav = try take(format)
        let (flac, back) = ("\(bench.folder)/back.flac", "\(bench.folder)/back.wav")
        let map = format.channels > 2 ? ["--channel-map=none"] : []
        _ = try OtherProgram.flac.output(["-s", "--keep-foreign-metadata"] + map + ["-o", flac, wav])
        try decode(flac, format, to: back)
        #expect(try bench.files.contents(back) == bench.files.contents(wav))
    }
}

import Exports
import Files
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Library
import NIOCore
import NIOPosix
import Spectra
import TakeFiles
import Takes
import Transport
import Upload

/// Content generated from takes during the request: waveforms at any zoom, clips, MP3, archives.
struct ExportRoutes: Sendable {
    let library: LibraryDesk
    let pyramid: WaveformPyramid
    let pool: NIOThreadPool
    let nameTime: NameTime
    let checksums = ZipChecksums()

    /// The most takes in an archive, so that their names fit into a URL.
    private static let mostTakes = 200

    var routes: [Route] {
        [
            Route(.get, "/api/takes/{take}/waveform.dat", for: .look, query: ["frames_per_pixel", "from", "to"]) {
                _, context in
                let query = context.query
                let stem = context.parameter("take")
                let bytes = try await pool.runIfActive {
                    try Self.refused {
                        let (take, sidecar) = try found(stem, for: "waveform")
                        return try pyramid.waveform(
                            of: sidecar, in: take.folder, framesPerPixel: try query.count("frames_per_pixel") ?? 256,
                            range: try Self.range(query))
                    }
                }
                return Response(
                    status: .ok,
                    headers: [.contentType: "application/octet-stream", .cacheControl: "private, no-cache"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            },
            Route(.get, "/api/takes/{take}/clip", for: .look, query: ["from", "to", "format"]) { request, context in
                let query = context.query
                let name = query["format"] ?? "wav"
                guard let format = TakeClip.Format(rawValue: name) else {
                    throw Problem(.badRequest, .usage, "clip: format: found \(name), allowed are wav, flac")
                }
                let stem = context.parameter("take")
                let clip = try await pool.runIfActive {
                    try Self.refused {
                        let (take, sidecar) = try found(stem, for: "clip")
                        let sound = try TakeSound(of: sidecar, in: take.folder)
                        let range = try Self.range(query)
                        return try TakeClip(
                            range.lowerBound..<min(range.upperBound, max(range.lowerBound, sound.frameCount)),
                            of: sound, as: format, names: take.trueNames(nameTime))
                    }
                }
                return try await answer(
                    clip, to: request, context, name: clip.name,
                    mediaType: format == .wav ? "audio/wav" : "audio/flac")
            },
            Route(.get, "/api/takes/{take}/sound.mp3", for: .look, query: ["from", "to"]) { request, context in
                let (stem, query) = (context.parameter("take"), context.query)
                let sound = try await pool.runIfActive {
                    try Self.refused {
                        let (take, sidecar) = try found(stem, for: "mp3")
                        return try TakeMP3(
                            Self.range(query), of: TakeSound(of: sidecar, in: take.folder),
                            names: take.trueNames(nameTime))
                    }
                }
                return try await answer(sound, to: request, context, name: sound.name, mediaType: "audio/mpeg")
            },
            Route(.get, "/api/archive", for: .look, query: .many("take")) { request, context in
                var named: Set<String> = []
                let stems = context.query[all: "take"].filter { named.insert($0).inserted }
                guard (1...Self.mostTakes).contains(stems.count) else {
                    throw Problem(.badRequest, .usage, "archive: take: name 1 to \(Self.mostTakes) takes")
                }
                let archive = try await pool.runIfActive {
                    try Self.refused {
                        try ZipArchive(
                            try stems.flatMap { try entries($0, isOnly: stems.count == 1) }, checksums: checksums)
                    }
                }
                let first = try await pool.runIfActive { try copyStem(stems[0]) }
                let name = stems.count == 1 ? first : "\(first)-and-\(stems.count - 1)"
                return try await answer(
                    archive, to: request, context, name: "\(name).zip", mediaType: "application/zip")
            },
        ]
    }

    /// From `from` up to `to`, in frames; the whole take without them.
    static func range(_ query: QueryItems) throws(Problem) -> Range<Int64> {
        let from = try query.count("from") ?? 0
        let to = try query.count("to") ?? .max
        guard from < to else {
            throw Problem(.badRequest, .usage, "console: from \(from) does not lie before to \(to)")
        }
        return from..<to
    }

    private func found(_ stem: String, for name: String) throws -> (CatalogedTake, Sidecar) {
        let take = try library.takeHere(stem, for: name)
        return (take, try sidecar(of: take, for: name))
    }

    /// A take's sidecar with the current markers.
    private func sidecar(of take: CatalogedTake, for name: String) throws -> Sidecar {
        var sidecar = try take.recordedSidecar()
        var notes = try library.notes(of: take.identity, for: name)
        notes.setAsideMarkers(outside: sidecar.end)
        sidecar.markers = notes.markers(of: sidecar.markers)
        return sidecar
    }

    /// The stem for the copies of a take.
    private func copyStem(_ stem: String) throws -> String {
        try library.takeHere(stem, for: "archive").trueNames(nameTime)?.stem(of: stem) ?? stem
    }

    private func entries(_ stem: String, isOnly: Bool) throws -> [ZipArchive.Entry] {
        let take = try library.takeHere(stem, for: "archive")
        let notes = try library.notes(of: take.identity, for: "archive")
        do {
            return try Self.entries(of: take, .success(try sidecar(of: take, for: "archive")), notes, nameTime)
        } catch let error as SidecarError {
            return try Self.entries(of: take, .failure(error), notes)
        } catch let error as FileError where !isOnly {
            // The take was deleted meanwhile, or cannot be read.
            let note = Self.damageNote(take, missing: ["\(error.fact)"], in: Self.day(of: take))
            return [note].compactMap(\.self)
        }
    }

    private static func day(of take: CatalogedTake) -> String {
        take.folder.split(separator: "/").last.map(String.init) ?? ""
    }

    /// The files of a take as entries of an archive, and a text that names the missing ones.
    /// - Parameter sidecar: the sidecar with the current markers, or why it cannot be used.
    static func entries(
        of take: CatalogedTake, _ sidecar: Result<Sidecar, SidecarError>, _ notes: TakeNotes,
        _ nameTime: NameTime = .utc
    ) throws -> [ZipArchive.Entry] {
        let (stem, files) = (take.take, FileSystem())
        let names = (try? sidecar.get()).flatMap { TrueNames($0, nameTime) }
        let (copyStem, day) = (names?.stem(of: stem) ?? stem, names?.day ?? day(of: take))
        var entries: [ZipArchive.Entry] = []
        var missing: [String] = []
        if case .failure(let error) = sidecar {
            missing.append("\(TakeFile.sidecar(of: stem).name): it cannot be used: \(error.problem)")
        }
        // Small files first, so that the answer begins before long sound files are read for their checksums.
        let recordedFiles = take.recordedFiles
        for file in recordedFiles.filter(\.isReplaceable).reversed() + recordedFiles.filter({ !$0.isReplaceable }) {
            let path = "\(take.folder)/\(file.name)"
            do throws(FileError) {
                let open = try files.openTakeFile(path)
                let name = "\(day)/\(copyStem)/\(names?.name(of: file.name) ?? file.name)"
                if let names, file.role == .sidecar {
                    let attributes = try files.attributes(of: open)
                    let bytes = names.document(try files.read(open, at: 0, count: Int(attributes.byteCount)))
                    let modified = WallTime(microseconds: attributes.modifiedNs / 1000)
                    entries.append(ZipArchive.Entry(bytes: bytes, modified: modified, name: name))
                } else {
                    let edit = try names?.edit(of: file.name, in: open, files: files)
                    entries.append(ZipArchive.Entry(path: path, edit: edit, name: name))
                }
            } catch {
                // A missing waveform is not reported; any other missing file is.
                if file.role == .waveform { continue }
                switch error.code {
                case ENOENT: missing.append("\(file.name): it is missing")
                case ELOOP: missing.append("\(file.name): it is a link, and no file")
                default: missing.append("\(file.name): \(error.fact)")
                }
            }
        }
        let note = damageNote(take, missing: missing, in: day, copyStem)
        if let note { entries.insert(note, at: 0) }
        if notes.currentRevision > 0 {
            let recorded = (try? sidecar.get())?.markers ?? []
            var kept = notes
            if let end = (try? sidecar.get())?.end { kept.setAsideMarkers(outside: end) }
            // This sidecar already has the markers of the notes.
            let document = NotesDocument(kept, recorded: recorded).bytes
            entries.insert(
                ZipArchive.Entry(
                    bytes: names?.document(document) ?? document, modified: SystemClock().wallTime(),
                    name: "\(day)/\(copyStem)/\(TakeFile.notes(of: copyStem).name)"),
                at: min(1, entries.count))
        }
        return entries
    }

    /// A text for an archive which says that a take is damaged or incomplete; nil if it is neither.
    /// - Parameter missing: a reason for each file that is not in the archive.
    static func damageNote(
        _ take: CatalogedTake, missing: [String] = [], in day: String, _ copyStem: String? = nil
    ) -> ZipArchive.Entry? {
        let damage = take.damaged.map { "its sound is not what was recorded: \($0)" }
        let lines = ([damage].compactMap(\.self) + missing).map { "\(take.take): \($0)\n" }
        guard !lines.isEmpty else { return nil }
        return ZipArchive.Entry(
            bytes: Array(lines.joined().utf8), modified: SystemClock().wallTime(),
            name: "\(day)/\(copyStem ?? take.take)/\(copyStem ?? take.take).damaged.txt")
    }

    /// Converts errors to problems.
    static func refused<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ExportError {
            switch error.kind {
            case .usage: throw Problem(.notExportable(message: error.description))
            case .take: throw Problem(.soundUnusable(message: error.description))
            case .machine: throw Problem(.noMP3(message: error.description))
            }
        } catch let error as SpectraError {
            switch error.kind {
            case .usage: throw Problem(.badRequest, .usage, error.description)
            case .file, .sound: throw Problem(.soundUnusable(message: error.description))
            }
        } catch let error as FileError where error.code == ENOSPC || error.code == EDQUOT {
            throw Problem(.noRoom(message: "console: \(error.fact): free some space there"))
        } catch let error as FileError {
            throw Problem(.fileMissing(message: "console: \(error.fact): the take may have been deleted"))
        } catch let error as SoundFileError {
            throw Problem(.soundUnusable(message: "console: \(error.description)"))
        } catch let error as SidecarError {
            throw Problem(.soundUnusable(message: "console: \(error)"))
        }
    }

    private func answer(
        _ stream: some ExportStream, to request: Request, _ context: ConsoleContext, name: String, mediaType: String
    ) async throws -> Response {
        let source = Source(stream)
        // Problems with a take are reported before the answer begins, as far as its first bytes show them.
        var first: ByteBuffer? = ByteBuffer()
        while request.method != .head, first?.readableBytes == 0 {
            try context.channel.checkBrowser()
            first = try await pool.runIfActive { try Self.refused { try source.next() } }
        }
        let body = ResponseBody(contentLength: stream.byteCount.map { Int($0) }) { [pool, first] writer in
            var piece = first
            while let bytes = piece {
                // A phone that was removed meanwhile receives nothing more.
                guard context.mayGoOn() else { throw CancellationError() }
                if bytes.readableBytes > 0 {
                    try await writer.write(bytes)
                    // Waits until the network thread has the bytes. Otherwise, data that is generated faster than it is
                    // sent would pile up before that thread.
                    try await context.channel.eventLoop.submit {}.get()
                } else {
                    // An archive's file is still read for its checksum.
                    try context.channel.checkBrowser()
                }
                piece = try await pool.runIfActive { try source.next() }
            }
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [
            .contentType: mediaType, .contentDisposition: "attachment; filename=\"\(name)\"",
        ]
        return Response(status: .ok, headers: headers, body: body)
    }

    /// Pieces of a stream for the network.
    ///
    /// Safe: only the body of one answer uses it, one call at a time.
    private final class Source: @unchecked Sendable {
        private var stream: any ExportStream
        private static let byteCount = 32 << 10
        private static let mostSteps = 32

        init(_ stream: any ExportStream) { self.stream = stream }

        func next() throws -> ByteBuffer? {
            var buffer = ByteBufferAllocator().buffer(capacity: 2 * Self.byteCount)
            var steps = 0
            // Preparation before the first byte must release the thread from time to time.
            while buffer.readableBytes < Self.byteCount, steps < Self.mostSteps {
                guard let piece = try stream.next() else { return buffer.readableBytes > 0 ? buffer : nil }
                buffer.writeBytes(piece)
                steps += 1
            }
            return buffer
        }
    }
}

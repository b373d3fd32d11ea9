import Files
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Recovery finds files of other programs and other takes with the names of a take's files.
struct StrangeFilesTests {
    let bench = RecoveryBench()

    enum Content: CaseIterable {
        case text, json, shortWAV, longWAV
        /// A recorder's file of another take.
        case otherTake

        var bytes: [UInt8] {
            switch self {
            case .text: Array(String(repeating: "precious line of another program\n", count: 300).utf8)
            case .json: Array("{\"mine\": [1, 2]}".utf8)
            case .shortWAV: Self.wav(sound(0..<200, stereo16))
            case .longWAV: Self.wav(sound(0..<3000, stereo16))
            case .otherTake:
                Self.head(of: TakeName(kit: "heron07", number: 9, started: morning)) + sound(0..<1000, stereo16)
            }
        }

        /// The format of other programs: 44 bytes before the sound.
        private static func wav(_ sound: [UInt8]) -> [UInt8] {
            func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
            let format =
                number(1, 2) + number(2, 2) + number(48_000, 4) + number(192_000, 4) + number(4, 2) + number(16, 2)
            return Array("RIFF".utf8) + number(36 + sound.count, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + format
                + Array("data".utf8) + number(sound.count, 4) + sound
        }

        private static func head(of take: TakeName) -> [UInt8] {
            let origin = BroadcastOrigin(
                sidecar: testSidecar(take), started: morning, firstFrame: 0, format: stereo16, isUnfiltered: false)
            return WAVHeader(format: stereo16, origin: origin).bytes(dataBytes: 4000)
        }
    }

    enum Draft: CaseIterable {
        case there, damaged, gone
    }

    /// A take of one part that was interrupted.
    private func cutTake(_ draft: Draft) throws -> TakeName {
        let name = try bench.record { output in
            try output.append(500)
            try output.sync()
        }
        let file = "\(name.stem).json.part"
        if draft != .there { try bench.files.remove("\(bench.folder)/\(file)") }
        if draft == .damaged { try bench.make(Array("{broken".utf8), file) }
        return name
    }

    /// Recovers the only leftover take, and returns the messages.
    private func recover() throws -> [String] {
        let directory = try TakesDirectory(path: bench.path)
        guard let name = try directory.leftovers().first else { return [] }
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        while true {
            guard let outcome = try recovery.step() else { continue }
            if case .left(let reason) = outcome { return recovery.shortcomings + [reason] }
            return recovery.shortcomings
        }
    }

    @Test(
        arguments: [
            "-p2.wav", "-p3.wav", "-raw.wav", "-p2-raw.wav", "-p2.wav.part", "-raw.wav.part", "-p3-raw.wav.part",
            "-p2.wav.tail", "-raw.wav.tail",
        ], Content.allCases)
    func `a file of another origin is no part of a take, and is named`(ending: String, content: Content) throws {
        for draft in Draft.allCases {
            let name = try cutTake(draft)
            let file = name.stem.file(ending)
            try bench.make(content.bytes, file)
            let said = try recover()
            #expect(try bench.files.contents("\(bench.folder)/\(file)") == content.bytes, "\(draft)")
            #expect(said.contains { $0.contains(file) }, "\(draft): \(said)")
            #expect(try frames(of: "\(bench.folder)/\(name.stem).wav") == sound(0..<500, stereo16), "\(draft)")
            let sidecar = try TakesDirectory(path: bench.path).sidecar(of: name)
            #expect(sidecar.audioFiles == ["\(name.stem).wav"], "\(draft)")
            #expect(try recover() == [], "\(draft)")
            for file in try bench.files.entries(bench.folder) { try bench.files.remove("\(bench.folder)/\(file)") }
        }
    }

    /// On exFAT a power cut may leave the card's old content in a file that was being made.
    @Test(
        arguments: [".dat.part", ".json.tmp", ".json.part.tmp", ".json.removed"],
        [Content.text, .json, .longWAV, .otherTake])
    func `what has the name of a draft, and is none, is kept under another name`(
        ending: String, content: Content
    ) throws {
        for draft in Draft.allCases {
            let name = try cutTake(draft)
            let file = name.stem.file(ending)
            try bench.make(content.bytes, file)
            let said = try recover()
            #expect(said.contains { $0.contains("kept as \(file).other1") }, "\(draft): \(said)")
            #expect(try bench.files.contents("\(bench.folder)/\(file).other1") == content.bytes, "\(draft)")
            #expect(try frames(of: "\(bench.folder)/\(name.stem).wav") == sound(0..<500, stereo16), "\(draft)")
            #expect(try TakesDirectory(path: bench.path).leftovers() == [], "\(draft)")
            for file in try bench.files.entries(bench.folder) { try bench.files.remove("\(bench.folder)/\(file)") }
        }
    }

    @Test(arguments: [".dat.part", ".json.part.tmp", "-raw.wav.part", ".wav.part"])
    func `a take without a frame is removed, and what is none of its drafts is kept`(ending: String) throws {
        let name = try bench.record(keepsUnfiltered: ending.hasPrefix("-raw")) { _ in }
        let file = name.stem.file(ending)
        try? bench.files.remove("\(bench.folder)/\(file)")
        let bytes = Array(Content.otherTake.bytes.prefix(WAVHeader.byteCount))
        try bench.make(bytes, file)
        let said = try recover()
        #expect(try bench.files.entries(bench.folder) == ["\(file).other1"], "\(said)")
        #expect(try bench.files.contents("\(bench.folder)/\(file).other1") == bytes)
    }

    @Test(
        arguments: [".dat.part", ".json.tmp", ".json.part.tmp", ".json.part", ".json.removed", "-p2.wav.tail"],
        [Content.text, .json, .longWAV, .otherTake])
    func `beside a finished take it stays as well`(ending: String, content: Content) throws {
        for isSidecarThere in [true, false] {
            let name = try bench.record { output in
                try output.append(500)
                _ = try output.finish(endedBy: .stop, levels: [])
            }
            // If the sidecar is missing, an unreadable draft is renamed.
            if !isSidecarThere, ending == ".json.part" { continue }
            if !isSidecarThere { try bench.files.remove("\(bench.folder)/\(name.stem).json") }
            let file = name.stem.file(ending)
            try bench.make(content.bytes, file)
            let sound = try bench.files.contents("\(bench.folder)/\(name.stem).wav")
            let said = try recover()
            let kept = ending.hasSuffix(".tail") ? file : "\(file).other1"
            #expect(try bench.files.contents("\(bench.folder)/\(kept)") == content.bytes, "\(isSidecarThere)")
            #expect(try bench.files.contents("\(bench.folder)/\(name.stem).wav") == sound)
            if !ending.hasSuffix(".tail") { #expect(said.contains { $0.contains(file) }, "\(isSidecarThere): \(said)") }
            for file in try bench.files.entries(bench.folder) { try bench.files.remove("\(bench.folder)/\(file)") }
        }
    }

    @Test func `a revision keeps what has the name of its draft under another one`() throws {
        let name = try bench.record { output in
            try output.append(500)
            _ = try output.finish(endedBy: .stop, levels: [])
        }
        let (directory, file) = (try TakesDirectory(path: bench.path), "\(name.stem).json.tmp")
        for (number, content) in Content.allCases.enumerated() {
            try bench.make(content.bytes, file)
            #expect(try directory.revise(name) { $0.restored = number % 2 == 0 }.revision == number + 2)
            #expect(try bench.files.contents("\(bench.folder)/\(file).other\(number + 1)") == content.bytes)
        }
        // The remains of an interrupted revision are replaced.
        try bench.make(Array("{\"take\" : \"\(name.stem)\", \"rev".utf8), file)
        _ = try directory.revise(name) { $0.restored = nil }
        #expect(try !bench.files.entries(bench.folder).contains { $0.hasPrefix(file) && !$0.contains("other") })
        #expect(try bench.files.entries(bench.folder).filter { $0.contains("other") }.count == Content.allCases.count)
    }

    @Test(arguments: [Content.longWAV, .otherTake, .text])
    func `a listed part whose file was replaced keeps a take from being recovered`(content: Content) throws {
        let name = try bench.record { output in
            try output.append(1500)
            try output.sync()
        }
        let file = "\(name.audioFile(part: 1)).part"
        try bench.files.remove("\(bench.folder)/\(file)")
        try bench.make(content.bytes, file)
        let before = try everything(in: bench.folder)
        let said = try recover()
        #expect(try everything(in: bench.folder) == before)
        #expect(said.contains { $0.contains(file) && $0.contains("move that to another place") }, "\(said)")
    }

    @Test(arguments: [".dat", ".json"]) func `a take without a frame is not removed with a file of another origin`(
        ending: String
    ) throws {
        let name = try bench.record { _ in }
        try bench.make(Content.text.bytes, name.stem.file(ending))
        let before = try everything(in: bench.folder)
        _ = try recover()
        #expect(try everything(in: bench.folder) == before)
    }
}

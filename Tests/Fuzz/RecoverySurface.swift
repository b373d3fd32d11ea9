import Files
import Foundation
import TakeFiles
import TakePlaces
import Takes

/// A directory of takes after a power cut, with files that are named like those of takes and hold anything.
struct RecoverySurface: Surface {
    static let name = "recovery"
    let mutator: Mutator
    private let scratch: String
    private let tree: FileTree
    private let healthy: [UInt8]
    private let elsewhere: [String: String]

    private static let bootID = "5f8a2c1e-0b7d-4c57-9d55-3b1f0f6f2a11"
    private static let healthyFolder = "2026-11-20"

    init(scratch: String) throws {
        self.scratch = scratch
        tree = FileTree(root: "\(scratch)/takes")
        var seeds: [[UInt8]] = []
        for (number, (syncs, twin)) in [(0, false), (1, false), (2, true), (3, true), (4, true)].enumerated() {
            let folder = "\(scratch)/seed\(number)"
            try MadeUpTake.cut(in: TakesDirectory(path: folder), syncs: syncs, keepsUnfiltered: twin)
            seeds.append(try FileTree.text(of: folder))
        }
        for isRejoined in [false, true] {
            let folder = "\(scratch)/tail-\(isRejoined)"
            try MadeUpTake.cutAfterItsEnd(in: TakesDirectory(path: folder), isRejoined: isRejoined)
            seeds.append(try FileTree.text(of: folder))
        }
        // As if the take had been recorded the day before.
        let text = String(decoding: seeds[4], as: UTF8.self)
        precondition(text.contains("file 2026-11-21/heron07-0001_20261121_061811.json"))
        healthy = seeds[4]
        // A take between the first rename and the last.
        seeds.append(Self.replacing("061811.json\n", with: "061811.json.part\n", in: seeds[4]))
        seeds.append(Self.replacing("061811.json\n", with: "061811.json.part.tmp\n", in: seeds[4]))
        seeds.append(seeds[0] + Self.replacing("heron07-0001", with: "heron07-0002", in: seeds[1]))
        mutator = Mutator(
            seeds: seeds,
            words: [
                "%%% pipe 2026-11-21/heron07-0001_20261121_061811.json.part\n",
                "%%% pipe 2026-11-21/heron07-0001_20261121_061811.wav.part\n",
                "%%% pipe 2026-11-21/heron07-0001_20261121_061811.dat.part\n", "%%% pipe .number\n",
                "%%% folder 2026-11-21/heron07-0001_20261121_061811.wav\n",
                "%%% folder 2026-11-21/heron07-0001_20261121_061811.json.part.tmp\n",
                "%%% folder 2026-11-21/heron07-0001_20261121_061811.dat\n",
                "%%% folder 2026-11-21/heron07-0001-p2_20261121_061811.wav.part\n",
                "%%% link 2026-11-21/heron07-0001_20261121_061811.wav.part ../../elsewhere/heron07-0001_20261121_061811.wav.part\n",
                "%%% link 2026-11-21/heron07-0001_20261121_061811.json.part ../../elsewhere/heron07-0001_20261121_061811.json.part\n",
                "%%% link 2026-11-21/heron07-0001_20261121_061811.json.part.tmp ../../elsewhere/x\n",
                "%%% link 2026-11-21/heron07-0001_20261121_061811.dat.part ../../elsewhere/x\n",
                "%%% link 2026-11-21/heron07-0001-p3_20261121_061811.wav.part ../../elsewhere/heron07-0001_20261121_061811.wav.part\n",
                "%%% link 2026-11-22 ../elsewhere\n", "%%% link 2026-11-23 2026-11-23\n",
                "%%% link .number.tmp ../elsewhere/x\n",
                "%%% file 2026-11-21/heron07-9223372036854775807_20261121_061811.wav.part\n",
                "%%% file .number\n9223372036854775807\n",
                "%%% file 2026-11-21/heron07-0001_20261121_061811.flac.part\nfLaC",
                "%%% file 2026-11-21/heron07-0001_20261121_061811.wav\n",
                "%%% file 2026-11-21/heron07-0001-p99999999999_20261121_061811.wav.part\n",
                "%%% file 2026-11-21/heron07-0001-p2_20261121_061811.wav.tail\nRIFF",
                "%%% folder 2026-11-21/heron07-0001-p3_20261121_061811.wav.tail\n", ".tail",
                "%%% file 2026-11-21/notes.txt\nheron\n",
                "%%% file 2026-11-21/heron07-0003_20261121_061811.txt\n",
                "%%% file 2026-11-21/heron07-0001-raw_20261121_061811.wav.part\n",
                "%%% file 2026-11-22/heron07-0001_20261121_061811.json.part\n", "heron07-0001_20261121_061811",
                "heron07-0001-061811Z", "_unset", "-p2", "-raw", ".part",
                ".tmp", ".wav",
                "RIFF", "data", "fmt ", "bext", "JUNK", "cue ", "\"ended_by\" : \"stop\"", "\"ended_by\" : null",
                "9999-12-31T23:59:59.999999Z",
            ], longest: 160 << 10)
        let outside = "\(scratch)/elsewhere"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        for entry in FileTree.entries(in: seeds[2]) {
            guard let name = entry.head.split(separator: "/").last else { continue }
            try Data(entry.content).write(to: URL(filePath: "\(outside)/\(name)"))
        }
        try Data("x".utf8).write(to: URL(filePath: "\(outside)/x"))
        elsewhere = FileTree.snapshot(of: outside)
    }

    mutating func take(_ input: [UInt8]) throws {
        try tree.fill(with: input)
        let isHealthy = try addHealthyTake()
        let before = snapshot()
        let left = try recover()
        let between = snapshot()
        try check(before, between, isHealthy)
        let leftAgain = try recover()
        let after = snapshot()
        // After the first recovery, a finished take may leave only files that are kept under another name now.
        let looked = left.filter { stem in between.keys.contains { $0.isFile(of: stem) && $0.hasSuffix(".other1") } }
        let isSame = leftAgain.isSubset(of: left) && left.subtracting(looked).isSubset(of: leftAgain)
        try hold(isSame, "what is left is \(leftAgain.sorted()) after \(left.sorted())")
        try hold(after == between, "the second time changes \(Self.difference(between, after))")
        try hold(FileTree.snapshot(of: "\(scratch)/elsewhere") == elsewhere, "a file elsewhere is changed")
    }

    /// All files except the lock, which every process makes that opens the directory.
    private func snapshot() -> [String: String] {
        var found = FileTree.snapshot(of: tree.root)
        found[".lock"] = nil
        return found
    }

    /// Recovers all leftovers. Returns the stems of those that remain.
    private func recover() throws -> Set<String> {
        let directory = try TakesDirectory(path: tree.root)
        var left: Set<String> = []
        for take in try directory.leftovers() {
            // Takes may have the same number, and their files then look like each other's.
            let before = snapshot()
            let recovery = TakeRecovery(of: take, in: directory, bootID: Self.bootID)
            var outcome: TakeRecovery.Outcome?
            var steps = 0
            do {
                while outcome == nil {
                    outcome = try recovery.step()
                    steps += 1
                    try hold(steps < 10_000, "\(take.stem) takes more than 10 000 steps")
                }
            } catch let error as FileError {
                // The storage itself works, so any error is a defect.
                throw Broken("it cannot be recovered: \(error)")
            }
            switch outcome {
            case .recovered(let sidecar): try check(sidecar, of: take, in: directory)
            case .left(let why):
                try hold(why.isOneLine && why.utf8.count <= 2000, "a reason: \(why.debugDescription)")
                left.insert("\(take.day)/\(take.stem)")
                let now = snapshot()
                let stem = "\(take.day)/\(take.stem)"
                let changed = before.filter { $0.key.isFile(of: stem) && !Self.isKept($0.key, $0.value, in: now) }
                try hold(changed.isEmpty, "\(take.stem) is left, and changed: \(changed)")
            case .removed, .discarded, .unchanged, nil: break
            }
        }
        return left
    }

    /// Whether a file is unchanged, or kept under another name: a file at the place of a draft is renamed.
    private static func isKept(_ path: String, _ what: String, in now: [String: String]) -> Bool {
        now[path] == what || now["\(path).other1"] == what
    }

    /// The size of the chunk `data` according to the header of a recorder's WAV file.
    private static func soundBytesInHead(of path: String) throws -> Int64 {
        let head = try FileSystem().contents(path, limit: 1 << 20).prefix(4096)
        guard head.count == 4096, head[4088..<4092].elementsEqual("data".utf8) else { return 0 }
        return head[4092..<4096].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Checks a recovered take against the expectations of players and the library.
    private func check(_ sidecar: Sidecar, of take: TakeName, in directory: TakesDirectory) throws {
        try hold(try directory.takes().contains(take), "\(take.stem) is recovered and no take")
        try hold(try directory.sidecar(of: take) == sidecar, "the sidecar of \(take.stem) says otherwise")
        try hold(sidecar.endedBy != nil && sidecar.recovered, "\(take.stem) does not say that it was recovered")
        let audio = try TakeAudio(of: take, in: directory)
        let stored = audio.parts.map(\.frames)
        // A finished file must have the length that its header states. A truncated one is damage, which the library
        // finds.
        let said = try zip(audio.parts, sidecar.parts).map { part, listed in
            let frameBytes = listed.streamFormat(channels: sidecar.channels).stored.bytesPerFrame
            return max(part.frames, try Self.soundBytesInHead(of: part.path) / Int64(frameBytes))
        }
        try hold(
            stored == sidecar.parts.map(\.frames) || said == sidecar.parts.map(\.frames),
            "\(take.stem): \(stored) frames, listed \(sidecar.parts.map(\.frames))")
        try hold(said.allSatisfy { $0 > 0 }, "\(take.stem) has an empty part")
    }

    private func check(_ before: [String: String], _ after: [String: String], _ isHealthy: Bool) throws {
        if isHealthy {
            for (path, what) in before where path.hasPrefix(Self.healthyFolder) {
                try hold(after[path] == what, "a healthy take is changed: \(path)")
            }
        }
        for (path, what) in before {
            let names = path.split(separator: "/").map(String.init)
            let isOfTake =
                names.count == 2 && TakeName.isDay(names[0]) && TakeFileName(names[1]) != nil
            guard !isOfTake else { continue }
            try hold(Self.isKept(path, what, in: after), "what is no take's is changed: \(path)")
        }
    }

    /// Adds a healthy take. Returns whether it was written unchanged.
    private func addHealthyTake() throws -> Bool {
        let folder = "\(tree.root)/\(Self.healthyFolder)"
        guard mkdir(folder, 0o755) == 0 else { return false }
        for entry in FileTree.entries(in: healthy) {
            guard let name = entry.head.split(separator: "/").last, entry.head.contains("/") else { continue }
            try Data(entry.content).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        return true
    }

    private static func difference(_ before: [String: String], _ after: [String: String]) -> [String] {
        Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    private static func replacing(_ old: String, with new: String, in bytes: [UInt8]) -> [UInt8] {
        var data = Data(bytes)
        while let range = data.range(of: Data(old.utf8)) { data.replaceSubrange(range, with: Data(new.utf8)) }
        return Array(data)
    }
}

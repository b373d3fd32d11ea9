import Files
import Takes
import Testing

@testable import TakeFiles

extension LeftoverProblem {
    /// For comparisons.
    var summary: String {
        switch self {
        case .empty: "empty"
        case .removed: "removed"
        case .finished: "finished"
        case .unreplaced: "unreplaced"
        case .lost: "lost"
        case .strangeDrafts(let files): "strange: \(files.joined(separator: ", "))"
        case .foreign(let reason): reason
        case .failed(let error): "\(error)"
        }
    }
}

/// The problem of a step, or nil if it has none.
func problem<Result>(_ step: () throws(LeftoverProblem) -> Result) -> String? {
    do throws(LeftoverProblem) {
        _ = try step()
        return nil
    } catch {
        return error.summary
    }
}

struct LeftoverNamesTests {
    private static let stem = RecoveryBench.take.stem
    private let bench = RecoveryBench()

    private func names(_ files: [String: [UInt8]]) throws -> LeftoverNames {
        let site = try bench.site()
        for (name, bytes) in files { try bench.make(bytes, name) }
        return try LeftoverNames(at: site) { true }
    }

    private static func name(_ document: TakeDocument) -> String { document.name(stem: stem) }

    private static func audio(_ part: Int, isUnfiltered: Bool = false) -> String {
        RecoveryBench.take.audioFile(part: part, isUnfiltered: isUnfiltered)
    }

    private static let draft = SidecarFile.bytes(testSidecar(RecoveryBench.take))

    /// The sidecar of a take that was finished after its first part.
    private static var finished: [UInt8] {
        var sidecar = testSidecar(RecoveryBench.take)
        sidecar.setParts([
            Sidecar.Part(file: audio(1), unfilteredFile: nil, firstFrame: .first, frames: 100, format: stereo16)
        ])
        return SidecarFile.bytes(sidecar)
    }

    @Test func `names are told apart, and those of other objects are left out`() throws {
        let files = [
            Self.name(.sidecarPart), Self.name(.sidecarDraft), Self.audio(1) + ".part",
            Self.audio(1, isUnfiltered: true) + ".part", Self.audio(2) + ".tail", Self.name(.peaksPart),
        ]
        var bytes = Dictionary(uniqueKeysWithValues: files.map { ($0, [UInt8]()) })
        bytes["notes.txt"] = [1]
        bytes[Self.audio(1) + ".part.other1"] = [1]
        let names = try names(bytes)
        #expect(names.all.sorted() == files.sorted())
        #expect(names.drafts == [.sidecarPart, .sidecarDraft])
        #expect(
            Set(names.audio.map { $0.file + $0.stage.suffix }) == Set(files.filter { $0.contains(".wav") }))
        #expect(names.has(.peaksPart) && !names.has(.peaks))
        #expect(names.finished == nil && !names.hasDamagedSidecar)
    }

    private static let cases: [([String: [UInt8]], String?)] = [
        ([:], "empty"),
        ([name(.removal): []], "removed"),
        ([name(.removal): [1]], "strange: \(name(.removal))"),
        ([name(.removal): [], name(.sidecarPart): []], nil),
        ([name(.sidecarDraft): RecoveryBench.junk], "strange: \(name(.sidecarDraft))"),
        ([audio(1) + ".part": []], nil),
        ([audio(1): RecoveryBench.junk], "\(stem): its files have no sidecar"),
        ([name(.revision): finished], "unreplaced"),
        ([name(.sidecar): finished], nil),
        ([name(.sidecar): finished, name(.sidecarPart): RecoveryBench.junk], "strange: \(name(.sidecarPart))"),
    ]

    @Test(arguments: Self.cases)
    func `names alone show what is no leftover take`(files: [String: [UInt8]], expected: String?) throws {
        let site = try bench.site()
        for (name, bytes) in files { try bench.make(bytes, name) }
        #expect(problem { () throws(LeftoverProblem) in try LeftoverNames(at: site) { true } } == expected)
    }

    @Test func `beside a finished take only later parts are judged, and final names only with a draft`() throws {
        var files = [
            Self.name(.sidecar): Self.finished, Self.audio(1) + ".part": [], Self.audio(2) + ".part": [],
            Self.audio(3): [],
        ]
        let names = try names(files)
        #expect(names.settled.map(\.file) == [Self.audio(1)])
        #expect(names.audio.map(\.file) == [Self.audio(2)])
        files[Self.name(.sidecarPart)] = Self.draft
        #expect(Set(try self.names(files).audio.map(\.file)) == [Self.audio(2), Self.audio(3)])
    }

    @Test func `a damaged sidecar counts as none while there is a draft`() throws {
        let names = try names([Self.name(.sidecar): [0], Self.name(.sidecarPart): Self.draft])
        #expect(names.finished == nil && names.hasDamagedSidecar && names.drafts == [.sidecarPart])
    }

    @Test func `a folder in the place of the waveform is no obstacle`() throws {
        let site = try bench.site()
        try bench.make([], Self.audio(1) + ".part")
        _ = try bench.files.makeFolder("\(bench.folder)/\(Self.name(.peaks))")
        #expect(problem { () throws(LeftoverProblem) in try LeftoverNames(at: site) { true } } == nil)
    }
}

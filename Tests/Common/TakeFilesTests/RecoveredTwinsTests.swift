import Files
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Parts with one of the two files missing or shorter than the other.
struct RecoveredTwinsTests {
    let bench = RecoveryBench()

    enum Draft: CaseIterable {
        case there, gone, withoutThePart
        /// The other parts have their final names.
        case finished
    }

    /// The outcome for the only leftover take, with its defects.
    private func recover() throws -> (outcome: TakeRecovery.Outcome, shortcomings: [String]) {
        let directory = try TakesDirectory(path: bench.path)
        let recovery = TakeRecovery(of: try #require(directory.leftovers().first), in: directory, bootID: "")
        while true {
            if let outcome = try recovery.step() { return (outcome, recovery.shortcomings) }
        }
    }

    private func change(_ draft: Draft, of name: TakeName) throws {
        let path = "\(bench.folder)/\(name.stem).json.part"
        switch draft {
        case .there: break
        case .gone: try bench.files.remove(path)
        case .withoutThePart:
            var sidecar = try SidecarFile.sidecar(bench.files.contents(path), path: path)
            sidecar.setParts(Array(sidecar.parts.dropLast()))
            try bench.files.remove(path)
            try bench.make(SidecarFile.bytes(sidecar), "\(name.stem).json.part")
        case .finished:
            try bench.files.remove(path)
            for isUnfiltered in [false, true] {
                let file = "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: isUnfiltered))"
                try bench.files.rename(file + ".part", to: file)
            }
        }
    }

    @Test(arguments: Draft.allCases, [nil, 0, 4096] as [Int64?])
    func `a twin that alone has the sound of a part stays as it is, and is named`(draft: Draft, left: Int64?) throws {
        let name = try bench.record(keepsUnfiltered: true) { output in
            try output.append(1500, unfiltered: true)
            try output.sync()
        }
        let path = "\(bench.folder)/\(name.audioFile(part: 2)).part"
        if let left {
            try bench.files.truncate(try bench.files.open(path), to: left)
        } else {
            try bench.files.remove(path)
        }
        try change(draft, of: name)
        let twin = "\(name.audioFile(part: 2, isUnfiltered: true)).part"
        let before = try bench.files.contents("\(bench.folder)/\(twin)")
        let (outcome, shortcomings) = try recover()
        guard case .recovered(let sidecar) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(sidecar.frames == 896)
        #expect(try bench.files.contents("\(bench.folder)/\(twin)") == before)
        #expect(
            shortcomings.contains("of a part only the unfiltered sound is there: it is left as \(twin)"),
            "\(shortcomings)")
        #expect(try bench.recover() == [])
        guard case .finished(let omissions) = try sidecar.surroundings(in: bench.folder) else {
            Issue.record("it is not finished")
            return
        }
        #expect(omissions.map(\.file) == [twin] && omissions.map(\.kind) == [.unfinished])
        // That command would not change anything.
        #expect(omissions.allSatisfy { !$0.sentence.contains("fieldfare recover") })
    }

    @Test(arguments: [false, true]) func `a take of which only a twin is there is left, and named`(isLong: Bool) throws
    {
        let slow = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)
        let name = try bench.record(slow, keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(isLong ? 3000 : 500, unfiltered: true)
        }
        try bench.files.remove("\(bench.folder)/\(name.stem).wav.part")
        let twin = name.stem.file("-raw.wav.part")
        let advice = "it is a WAV file that plays: move it to another place, under a name that ends in .wav"
        let reason = "\(name.stem): only its unfiltered sound is there, in \(twin): \(advice)"
        #expect(try bench.reason() == reason)
        try bench.files.remove("\(bench.folder)/\(name.stem).json.part")
        #expect(try bench.reason() == reason)
    }

    @Test(arguments: [0, 100, 1500, 2999], [false, true])
    func `neither file of a part is shortened to the other, and the sidecar has both lengths`(
        shorter: Int64, isTwin: Bool
    ) throws {
        let slow = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)
        let name = try bench.record(slow, keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(100, unfiltered: true)
            output.note(markers: [Sidecar.Marker(atFrame: 3, note: nil)])
            try output.sync()
            try output.append(2900, unfiltered: true)
        }
        let cut = "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: isTwin)).part"
        try bench.files.truncate(try bench.files.open(cut), to: 4096 + shorter * 4 + 3)
        guard isTwin || shorter > 0 else {
            _ = try recover()
            let twin = "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: true)).part"
            #expect(try bench.files.contents(twin).count == 4096 + 3000 * 4)
            return
        }
        let part = try #require(bench.recovered()?.parts.first)
        let lengths = try ["", "-raw"].compactMap { ending -> Int64? in
            let path = "\(bench.folder)/\(name.stem.file("\(ending).wav"))"
            return bench.files.isTaken(path) ? try SoundFileReader(path: path).frames : nil
        }
        if isTwin {
            #expect(part.frames == 3000 && part.unfilteredFrames == (shorter > 0 ? shorter : nil))
            #expect(lengths == (shorter > 0 ? [3000, shorter] : [3000]))
        } else {
            #expect(part.frames == shorter && part.unfilteredFrames == 3000)
            #expect(lengths == [shorter, 3000])
        }
        #expect(try frames(of: "\(bench.folder)/\(name.stem).wav") == sound(0..<part.frames, slow))
    }

    @Test func `a twin that was longer when the take ended keeps its length`() throws {
        let name = try bench.record(keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(1500, unfiltered: true)
            try output.sync()
        }
        let draft = "\(bench.folder)/\(name.stem).json.part"
        var sidecar = try SidecarFile.sidecar(bench.files.contents(draft), path: draft)
        var part = try #require(sidecar.parts.first)
        (part.frames, part.unfilteredFrames) = (1000, 1500)
        sidecar.setParts([part])
        sidecar.endedBy = .stop
        try bench.files.remove(draft)
        try bench.make(SidecarFile.bytes(sidecar), "\(name.stem).json.part")
        let filtered = "\(bench.folder)/\(name.audioFile(part: 1)).part"
        try bench.files.truncate(try bench.files.open(filtered), to: 4096 + 1000 * 4)
        let found = try #require(bench.recovered()?.parts.first)
        #expect(found.frames == 1000 && found.unfilteredFrames == 1500)
        #expect(try frames(of: "\(bench.folder)/\(name.stem.file("-raw.wav"))") == sound(0..<1500, stereo16, seed: 7))
    }
}

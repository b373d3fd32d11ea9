import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// A take that is finished and continues in a tail, which becomes part of the take or is dropped. It is interrupted at
/// some moment. `owed` is the data that was synced before.
struct TailTake {
    static let kit = "heron07"
    static let frames: Int64 = 2400
    static let filtered = sound(0..<frames, stereo16)
    static let unfiltered = sound(0..<frames, stereo16, seed: 7)

    enum End: CaseIterable {
        case rejoined, dropped
    }

    /// The data that was synced at some moment.
    struct Owed {
        var frames: Int64 = 0
        /// The files of the take when it was finished for the first time, without the path of the day.
        var finished: [String: [UInt8]] = [:]
        var isRejoining = false
        var markers: [Sidecar.Marker] = []
    }

    private(set) var name: TakeName?
    private(set) var owed = Owed()
    /// Whether the whole sequence was carried out.
    private(set) var isOver = false

    static func record(in directory: TakesDirectory, _ end: End, notes: (Owed) -> Void = { _ in }) -> TailTake {
        var take = TailTake()
        try? take.record(in: directory, end, notes)
        return take
    }

    private mutating func record(in directory: TakesDirectory, _ end: End, _ notes: (Owed) -> Void) throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        name = output.name
        try append(1000, to: output)
        output.appendPeaks([Int8](repeating: 1, count: 4096))
        output.note(markers: [Sidecar.Marker(atFrame: 950, note: "before")])
        try sync(output, notes)
        try append(100, to: output)
        // Set while the very last frame was sampled.
        output.note(markers: [Sidecar.Marker(atFrame: 1100, note: "last")])
        _ = try output.finish(endedBy: .stop, levels: [])
        owed.frames = 1100
        owed.markers = output.sidecar.markers
        let stem = output.name.stem
        owed.finished = try everything(in: "\(directory.path)/\(output.name.day)").filter { $0.key.isFile(of: stem) }
        notes(owed)

        try output.beginTail(format: stereo16)
        // The second piece begins another tail file.
        for count in [300, 700] {
            try append(count, to: output)
            output.appendPeaks([Int8](repeating: 2, count: 4096))
            try output.sync()
        }
        output.note(markers: [Sidecar.Marker(atFrame: 1500, note: "in the tail")])
        try append(50, to: output)
        switch end {
        case .dropped: try output.dropTail()
        case .rejoined:
            owed.isRejoining = true
            notes(owed)
            try output.rejoin()
            owed.frames = output.frames
            owed.markers = output.sidecar.markers
            notes(owed)
            output.appendPeaks([Int8](repeating: 3, count: 4096))
            try append(200, to: output)
            output.note(markers: [Sidecar.Marker(atFrame: 2200, note: "after")])
            try sync(output, notes)
            try append(50, to: output)
            _ = try output.finish(endedBy: .stop, levels: [])
            owed.frames = Self.frames
            notes(owed)
        }
        isOver = true
    }

    private mutating func sync(_ output: TakeOutput, _ notes: (Owed) -> Void) throws {
        try output.sync()
        owed.frames = output.frames
        owed.markers = output.sidecar.markers
        notes(owed)
    }

    private func append(_ count: Int, to output: TakeOutput) throws {
        let range = Int(output.frames) * 4..<(Int(output.frames) + count) * 4
        try Self.filtered[range].withUnsafeBytes { bytes in
            try Self.unfiltered[range].withUnsafeBytes { twin in try output.append(bytes, unfiltered: twin) }
        }
    }

    /// Checks the take after its recovery.
    ///
    /// - Parameter isExact: whether frames that were not synced must also match the recorded sound, as far as they
    ///   exist.
    func check(in directory: TakesDirectory, _ comment: Comment, isExact: Bool = true, owed: Owed? = nil) throws {
        let owed = owed ?? self.owed
        guard let name, try directory.takes().contains(name) else {
            #expect(owed.frames == 0, comment)
            return
        }
        let folder = "\(directory.path)/\(name.day)"
        let there = try everything(in: folder).filter { $0.key.isFile(of: name.stem) }
        // A twin that was not synced may exist without its filtered sound.
        let left = there.keys.filter {
            ($0.contains(".part") || $0.contains(".tmp") || $0.contains(".tail"))
                && (isExact || !$0.hasEnding("-raw.wav.part"))
        }
        #expect(left == [], comment)
        let sidecar = try directory.sidecar(of: name)
        if !owed.finished.isEmpty {
            // The finished files are unchanged, and before the take continues they are the only ones.
            let sound = owed.finished.filter { $0.key.hasSuffix(".wav") }
            #expect(there.filter { sound[$0.key] != nil } == sound, comment)
            if !owed.isRejoining || sidecar.revision == 1 {
                let isOther = { (file: String) in file.hasSuffix(".json.part") || !isExact && file.hasSuffix(".part") }
                #expect(there.filter { !isOther($0.key) } == owed.finished.filter { !isOther($0.key) }, comment)
            }
            #expect(sidecar.revision <= 2, comment)
            #expect(sidecar.revision == 2 || owed.frames <= 1100, comment)
        }
        #expect(sidecar.frames >= owed.frames && sidecar.frames <= Self.frames, comment)
        #expect(sidecar.markers.starts(with: owed.markers), comment)
        #expect(sidecar.endedBy != nil, comment)
        let sure = Int(isExact ? sidecar.frames : owed.frames) * 4
        for (isTwin, expected) in [(false, Self.filtered), (true, Self.unfiltered)] {
            let found = sidecar.parts.flatMap { part -> ArraySlice<UInt8> in
                guard let file = isTwin ? part.unfilteredFile : part.file else { return [] }
                let count = isTwin ? part.twinFrames : part.frames
                return (there[file] ?? []).dropFirst(WAVHeader.byteCount).prefix(Int(count) * 4)
            }
            let isRight = found.prefix(sure) == expected.prefix(min(sure, found.count))
            #expect(isRight, comment)
            #expect(found.count >= owed.frames * 4, comment)
        }
        #expect(sidecar.parts.map(\.frames).reduce(0, +) == sidecar.frames, comment)
        let ends = sidecar.parts.map { $0.firstFrame + $0.frames }
        #expect(Array(ends.dropLast()) == sidecar.parts.dropFirst().map(\.firstFrame), comment)
        if let waveform = there["\(name.stem).dat"] {
            let length = waveform[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(waveform.count == 24 + 4 * length, comment)
        }
    }
}

import Files
import Glibc

/// A file next to the sound of a take that is being recorded, such as the waveform: a header with the number of
/// records, then the records. Records wait in RAM until there are enough for a write. The take does not need the file:
/// if it cannot be written, it is dropped and the take continues.
struct SideFile {
    /// The minimum size of a write, except at the end: storage is slow at small writes.
    static let leastWrite = 4096

    /// The file before the take is finished.
    let draft: TakeDocument
    /// The file of a finished take.
    let document: TakeDocument
    let bytesPerRecord: Int
    /// Returns the header of a file with that number of records.
    let headerOfLength: (Int) -> [UInt8]
    /// Whether the file at a path is another program's.
    let isForeign: (TakeSite, String) -> Bool

    private var waiting: [UInt8] = []
    /// The number of records that `take` has returned for writing.
    private(set) var length = 0
    /// How many bytes after the header of the finished file have been copied, or nil if nothing is left to copy.
    private var copied: Int64?
    fileprivate var state = State.absent

    fileprivate enum State {
        case absent
        case begun(OpenFile, end: Int64)
        /// The whole file is on the disk, under the draft's name.
        case whole
        /// It has its final name, or another program removed it.
        case finished
        /// There will be no such file.
        case failed(FileError)
    }

    /// The header of the file for the records so far.
    var header: [UInt8] { headerOfLength(length) }

    /// Whether enough bytes for a write are waiting.
    var isDue: Bool { waiting.count >= Self.leastWrite }

    /// Whether the file was begun and not dropped.
    var isBegun: Bool {
        switch state {
        case .absent, .failed: false
        case .begun, .whole, .finished: true
        }
    }

    /// Why there will be no such file, or nil if there will be one.
    var failure: FileError? {
        if case .failed(let error) = state { error } else { nil }
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        if failure == nil { waiting += bytes }
    }

    /// Removes and returns the complete waiting records.
    mutating func take() -> [UInt8] {
        let count = waiting.count - waiting.count % bytesPerRecord
        let records = Array(waiting[..<count])
        waiting.removeFirst(count)
        length += count / bytesPerRecord
        return records
    }

    /// The take has ended. An incomplete record is dropped.
    mutating func end() {
        waiting = []
    }

    /// The take continues. The file is begun again with a copy of the finished one.
    mutating func goOn() {
        guard failure == nil else { return }
        state = .absent
        copied = length > 0 ? 0 : nil
    }

    /// The offset and size of the next piece of the finished file to copy, or nil if nothing is left. Small enough for
    /// a short write.
    var nextCopy: (offset: Int64, count: Int)? {
        guard let copied else { return nil }
        // `take` is not called while the copy runs, so `length` still counts only the records of the finished file.
        return (Int64(header.count) + copied, min(1 << 20, length * bytesPerRecord - Int(copied)))
    }

    mutating func didCopy(_ count: Int) {
        guard let copied else { return }
        let end = copied + Int64(count)
        self.copied = end < Int64(length * bytesPerRecord) ? end : nil
    }

    /// Drops the file because it cannot be written.
    mutating func giveUp(_ error: FileError) {
        state = .failed(error)
        waiting = []
    }
}

extension SideFile {
    /// The waveform. Its records are pixels.
    static func peaks(rateHz: Int, channels: Int) -> SideFile {
        SideFile(
            draft: .peaksPart, document: .peaks, bytesPerRecord: 2 * channels,
            headerOfLength: { PeaksFile.header(rateHz: rateHz, channels: channels, length: $0) },
            isForeign: { $0.isForeignWaveform($1) })
    }

    /// - Parameter pairs: in the layout of `PeaksFile.pairs`.
    mutating func append(_ pairs: [Int8]) {
        append(pairs.lazy.map { UInt8(bitPattern: $0) })
    }
}

extension TakeSite {
    /// Carries out a phase of a side file, and begins the file first if necessary. If either fails, the file is
    /// dropped.
    func perform(_ phase: TakePhase, side: inout SideFile) {
        guard side.failure == nil else { return }
        do throws(FileError) {
            if !side.isBegun { try carryOut(.beginSide, &side, side.header) }
            if phase == .endSide {
                while side.nextCopy != nil { try copyPiece(&side) }
                try carryOut(.appendSide, &side, side.take())
                try carryOut(.endSide, &side, side.header)
                side.end()
            } else if side.nextCopy != nil {
                try copyPiece(&side)
            } else {
                try carryOut(phase, &side, side.take())
            }
        } catch {
            giveUp(&side, error)
        }
    }

    /// Drops the file and removes its draft.
    func giveUp(_ side: inout SideFile, _ error: FileError) {
        side.giveUp(error)
        try? carryOut(.dropSide, &side)
    }

    private func copyPiece(_ side: inout SideFile) throws(FileError) {
        guard let (offset, count) = side.nextCopy else { return }
        let file = try files.open(path(side.document))
        let bytes = try files.read(file, at: offset, count: count)
        guard bytes.count == count else { throw FileError("read", file.path, code: EIO) }
        try carryOut(.appendSide, &side, bytes)
        side.didCopy(count)
    }

    private func carryOut(_ phase: TakePhase, _ side: inout SideFile, _ content: [UInt8] = []) throws(FileError) {
        for case .side(let step) in phase.steps { try perform(step, on: &side, content: content) }
    }

    func perform(_ step: SideStep, on side: inout SideFile, content: [UInt8]) throws(FileError) {
        let draft = path(side.draft)
        switch step {
        case .create:
            try files.makeWay(for: draft)
            side.state = .begun(try files.createWhole(draft, isNew: false), end: 0)
        case .append:
            guard case .begun(let file, let end) = side.state, !content.isEmpty else { return }
            try files.write(content, to: file, at: end)
            side.state = .begun(file, end: end + Int64(content.count))
        case .overwrite:
            if case .begun(let file, _) = side.state { try files.write(content, to: file, at: 0) }
        case .sync:
            guard case .begun(let file, _) = side.state else { return }
            try files.sync(file)
            side.state = .whole
        case .rename:
            // A folder or a link with that name must not cost a take.
            try files.makeWay(for: draft)
            // An abandoned take does not have a whole draft.
            guard case .whole = side.state else { return try files.remove(draft) }
            side.state = .finished
            try rename(&side, from: draft, to: path(side.document))
        case .remove:
            try files.makeWay(for: draft)
            try files.remove(draft)
        }
    }

    private func rename(_ side: inout SideFile, from draft: String, to final: String) throws(FileError) {
        do throws(FileError) {
            if side.isForeign(self, final) {
                try files.remove(draft)
                throw FileError("rename \(draft) to", final, code: EEXIST)
            }
            try files.rename(draft, to: final)
            try files.settle(final)
        } catch {
            switch error.code {
            case EEXIST: side.giveUp(error)
            // Another program removed it.
            case ENOENT: break
            default: throw error
            }
        }
    }
}

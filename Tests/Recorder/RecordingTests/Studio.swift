import Files
import Filters
import Foundation
import Ring
import Takes
import TestBench
import Testing
import Workers

@testable import Recording
@testable import TakeFiles

/// A writer without threads, and a card whose every sample is a function of the frame's number.
final class Studio {
    let clock = TestClock()
    let format: StreamFormat
    let ring: Ring
    let sync: SyncWorker
    let writer: WriterWorker
    let directory: TakesDirectory
    private let folder = TestFolder()
    var path: String { folder.path + "/takes" }
    var outcomes: [WriterOutcome] = []
    var filter: FilterDesign
    var keepsTwin = false
    var gain = CardGain()
    /// Nil for all channels of the card.
    var layout: ChannelLayout?
    var splitBytes: Int64 = 4000 << 20
    var isSyncStalled = false
    /// The number of frames that the card has sampled.
    private(set) var sampled: Int64 = 0
    private(set) var opened: Instant
    private var openedPosition = RingPosition.start
    static let period = Duration.milliseconds(100)

    init(
        _ format: StreamFormat, cutoffHz: Double? = nil, holding duration: Duration = .seconds(10),
        files: FileSystem = FileSystem()
    ) throws {
        self.format = format
        directory = try TakesDirectory(path: folder.path + "/takes", files: files)
        ring = Ring(
            format: format, holding: duration, periodFrames: Int(format.frames(in: Self.period)))
        sync = SyncWorker(syncsBy: clock)
        writer = WriterWorker(writesBy: clock, sync: sync)
        filter =
            try cutoffHz.map {
                try FilterDesign(lowPassHz: $0, highPassHz: nil, slopeDBPerOctave: 24, rateHz: format.rateHz)
            } ?? .off(rateHz: format.rateHz)
        opened = clock.now()
        ring.stamp(Stamp(position: .start, instant: opened, kind: .started))
    }

    /// Advances the time for all but the writer.
    func wait(_ duration: Duration) {
        clock.advance(by: duration)
        deliver()
    }

    /// Advances the time.
    func run(_ duration: Duration, isCardAway: Bool = false) {
        var left = duration
        while left > .zero {
            let step = min(.milliseconds(50), left)
            clock.advance(by: step)
            left -= step
            if !isCardAway { deliver() }
            turn()
        }
    }

    func turn() {
        while let next = writer.step(), next <= clock.now() {}
        if !isSyncStalled { _ = sync.step() }
        outcomes += writer.outcomes()
    }

    /// Opens the card again, in the same ring.
    func reopen(isStarted: Bool = true) -> RingPosition {
        opened = clock.now()
        openedPosition = ring.position
        if isStarted { start() }
        return openedPosition
    }

    /// Adds the stamp of the opened card's start.
    func start() { ring.stamp(Stamp(position: openedPosition, instant: opened, kind: .started)) }

    /// Delivers the whole periods that are due.
    func deliver() { deliver(upTo: clock.now() - opened) }

    /// Delivers whole periods up to a time since the card was opened.
    func deliver(upTo time: Duration) {
        let period = format.frames(in: Self.period)
        while openedPosition + format.frames(in: time) >= ring.position + period {
            let end = ring.position + period
            while ring.position < end {
                let room = ring.writable(min(end - ring.position, ring.writableFrames()))
                guard room.count > 0 else { return }
                fill(room, from: sampled)
                let frames = Int64(room.count / format.bytesPerFrame)
                sampled += frames
                ring.commit(frames)
            }
            let instant = opened + format.duration(ofFrames: end - openedPosition)
            ring.stamp(Stamp(position: end, instant: instant))
        }
    }

    private func fill(_ room: UnsafeMutableRawBufferPointer, from frame: Int64) {
        let count = room.count / format.bytesPerFrame * format.channels
        for index in 0..<count {
            var mixed = UInt64(bitPattern: frame * Int64(format.channels) + Int64(index)) &* 0x9e37_79b9_7f4a_7c15
            mixed ^= mixed >> 29
            mixed = mixed &* 0xbf58_476d_1ce4_e5b9
            let value = Int32(truncatingIfNeeded: mixed >> 33)
            let place = index * format.sampleFormat.bytesPerSample
            switch format.sampleFormat {
            case .s16: room.storeBytes(of: Int16(truncatingIfNeeded: value), toByteOffset: place, as: Int16.self)
            case .s24Packed, .s24:
                room.storeBytes(of: (value << 8) >> 8, toByteOffset: place, as: Int32.self)
            case .s32: room.storeBytes(of: value, toByteOffset: place, as: Int32.self)
            case .float:
                room.storeBytes(of: Float(value) / 4_294_967_296, toByteOffset: place, as: Float.self)
            }
        }
    }

    /// - Parameters:
    ///   - heldUp: how long the writer is blocked before it receives the order.
    ///   - meanwhile: called after the take's files are made, and before its first frame is written.
    func begin(
        preRoll: Duration = .zero, origin: ClockOrigin = .ntp, heldUp: Duration = .zero, meanwhile: (() -> Void)? = nil
    ) {
        writer.post(
            .begin(
                BeginOrder(
                    ring: ring, opened: openedPosition, pressed: clock.now(), pressedWall: clock.wallTime(),
                    earliest: nil, preRoll: preRoll, filter: filter,
                    plan: TakePlan(
                        grant: CaptureGrant(
                            card: "card:Studio", name: "Studio", format: format, layout: layout,
                            periodFrames: Int(format.frames(in: Self.period)), bufferFrames: 100_000, gain: gain),
                        directory: directory, kit: "heron07", clock: origin, bootID: "boot", lag: .milliseconds(75),
                        keepsUnfiltered: keepsTwin, syncPromise: .seconds(1), splitBytes: splitBytes,
                        reserveBytes: 0, pendingFormat: nil, startedBy: .button, version: "test"))))
        wait(heldUp)
        if let meanwhile {
            _ = writer.step()
            meanwhile()
        }
        turn()
    }

    func end(keepsTail: Bool = false) {
        writer.post(.end(at: clock.now(), .stop, keepsTail: keepsTail))
        turn()
    }

    var finished: [Sidecar] {
        outcomes.compactMap { outcome in
            switch outcome {
            case .finished(_, let sidecar, _, _), .next(_, let sidecar, _): sidecar
            case .began, .progress, .warned, .troubled, .leftBehind, .rejoined, .tailEnded, .failed: nil
            }
        }
    }

    /// The sound of a take's files, as bytes, one part after the other.
    func sound(_ sidecar: Sidecar, isUnfiltered: Bool = false) throws -> Data {
        try sidecar.parts.reduce(Data()) { sound, part in
            let file = try #require(isUnfiltered ? part.unfilteredFile : part.file)
            let name = try #require(directory.takes().first { $0.stem == sidecar.take })
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name.day)/\(file)"))
            let stored = StreamFormat(rateHz: part.rateHz, channels: sidecar.channels, sampleFormat: part.format)
            let start = WAVHeader.byteCount
            return sound + bytes[start..<start + Int(part.frames) * stored.stored.bytesPerFrame]
        }
    }

    func fileNames() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains(".wav") || $0.contains(".json") }
            .sorted()
    }
}

import Files
import Foundation
import Panel
import Playback
import Ring
import ScriptedPlayback
import TakeFiles
import Takes
import TestBench
import Transport
import Workers

@testable import Deck

/// A card whose samples are their frame numbers. It delivers as the clock advances.
final class ScriptedCard: CaptureSource {
    struct Absent: Error, CustomStringConvertible {
        let description = "capture: no card: nothing is plugged in: plug in a microphone"
    }

    private(set) var format: StreamFormat
    let periodFrames: Int
    var isPresent = true
    /// Whether it is present but delivers nothing.
    private var isSilent = false
    var end: CaptureEnd?
    let endedFileDescriptor: Int32 = -1
    private(set) var opened: [CaptureRequest] = []
    private var ring: Ring?
    private var isOpened = false
    /// Frames sampled since the start.
    private var sampled: Int64 = 0
    private(set) var started = Instant(nanoseconds: 0)
    /// The ring's position at the start.
    private var base = RingPosition.start
    /// Frames that were sampled and never delivered.
    private var lost: Int64 = 0
    /// The lost frames that no stamp has reported yet.
    private var dropped: Int64 = 0
    private let clock: TestClock
    var openingTime = Duration.zero
    /// The deviation of the crystal: 0.001 is 0.1 % slow.
    var slowness = 0.0
    /// The delay of the next stamp.
    var lateness: () -> Duration = { .zero }
    /// The gain in its mixer.
    var gain = CardGain()
    /// The error of setting the gain, or nil if that works.
    var gainFailure: GainError?
    /// The time that its mixer takes.
    var mixerTime = Duration.zero
    /// The value of the next samples, or nil if each sample is its frame number.
    var sample: Int16?
    /// Its names, the identifying one first.
    var references = [CardReference.cardID("Scripted")]
    /// The result of the search for a better card.
    var better = BetterCard.none
    /// Whether the better card can be opened.
    var isBetterSound = true
    var isBetterDeaf = false
    private var isBetterOpen = false
    /// The alternating amplitude of the next frames, one per channel, or nil to use `sample`.
    var amplitudes: [Int16]?

    init(clock: TestClock, format: StreamFormat, periodFrames: Int) {
        self.clock = clock
        self.format = format
        self.periodFrames = periodFrames
    }

    func open(_ request: CaptureRequest) throws -> CaptureGrant {
        opened.append(request)
        clock.advance(by: openingTime)
        guard isPresent else { throw Absent() }
        if let rate = request.rateHz, rate != format.rateHz { throw Absent() }
        if let channels = request.channels, !channels.isMet(by: ChannelLayout(all: format.channels)) { throw Absent() }
        let isBetter = request.expected == [Self.betterName]
        if isBetter, !isBetterSound { throw Absent() }
        if request.expected == [Self.otherName] || isBetter && !isBetterDeaf { better = .none }
        isBetterOpen = isBetter
        isOpened = true
        apply(request.gainDB, request.agc)
        let names = isBetter || request.expected == [Self.otherName] ? request.expected : references
        return CaptureGrant(
            card: "\(names[0])", references: names, name: "Scripted", format: format,
            periodFrames: periodFrames, bufferFrames: 4 * periodFrames, gain: gain)
    }

    static let betterName = CardReference.cardID("Better")
    /// Another better card, which can be opened.
    static let otherName = CardReference.cardID("Other")

    func look() -> BetterCard { better }

    func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain? {
        guard isOpened else { return nil }
        clock.advance(by: mixerTime)
        if let gainFailure { throw gainFailure }
        apply(gainDB, agc)
        return gain
    }

    private func apply(_ gainDB: Double?, _ agc: Bool?) {
        if gain.rangeDB != nil { gain.gainDB = gainDB ?? gain.gainDB }
        if gain.agc != nil { gain.agc = agc ?? gain.agc }
    }

    func start(into ring: Ring) throws {
        self.ring = ring
        end = nil
        sampled = 0
        lost = 0
        dropped = 0
        started = clock.now()
        base = ring.position
        ring.stamp(Stamp(position: base, instant: started, kind: .started))
    }

    func stop() {
        ring = nil
        isOpened = false
    }

    var isOpen: Bool { ring != nil }

    /// Delivers the whole periods that are due.
    func deliver() {
        guard let ring, isPresent else { return }
        guard !(isBetterDeaf && isBetterOpen) else {
            if clock.now() - started >= Self.patience { end = .failed("capture: card:Better: delivered nothing") }
            return
        }
        guard !isSilent else {
            if clock.now() - started >= Self.patience { stall() }
            return
        }
        let due = Int64(Double(format.frames(in: clock.now() - started)) * (1 - slowness))
        while sampled + Int64(periodFrames) <= due {
            sampled += Int64(periodFrames)
            let instant = started + format.duration(ofFrames: Int64((Double(sampled) / (1 - slowness)).rounded()))
            if ring.writableFrames() < Int64(periodFrames) {
                dropped += Int64(periodFrames)
                ring.miss(Int64(periodFrames))
                continue
            }
            if dropped > 0 {
                // They are reported once there is room again, as by the real capture thread.
                let back = started + format.duration(ofFrames: sampled - Int64(periodFrames))
                ring.stamp(Stamp(position: ring.position, instant: back, kind: .stall, lost: dropped))
                lost += dropped
                dropped = 0
            }
            ring.stamp(Stamp(position: base + (sampled - lost), instant: instant + lateness()))
            write(Int64(periodFrames), from: sampled - Int64(periodFrames), to: ring)
        }
    }

    /// The card's buffer overruns: sound sampled during `duration` is lost.
    func overrun(for duration: Duration) {
        guard let ring else { return }
        deliver()
        clock.advance(by: duration)
        skipUndelivered()
        ring.stamp(Stamp(position: ring.position, instant: clock.now(), kind: .xrun, lost: -1))
    }

    func drop(_ frames: Int64) {
        sampled += frames
        lost += frames
    }

    func unplug() {
        isPresent = false
        end = .cardLost("capture: card:Scripted: the card is gone")
    }

    /// If the card delivers nothing for this long, the capture fails.
    private static let patience = Duration.seconds(1.5)

    /// The card is back, with the same or another format.
    func plugIn(rateHz: Int? = nil, channels: Int? = nil, sampleFormat: SampleFormat? = nil) {
        isPresent = true
        if isSilent { skipUndelivered() }
        isSilent = false
        format = StreamFormat(
            rateHz: rateHz ?? format.rateHz, channels: channels ?? format.channels,
            sampleFormat: sampleFormat ?? format.sampleFormat)
    }

    /// The card stops delivering, and the capture ends at once.
    func stall() {
        isSilent = true
        end = .failed("capture: card:Scripted: delivered nothing")
    }

    /// Sound that was not delivered so far is lost.
    private func skipUndelivered() {
        let due = format.frames(in: clock.now() - started)
        lost += due - sampled
        sampled = due
    }

    private func write(_ count: Int64, from number: Int64, to ring: Ring) {
        var done: Int64 = 0
        while done < count {
            let room = ring.writable(count - done).bindMemory(to: Int16.self)
            if let amplitudes {
                for index in room.indices {
                    let amplitude = amplitudes[index % format.channels]
                    room[index] = index / format.channels % 2 == 0 ? amplitude : -amplitude
                }
            } else if let sample {
                room.update(repeating: sample)
            } else {
                fill(room, from: Int(number + done))
            }
            let frames = Int64(2 * room.count / format.bytesPerFrame)
            ring.commit(frames)
            done += frames
        }
    }
}

extension ScriptedCard {
    /// Two rounds of the sample values, computed once, because a debug build is slow at that.
    private static let values = (0..<60000).map(sampleValue)

    private func fill(_ room: UnsafeMutableBufferPointer<Int16>, from frame: Int) {
        guard format.channels == 1, room.count <= 30000 else {
            for index in room.indices { room[index] = sampleValue(frame + index / format.channels) }
            return
        }
        let first = frame % 30000
        _ = room.update(fromContentsOf: Self.values[first..<first + room.count])
    }
}

/// A test kit: a deck with real parts except for time, card and threads.
final class Rig {
    let clock = TestClock()
    let card: ScriptedCard
    let sink: ScriptedSink
    let workers: DeckWorkers
    let deck: Deck
    /// Contains the folder for takes, and what a test puts beside it.
    let folder: TestFolder
    var directory: String { folder.path + "/takes" }
    var powerOffs = 0
    /// Called with each event of the deck.
    var onEvent: (DeckEvent) -> Void = { _ in }
    /// While the storage stalls, syncs wait.
    var isSyncStalled = false
    /// Workers that are blocked.
    var stuck: Set<Part> = []
    enum Part { case card, storage, archivist, writer }
    var clockOrigin: ClockOrigin {
        get { origin.value }
        set { origin.value = newValue }
    }
    /// The day of the newest take at the last judgement of the clock.
    var judgedBy: String? { origin.newestTake }
    private final class Origin {
        var value = ClockOrigin.ntp
        var newestTake: String?
    }
    private let origin = Origin()

    init(
        rateHz: Int = 8000, channels: Int = 1, files: FileSystem = FileSystem(), isCardPresent: Bool = true,
        in folder: TestFolder = TestFolder(), stuck: Set<Part> = [],
        _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws {
        self.folder = folder
        var options = DeckOptions(kit: "heron07", directory: folder.path + "/takes", version: "test")
        options.filter = FilterRequest(lowPass: .off)
        options.reserveBytes = 0
        options.bootID = "boot"
        configure(&options)
        let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: .s16)
        card = ScriptedCard(clock: clock, format: format, periodFrames: rateHz / 10)
        card.isPresent = isCardPresent
        sink = ScriptedSink(clock: clock)
        workers = DeckWorkers(card: card, sink: sink, options: options, clock: clock, files: files)
        deck = Deck(
            options: options, workers: workers, clock: clock,
            originOfClock: { [origin] newestTake in
                origin.newestTake = newestTake
                return origin.value
            }, report: { [log] in log.messages.append($0.message) })
        deck.deliverEvents { [unowned self] event in
            if case .powerOff = event { powerOffs += 1 }
            onEvent(event)
        }
        self.stuck = stuck
        turn()
    }

    /// A rig that has recorded for a while and continues.
    static func recording(
        for duration: Duration, files: FileSystem = FileSystem(), _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws -> Rig {
        let rig = try Rig(files: files, configure)
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(duration)
        return rig
    }

    /// The reports, in order.
    final class ReportLog {
        var messages: [String] = [] { didSet { onReport(messages.last ?? "") } }
        var onReport: (String) -> Void = { _ in }
    }
    let log = ReportLog()

    /// Advances the time, in steps as small as the loop's.
    func run(_ duration: Duration, step: Duration = .milliseconds(50)) {
        var left = duration
        while left > .zero {
            clock.advance(by: min(step, left))
            left -= min(step, left)
            turn()
        }
    }

    func turn() {
        card.deliver()
        sink.play()
        _ = deck.turn(now: clock.now())
        work()
        // The recorder's loop updates the lamps at each turn.
        onEvent(.changed)
    }

    /// Lets the workers do all work that is due.
    func work() {
        var due: Instant? = clock.now()
        while let instant = due, instant <= clock.now() {
            due = step()
            deck.ready(now: clock.now())
            if hasOrders { due = clock.now() }
        }
    }

    private var hasOrders: Bool {
        (workers.card.hasOrders && !stuck.contains(.card)) || (workers.storage.hasOrders && !stuck.contains(.storage))
            || (workers.writer.hasOrders && !stuck.contains(.writer)) || workers.player.hasOrders
            || (workers.archivist.hasOrders && !stuck.contains(.archivist))
            || (workers.sync.hasOrders && !isSyncStalled)
    }

    private func step() -> Instant? {
        var due: [Instant?] = []
        if !stuck.contains(.card) { due.append(workers.card.step()) }
        if !stuck.contains(.storage) { due.append(workers.storage.step()) }
        if !stuck.contains(.writer) { due.append(workers.writer.step()) }
        if !isSyncStalled { due.append(workers.sync.step()) }
        due.append(workers.player.step())
        if !stuck.contains(.archivist) { due.append(workers.archivist.step()) }
        return due.compactMap(\.self).min()
    }

    /// Lets the waiting sync run, while later ones keep waiting.
    func runSync() { _ = workers.sync.step() }

    /// A copy of the takes as a power cut would leave them now.
    func cut() throws -> TestFolder {
        let copy = TestFolder()
        try FileManager.default.copyItem(atPath: directory, toPath: copy.path + "/takes")
        return copy
    }

    /// Presses a button. The press is known only after it has been stable.
    func press(_ button: Button, knownAfter delay: Duration = .milliseconds(15)) {
        let instant = clock.now()
        run(delay, step: .milliseconds(5))
        deck.handle(.press(button, at: instant))
        work()
    }

    /// Advances the time until nothing is recorded.
    func settle() {
        for _ in 0..<100 where deck.state == .recording { run(.milliseconds(50)) }
    }

    /// The sidecars on disk, by number.
    func sidecars() throws -> [Sidecar] {
        try deck.selection.takes.map { try deck.storage.directory!.sidecar(of: $0) }
    }

    /// The samples of an audio file of one channel and 16 bits.
    func samples(_ file: String, of sidecar: Sidecar) throws -> [Int16] {
        let take = deck.selection.takes.first { $0.stem == sidecar.take }!
        var reader = try SoundFileReader(path: "\(directory)/\(take.day)/\(file)")
        var samples = [Int32](repeating: 0, count: Int(reader.frames))
        var span = samples.mutableSpan
        let count = try reader.read(into: &span)
        return samples[..<count].map { Int16($0 >> 16) }
    }
}

/// The scripted card's sample in a frame: its number, far from the converter's limits.
func sampleValue(_ frame: Int) -> Int16 { Int16(frame % 30000) }

/// Returns a sentence about the first difference between two runs of samples, or nil if they are equal.
func difference(_ found: [Int16], _ expected: some Sequence<Int>) -> String? {
    let expected = expected.map(sampleValue)
    if let index = zip(found, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return "sample \(index) of \(expected.count) is \(found[index]) instead of \(expected[index])"
    }
    return found.count == expected.count ? nil : "\(found.count) samples instead of \(expected.count)"
}

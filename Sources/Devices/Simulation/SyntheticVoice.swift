internal import CLinux
import Glibc
public import Ring
public import Takes
import Workers

/// A card that delivers a synthetic voice, at the pace of a clock and at any rate. Nothing here blocks.
public final class SyntheticVoice: CaptureSource {
    /// Never readable: this card cannot be pulled out.
    public let endedFileDescriptor: Int32
    /// Always nil.
    public var end: CaptureEnd? { nil }

    private let clock: any Clock
    /// It stays as it was set when the card is closed, as that of a sound card does.
    private let gain = VoiceGain()
    private var grant: CaptureGrant?
    private var loop: VoiceLoop?
    private var thread: Thread?

    /// How its card is named in a status and a sidecar.
    public static let card = "simulated"
    /// From one delivery to the next.
    static let period = Duration.milliseconds(20)

    /// A voice at the pace of `clock`.
    public init(clock: any Clock) {
        self.clock = clock
        endedFileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit {
        stop()
        if endedFileDescriptor >= 0 { close(endedFileDescriptor) }
    }

    /// Grants the rate and the channels that are asked for, 48 kHz and one where none are, in 24 bits.
    public func open(_ request: CaptureRequest) -> CaptureGrant {
        stop()
        let layout = Self.layout(request.channels)
        let format = StreamFormat(
            rateHz: request.rateHz ?? 48000, channels: layout.kept.count, sampleFormat: .s24Packed)
        var warnings: [String] = []
        if let gainDB = request.gainDB {
            gain.set(nearest: gainDB)
            if !VoiceGain.range.contains(gainDB) {
                warnings.append(
                    "capture: \(Self.card): asked for \(decibelText(gainDB)) dB, got \(decibelText(gain.gainDB)) dB "
                        + "(it has \(Self.rangeText) dB)")
            }
        }
        if request.agc == true { warnings.append(Self.noAGC) }
        let grant = CaptureGrant(
            card: Self.card, name: "Synthetic voice", format: format, layout: layout,
            periodFrames: max(1, Int(format.frames(in: Self.period))),
            bufferFrames: max(2, Int(format.frames(in: .seconds(1)))), gain: cardGain, warnings: warnings)
        self.grant = grant
        return grant
    }

    /// It has as many channels as are asked for, and all have the same sound.
    private static func layout(_ choice: ChannelChoice?) -> ChannelLayout {
        switch choice {
        case .first(let count): ChannelLayout(all: count)
        case .numbered(let numbers): ChannelLayout(keeping: numbers, of: numbers.max() ?? 1)
        case .layout(let layout): layout
        case .live, nil: ChannelLayout(all: 1)
        }
    }

    /// Starts a thread that writes the voice into `ring`.
    /// - Throws: `SimulationError` if it is not open in the ring's format, or runs already; `ThreadError`.
    public func start(into ring: Ring) throws {
        guard let grant, loop == nil, ring.format == grant.format else {
            throw SimulationError(
                "capture: \(Self.card): cannot start: it is not open in the ring's format, or runs already")
        }
        let loop = try VoiceLoop(ring: ring, gain: gain, clock: clock)
        thread = try Thread(name: "voice") { loop.run() }
        self.loop = loop
    }

    /// Sets the gain, which the voice follows within some hundredths of a second.
    public func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain? {
        guard grant != nil else { return nil }
        if let gainDB, !VoiceGain.range.contains(gainDB) {
            throw GainError(
                .outOfRange,
                "capture: \(Self.card): cannot set a gain of \(decibelText(gainDB)) dB: it has \(Self.rangeText) dB: ask for "
                    + "a gain in this range")
        }
        if agc == true { throw GainError(.noControl, Self.noAGC) }
        if let gainDB { gain.set(nearest: gainDB) }
        return cardGain
    }

    private var cardGain: CardGain { CardGain(gainDB: gain.gainDB, rangeDB: VoiceGain.range) }

    private static let noAGC = "capture: \(card): cannot switch automatic gain control on: the card has none"
    private static let rangeText = "\(decibelText(VoiceGain.range.min)) to \(decibelText(VoiceGain.range.max))"

    /// Stops the thread. Does nothing if it is closed.
    public func stop() {
        loop?.requestStop()
        thread?.join()
        thread = nil
        loop = nil
        grant = nil
    }
}

/// What a simulated part cannot do, in one sentence.
public struct SimulationError: Error, CustomStringConvertible, Hashable {
    /// The sentence.
    public var description: String

    init(_ description: String) {
        self.description = description
    }
}

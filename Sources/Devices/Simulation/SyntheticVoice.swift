internal import CLinux
import Glibc
public import Ring
public import Takes
import Workers

/// A simulated card that delivers a synthetic voice at the pace of a clock, at any rate. No call blocks.
public final class SyntheticVoice: CaptureSource {
    /// Never readable, because this card cannot be removed.
    public let endedFileDescriptor: Int32
    public var end: CaptureEnd? { nil }

    private let clock: any Clock
    /// Like a sound card's gain, it is kept when the card is closed.
    private let gain = VoiceGain()
    private var grant: CaptureGrant?
    private var loop: VoiceLoop?
    private var thread: Thread?

    /// The card's name in a status and a sidecar.
    public static let card = "simulated"
    /// The time between two deliveries.
    static let period = Duration.milliseconds(20)

    public init(clock: any Clock) {
        self.clock = clock
        endedFileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit {
        stop()
        if endedFileDescriptor >= 0 { close(endedFileDescriptor) }
    }

    /// Grants the requested rate and channels in 24 bits. The defaults are 48 kHz and one channel.
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

    /// The card has as many channels as are requested, all with the same sound.
    private static func layout(_ choice: ChannelChoice?) -> ChannelLayout {
        switch choice {
        case .first(let count): ChannelLayout(all: count)
        case .numbered(let numbers): ChannelLayout(keeping: numbers, of: numbers.max() ?? 1)
        case .layout(let layout): layout
        case .live, nil: ChannelLayout(all: 1)
        }
    }

    /// Starts a thread that writes the voice into `ring`.
    /// - Throws: `SimulationError` if the card is not open in the ring's format or already runs; `ThreadError`.
    public func start(into ring: Ring) throws {
        guard let grant, loop == nil, ring.format == grant.format else {
            throw SimulationError(
                "capture: \(Self.card): cannot start: it is not open in the ring's format, or runs already")
        }
        let loop = try VoiceLoop(ring: ring, gain: gain, clock: clock)
        thread = try Thread(name: "voice") { loop.run() }
        self.loop = loop
    }

    /// Sets the gain. The voice follows within some hundredths of a second.
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

    private static let noAGC = "capture: \(card): cannot switch automatic gain control on: the card lacks it"
    private static let rangeText = "\(decibelText(VoiceGain.range.min)) to \(decibelText(VoiceGain.range.max))"

    public func stop() {
        loop?.requestStop()
        thread?.join()
        thread = nil
        loop = nil
        grant = nil
    }
}

/// The error of a simulated part, in one sentence.
public struct SimulationError: Error, CustomStringConvertible, Hashable {
    public var description: String

    init(_ description: String) {
        self.description = description
    }
}

import SeededRandom
import Takes
import Testing

@testable import SoundCard

/// A simulated card, a request, and the expected choice.
struct NegotiationCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var offers: [Offers.Combination]
    var rateHz: Int?
    var channels: ChannelChoice?
    /// The first candidate.
    var choice: String

    /// Whether the card lacks the requested count, so that the first of more channels are used.
    var takesFirstOfMore: Bool {
        if case .first(let count) = channels { !choice.contains(" \(count) channel") } else { false }
    }

    init(
        _ name: String, _ offers: [Offers.Combination], rateHz: Int? = nil, channels: ChannelChoice? = nil,
        gives choice: String
    ) {
        testDescription = name
        self.offers = offers
        self.rateHz = rateHz
        self.channels = channels
        self.choice = choice
    }
}

private func offer(_ format: SampleFormat, _ channels: [Int], _ ratesHz: [Int]) -> Offers.Combination {
    Offers.Combination(format: format, channels: channels, ratesHz: ratesHz)
}

private let commonRates = [44100, 48000, 96000]
private let virtual = SampleFormat.allCases.map { offer($0, Array(1...32), [8000] + commonRates + [192_000]) }

private let cases: [NegotiationCase] = [
    .init("a plain USB microphone", [offer(.s16, [1], [44100, 48000])], gives: "48000 Hz, 1 channel, S16_LE"),
    .init("a mono and stereo USB card", [offer(.s16, [1, 2], commonRates)], gives: "48000 Hz, 2 channels, S16_LE"),
    .init("only 44.1 kHz", [offer(.s16, [2], [44100])], gives: "44100 Hz, 2 channels, S16_LE"),
    .init("only low rates", [offer(.s16, [1], [8000, 16000, 22050])], gives: "22050 Hz, 1 channel, S16_LE"),
    .init(
        "the nearest above 48 kHz", [offer(.s32, [2], [44100, 96000, 192_000])], gives: "96000 Hz, 2 channels, S32_LE"),
    .init("a bat detector", [offer(.s16, [1], [192_000, 384_000])], gives: "192000 Hz, 1 channel, S16_LE"),
    .init(
        "the asked rate", [offer(.s24Packed, [2], commonRates)], rateHz: 96000, gives: "96000 Hz, 2 channels, S24_3LE"),
    .init("a rate that no other card has", [offer(.s16, [1], [31250])], gives: "31250 Hz, 1 channel, S16_LE"),
    .init(
        "a bat detector asked for its highest rate", [offer(.s16, [1], [48000, 96000, 250_000])], rateHz: 250_000,
        gives: "250000 Hz, 1 channel, S16_LE"),
    .init(
        "a rate that only this card has, asked for", [offer(.s16, [1], [31250, 62500])], rateHz: 62500,
        gives: "62500 Hz, 1 channel, S16_LE"),
    .init(
        "24 bits only at lower rates", [offer(.s16, [2], [48000, 96000]), offer(.s24Packed, [2], [44100])],
        gives: "48000 Hz, 2 channels, S16_LE"),
    .init(
        "24 bits, and 16 bits of more channels", [offer(.s16, [2, 4], [48000]), offer(.s24Packed, [2], [48000])],
        gives: "48000 Hz, 2 channels, S24_3LE"),
    .init(
        "24 bits in mono, 16 in stereo, stereo asked", [offer(.s16, [2], [48000]), offer(.s24Packed, [1], [48000])],
        channels: 2, gives: "48000 Hz, 2 channels, S16_LE"),
    .init(
        "every format", SampleFormat.allCases.map { offer($0, [2], [48000]) }, gives: "48000 Hz, 2 channels, S32_LE"),
    .init(
        "both layouts of 24 bits", [offer(.s24, [2], [48000]), offer(.s24Packed, [2], [48000])],
        gives: "48000 Hz, 2 channels, S24_3LE"),
    .init(
        "24 bits and float", [offer(.float, [2], [48000]), offer(.s24, [2], [48000])],
        gives: "48000 Hz, 2 channels, S24_LE"),
    .init(
        "16 bits and float", [offer(.s16, [2], [48000]), offer(.float, [2], [48000])],
        gives: "48000 Hz, 2 channels, FLOAT_LE"),
    .init("a loopback", virtual, gives: "48000 Hz, 2 channels, S32_LE"),
    .init("a loopback asked for 6 channels", virtual, channels: 6, gives: "48000 Hz, 6 channels, S32_LE"),
    .init("an interface of 18 inputs", [offer(.s32, [18], commonRates)], gives: "48000 Hz, 18 channels, S32_LE"),
    .init("an interface of 4 or 8 inputs", [offer(.s32, [4, 8], commonRates)], gives: "48000 Hz, 8 channels, S32_LE"),
    .init(
        "an interface of 2 or 10 inputs", [offer(.s32, [2, 10], commonRates)], gives: "48000 Hz, 2 channels, S32_LE"),
    .init(
        "8 inputs at 48 kHz, 4 at 96 kHz", [offer(.s32, [8], [48000]), offer(.s32, [4], [96000])], rateHz: 96000,
        gives: "96000 Hz, 4 channels, S32_LE"),
    .init(
        "a stereo card asked for one channel", [offer(.s16, [2], commonRates)], channels: 1,
        gives: "48000 Hz, 2 channels, S16_LE"),
    .init(
        "an interface of 4 or 8 inputs asked for 3", [offer(.s32, [4, 8], commonRates)], channels: 3,
        gives: "48000 Hz, 8 channels, S32_LE"),
    .init(
        "an interface of 4 or 8 inputs asked for two of them", [offer(.s32, [4, 8], commonRates)],
        channels: .numbered([1, 3]), gives: "48000 Hz, 8 channels, S32_LE"),
    .init(
        "a loopback asked for the third channel", virtual, channels: .numbered([3]),
        gives: "48000 Hz, 3 channels, S32_LE"),
    .init(
        "an interface of 8 or 18 inputs asked for the tenth", [offer(.s32, [8, 18], commonRates)],
        channels: .numbered([10]), gives: "48000 Hz, 18 channels, S32_LE"),
    .init(
        "channels that only 16 bits have", [offer(.s16, [4], commonRates), offer(.s32, [2], commonRates)],
        channels: .numbered([4]), gives: "48000 Hz, 4 channels, S16_LE"),
    .init("a loopback asked for live channels", virtual, channels: .live, gives: "48000 Hz, 2 channels, S32_LE"),
    .init(
        "a card that is back", [offer(.s16, [1, 2, 4], commonRates)],
        channels: .layout(ChannelLayout(keeping: [1], of: 2)), gives: "48000 Hz, 2 channels, S16_LE"),
    .init(
        "stereo only beside a rate that is not native", [offer(.s16, [1], [48000]), offer(.s16, [2], [44100])],
        channels: 2, gives: "44100 Hz, 2 channels, S16_LE"),
]

struct NegotiationTests {
    @Test(arguments: cases)
    func `a card gives its native format`(_ given: NegotiationCase) throws {
        let negotiation = Negotiation(rateHz: given.rateHz, channels: given.channels)
        let candidates = try negotiation.candidates(from: Offers(given.offers), of: "hw:CARD=Mic")
        #expect(candidates.first?.summary == given.choice)
        #expect(Set(candidates).count == candidates.count)
        #expect(candidates.allSatisfy { Offers(given.offers).contain($0) })
    }

    @Test func `candidates come best first`() throws {
        let offers = Offers([offer(.s16, [1, 2], [44100, 48000, 96000]), offer(.s24Packed, [2], [48000])])
        let candidates = try Negotiation().candidates(from: offers, of: "hw:CARD=Mic")
        #expect(
            candidates.map(\.summary) == [
                "48000 Hz, 2 channels, S24_3LE", "48000 Hz, 2 channels, S16_LE", "48000 Hz, 1 channel, S16_LE",
                "96000 Hz, 2 channels, S16_LE", "96000 Hz, 1 channel, S16_LE", "44100 Hz, 2 channels, S16_LE",
                "44100 Hz, 1 channel, S16_LE",
            ])
    }

    // MARK: The short way

    /// The first candidate of the short search, and the number of questions.
    private func short(_ negotiation: Negotiation, _ offers: Offers) -> (first: StreamFormat?, questions: Int) {
        var questions = 0
        let first = negotiation.first { format in
            let counts = offers.combinations.filter { $0.format == format }.flatMap(\.channels)
            return counts.min().map { $0...(counts.max() ?? $0) }
        } isOffered: { format in
            questions += 1
            return offers.contain(format)
        }
        return (first, questions)
    }

    @Test(arguments: cases)
    func `few questions find the native format`(_ given: NegotiationCase) throws {
        let negotiation = Negotiation(rateHz: given.rateHz, channels: given.channels)
        let first = short(negotiation, Offers(given.offers)).first
        let hasRate = given.choice.hasPrefix("\(given.rateHz ?? 48000) Hz")
        #expect(first?.summary == (hasRate && !given.takesFirstOfMore ? given.choice : nil))
    }

    @Test func `few questions find what all questions find, whatever the card`() {
        var random = SeededRandom(seed: 9)
        var found = 0
        for _ in 0..<2000 {
            let offers = Offers.random(using: &random)
            let negotiation = Negotiation(
                rateHz: Bool.random(using: &random) ? nil : [44100, 48000, 96000, 31250].randomElement(using: &random),
                channels: [
                    nil, .first(.random(in: 1...12, using: &random)), .numbered([.random(in: 1...12, using: &random)]),
                ]
                .randomElement(using: &random) ?? nil,
                sampleFormat: Int.random(in: 0..<4, using: &random) > 0 ? nil : .s16)
            let all = (try? negotiation.candidates(from: offers, of: "hw:CARD=Mic")) ?? []
            let wanted = all.first.flatMap { first in
                let rate = negotiation.rateHz ?? 48000
                if case .first(let count) = negotiation.channels, first.channels != count {
                    return nil as StreamFormat?
                }
                return first.rateHz == rate ? first : nil
            }
            let first = short(negotiation, offers).first
            guard first == wanted, all.allSatisfy(offers.contain) else {
                Issue.record("\(offers.combinations), \(negotiation): \(String(describing: first)), not \(all)")
                return
            }
            if wanted != nil { found += 1 }
        }
        // The random cards must include many with the rate and many without.
        #expect((500...1500).contains(found))
    }

    @Test func `a usual card answers one question, one with every count nine`() {
        let interface = Offers([offer(.s16, [2], commonRates), offer(.s32, [2], commonRates)])
        #expect(short(Negotiation(), interface).questions == 1)
        #expect(short(Negotiation(), Offers(virtual)).questions == 9)
        #expect(short(Negotiation(channels: 6), Offers(virtual)).questions == 1)
    }

    @Test func `what a card does not have is refused with what it has`() {
        func refusal(_ offers: [Offers.Combination], _ negotiation: Negotiation) -> String {
            do throws(SoundCardError) {
                return try negotiation.candidates(from: Offers(offers), of: "hw:CARD=Mic").map(\.summary).joined()
            } catch {
                return error.description
            }
        }
        let mic = [offer(.s16, [1, 2], [44100, 48000])]
        #expect(
            refusal(mic, Negotiation(rateHz: 96000))
                == "capture: hw:CARD=Mic: cannot record at 96000 Hz: it has 44100, 48000 Hz "
                + "(set rate_hz to one of them, or to \"native\")")
        #expect(
            refusal(mic, Negotiation(channels: 4))
                == "capture: hw:CARD=Mic: cannot record 4 channels: it has 1, 2 channels "
                + "(set channels to at most 2, or to \"native\")")
        #expect(
            refusal([offer(.s16, [1], [48000])], Negotiation(channels: .numbered([2])))
                == "capture: hw:CARD=Mic: cannot record channel 2: it has 1 channel (set channels to 1, or to \"native\")"
        )
        #expect(
            refusal(mic, Negotiation(channels: .numbered([1, 3])))
                == "capture: hw:CARD=Mic: cannot record channels 1, 3: it has 1, 2 channels "
                + "(set channels to numbers up to 2, or to \"native\")")
        #expect(
            refusal(mic, Negotiation(channels: .layout(ChannelLayout(all: 4))))
                == "capture: hw:CARD=Mic: cannot record 4 channels: it has 1, 2 channels")
        #expect(
            refusal(virtual, Negotiation(channels: 33))
                == "capture: hw:CARD=Mic: cannot record 33 channels: it has 1 to 32 channels "
                + "(set channels to at most 32, or to \"native\")")
        let split = [offer(.s16, [2], [48000]), offer(.s16, [1], [96000])]
        #expect(
            refusal(split, Negotiation(rateHz: 96000, channels: 2))
                == "capture: hw:CARD=Mic: cannot record 2 channels at 96000 Hz: it has 1 at that rate, and 2 at 48000 Hz"
        )
        #expect(
            refusal([], Negotiation())
                == "capture: hw:CARD=Mic: cannot record: it offers none of the formats S16_LE, S24_3LE, S24_LE, S32_LE, "
                + "FLOAT_LE in interleaved frames (set capture.card to \"pcm:plughw:CARD=Mic\": ALSA converts its formats then)"
        )
        #expect(
            refusal(mic, Negotiation(sampleFormat: .s32))
                == "capture: hw:CARD=Mic: cannot record S32_LE: it has S16_LE")
    }

    @Test func `a card that lies is recorded as it runs, with a warning`() {
        let asked = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s24Packed)
        var granted = asked
        #expect(Negotiation.warning(asked: asked, granted: granted, by: "hw:CARD=Mic") == nil)
        granted.rateHz = 44100
        #expect(
            Negotiation.warning(asked: asked, granted: granted, by: "hw:CARD=Mic")
                == "capture: hw:CARD=Mic: asked for 48000 Hz, 2 channels, S24_3LE, runs at 44100 Hz, 2 channels, S24_3LE: "
                + "recording that")
    }
}

extension Offers {
    /// The offers of a simulated card. Rates and channel counts depend on the sample format and on each other.
    fileprivate static func random(using random: inout SeededRandom) -> Offers {
        var combinations: [Combination] = []
        for format in SampleFormat.allCases where Bool.random(using: &random) {
            var taken: Set<Int> = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let range: ClosedRange<Int> =
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: 1...Int.random(in: 8...32, using: &random)
                    case 1: 9...20
                    default: 1...8
                    }
                let isDense = Bool.random(using: &random)
                let counts = range.filter { _ in Int.random(in: 0..<10, using: &random) < (isDense ? 9 : 2) }
                    .filter { taken.insert($0).inserted }
                let rates = [8000, 31250, 44100, 48000, 96000, 192_000].filter { _ in Bool.random(using: &random) }
                guard !counts.isEmpty, !rates.isEmpty else { continue }
                combinations.append(Combination(format: format, channels: counts, ratesHz: rates))
            }
        }
        return Offers(combinations)
    }
}

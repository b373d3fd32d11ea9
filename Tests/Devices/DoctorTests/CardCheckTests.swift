import Ring
import SoundCard
import Takes
import Testing

@testable import Doctor

@Suite struct CardCheckTests {
    private func card(_ id: String, _ kind: CardKind, busyBy: PCMOwner? = nil) -> CardReport {
        let description = CardDescription(
            index: 0, alsaID: id, name: "\(id) card", driver: "driver", kind: kind, references: [.cardID(id)],
            captureDevices: [0])
        let offers = Offers([Offers.Combination(format: .s16, channels: [1, 2], ratesHz: [44100, 48000])])
        return CardReport(description, capture: CardSurvey(offers: offers, busyBy: busyBy))
    }

    private func grant(_ id: String, warnings: [String] = []) -> CaptureGrant {
        CaptureGrant(
            card: "card:\(id)", name: "\(id) card",
            format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16), periodFrames: 480,
            bufferFrames: 4800, warnings: warnings)
    }

    @Test func `a card that runs is reported with what it has`() {
        let check = CardCheck(request: CaptureRequest(), cards: [card("Mic", .usb)], grant: grant("Mic"))
        #expect(
            check.findings.map(\.message) == [
                "card:Mic: Mic card: 48000 Hz, 2 channels, S16_LE (usb; it has 44100 48000 Hz, S16_LE)"
            ])
        #expect(check.findings.map(\.severity) == [.ok])
    }

    @Test(arguments: [
        (CardKind.usb, Finding.Severity.ok), (.hat, .ok), (.other, .ok), (.hdmi, .warning), (.loopback, .warning),
        (.dummy, .warning),
    ])
    func `what was taken for want of a microphone is no microphone`(kind: CardKind, severity: Finding.Severity) {
        let automatic = CardCheck(request: CaptureRequest(), cards: [card("One", kind)], grant: grant("One"))
        #expect(automatic.findings.map(\.severity) == [severity])
        let named = CardCheck(
            request: CaptureRequest(card: .cardID("One")), cards: [card("One", kind)], grant: grant("One"))
        #expect(named.findings.map(\.severity) == [.ok])
    }

    @Test func `a better card that is there is said, with why it was not taken`() {
        func findings(_ better: CardReport, open: CardKind = .loopback, named: Bool = false) -> [String] {
            let request = named ? CaptureRequest(card: .cardID("One")) : CaptureRequest()
            return CardCheck(request: request, cards: [card("One", open), better], grant: grant("One")).findings
                .filter { $0.severity == .warning }.map(\.message)
        }
        let runs = "card:One: One card: 48000 Hz, 2 channels, S16_LE: card:Mic \"Mic card\" is better"
        let waits = "\(runs), and takes its place while nothing is recorded, played, or may go on after its stop"
        #expect(findings(card("Mic", .usb)) == [waits])
        #expect(findings(card("Mic", .usb), open: .hat) == [waits])
        #expect(findings(card("Mic", .usb), open: .usb) == [])
        #expect(findings(card("Mic", .usb), named: true) == [])
        let held = card("Mic", .usb, busyBy: PCMOwner(processID: 812, processName: "pulseaudio"))
        #expect(
            findings(held) == [
                "\(runs), and is held by pid 812, pulseaudio: end that, or name the card in capture.card"
            ])
        var broken = card("Mic", .usb)
        broken.error = "capture: hw:CARD=Mic: cannot open: Input/output error"
        #expect(
            findings(broken) == [
                "\(runs), and cannot be used (capture: hw:CARD=Mic: cannot open: Input/output error): unplug it and plug "
                    + "it in to retry"
            ])
    }

    @Test func `of several better cards the first usable one takes its place, and each other has its reason`() {
        var broken = card("A", .usb)
        broken.error = "capture: hw:CARD=A: delivered nothing for 1.5 s"
        let held = card("B", .usb, busyBy: PCMOwner(processID: 812, processName: nil))
        let cards = [card("One", .loopback), card("D", .usb), card("C", .usb), held, broken]
        let findings = CardCheck(request: CaptureRequest(), cards: cards, grant: grant("One")).findings.map(\.message)
        #expect(
            findings.map { $0.split(separator: "S16_LE: ").last.map(String.init) } == [
                "card:A \"A card\" is better, and cannot be used (capture: hw:CARD=A: delivered nothing for 1.5 s): unplug it "
                    + "and plug it in to retry",
                "card:B \"B card\" is better, and is held by pid 812: end that, or name the card in capture.card",
                "card:C \"C card\" is better, and takes its place while nothing is recorded, played, or may go on after its stop",
            ])
    }

    @Test func `a pre-roll that an eighth of the memory does not hold is said, with what it holds`() {
        let format = StreamFormat(rateHz: 192_000, channels: 8, sampleFormat: .s32)
        func shortage(_ seconds: Int64, mebibytes: Int) -> String? {
            PreRollCheck(preRoll: .seconds(seconds), format: format, memoryBytes: mebibytes << 20).shortage
        }
        // 64 of 512 MiB hold 10.9 s of 6.1 MB a second.
        #expect(shortage(0, mebibytes: 512) == nil)
        #expect(shortage(8, mebibytes: 512) == nil)
        #expect(
            shortage(30, mebibytes: 512)
                == "capture.pre_roll_seconds: 30 cannot be met: an eighth of this machine's memory holds 10 s of "
                + "192000 Hz, 8 channels, S32_LE: set 8 or less, or record fewer channels or at a lower rate")
        #expect(shortage(30, mebibytes: 2048) == nil)
        #expect(shortage(1, mebibytes: 32)?.contains("set 0 or less") == true)
        var check = CardCheck(request: CaptureRequest(), cards: [card("Mic", .usb)], grant: grant("Mic"))
        check.preRoll = .seconds(30)
        check.memoryBytes = 32 << 20
        #expect(check.findings.map(\.severity) == [.warning])
        #expect(check.findings[0].message.hasPrefix("capture.pre_roll_seconds: 30 cannot be met"))
        check.memoryBytes = 512 << 20
        #expect(check.findings.map(\.severity) == [.ok])
    }

    @Test func `a rate or channels other than asked for are a failure each`() {
        let request = CaptureRequest(card: .cardID("Mic"), rateHz: 96000, channels: 1)
        let check = CardCheck(request: request, cards: [card("Mic", .usb)], grant: grant("Mic"))
        #expect(check.findings.map(\.severity) == [.failure, .failure])
        #expect(check.findings[0].message.contains("96000 Hz was requested"))
        #expect(check.findings[1].message.contains("the settings ask for 1 channel: set capture.channels"))
    }

    @Test func `a card that does not run at its stated rate is a failure with both rates`() {
        var check = CardCheck(request: CaptureRequest(), cards: [card("Mic", .usb)], grant: grant("Mic"))
        check.rate = RateMeasure(statedHz: 48000, offsetPPM: 80, errorPPM: 10)
        #expect(check.findings.map(\.severity) == [.ok])
        #expect(check.findings[0].figures["rate_offset_ppm"] == .number(80))
        check.rate = RateMeasure(statedHz: 48000, offsetPPM: -333_333, errorPPM: 10)
        #expect(check.findings.map(\.severity) == [.failure])
        #expect(
            check.findings[0].message
                == "card:Mic: Mic card: 48000 Hz, 2 channels, S16_LE: states 48000 Hz and runs at 32000 Hz: takes have the "
                + "wrong length and pitch: set another rate_hz, or use another card")
    }

    @Test func `a card that another holds is busy, one that is missing is not`() {
        let held = card("Mic", .usb, busyBy: PCMOwner(processID: 812, processName: "pulseaudio"))
        let free = card("Other", .usb)
        let wanted = CaptureRequest(card: .cardID("Mic"))
        let busy = CardCheck(request: wanted, cards: [held, free], failure: "capture: hw:CARD=Mic: cannot open")
        #expect(
            busy.findings == [
                .failure(.card, "capture: hw:CARD=Mic: cannot open", exitStatus: 75, ["cards": .number(2)])
            ])
        let missing = CardCheck(request: wanted, cards: [free], failure: "capture: card:Mic: cannot find the card")
        #expect(missing.findings.map(\.exitStatus) == [74])
        let broken = CardCheck(
            request: wanted, cards: [card("Mic", .usb)], failure: "capture: hw:CARD=Mic: cannot open")
        #expect(broken.findings.map(\.exitStatus) == [74])
        let closed = CardCheck(request: wanted, cards: [free])
        #expect(closed.findings.map(\.message) == ["capture: card:Mic: is not open"])
    }

    @Test func `a busy card is found by its model, and an open one after a second of its model has come`() {
        func report(_ id: String, _ references: String..., busyBy: PCMOwner? = nil) -> CardReport {
            let card = CardDescription(
                index: 0, alsaID: id, name: "\(id) card", driver: "USB-Audio", kind: .usb,
                references: references.map { CardReference($0)! } + [.cardID(id)], captureDevices: [0])
            return CardReport(card, capture: CardSurvey(busyBy: busyBy))
        }
        let held = report("Mic", "usb:0d8c:0014:A1", busyBy: PCMOwner(processID: 812, processName: nil))
        let model = CaptureRequest(card: .usb(vendor: "0d8c", product: "0014", serial: nil))
        #expect(CardCheck(request: model, cards: [held], failure: "no").findings.map(\.exitStatus) == [75])
        var grant = grant("Mic")
        grant.card = "usb:0d8c:0014"
        grant.references = [.usb(vendor: "0d8c", product: "0014", serial: nil), .path("1-1.1"), .cardID("Mic")]
        let cards = [report("Mic_1", "path:1-1.2", "usb:0d8c:0014"), report("Mic", "path:1-1.1", "usb:0d8c:0014")]
        let check = CardCheck(request: CaptureRequest(), cards: cards, grant: grant)
        #expect(check.findings.first?.figures["kind"] == .text("usb"))
        // Only the ports distinguish the two cards.
        let doubt =
            "path:1-1.2 \"Mic_1 card\" is of the same model, and only the port tells them apart: name the port in capture.card"
        for (reference, isDoubtful) in [
            ("auto", true), ("usb:0d8c:0014", true), ("path:1-1.1", false), ("card:Mic", false),
        ] {
            let findings = CardCheck(
                request: CaptureRequest(card: CardReference(reference)!), cards: cards, grant: grant
            ).findings
            #expect(findings.contains { $0.severity == .warning && $0.message.hasSuffix(doubt) } == isDoubtful)
        }
        let numbered = [
            report("Mic_1", "usb:0d8c:0014:A1", "path:1-1.2"), report("Mic", "usb:0d8c:0014", "path:1-1.1"),
        ]
        #expect(CardCheck(request: CaptureRequest(), cards: numbered, grant: grant).findings.map(\.severity) == [.ok])
    }

    @Test func `what was not had is reported, but rights elsewhere`() {
        let check = CardCheck(
            request: CaptureRequest(), cards: [card("Mic", .usb)],
            grant: grant("Mic", warnings: ["capture: Mic: cannot set gain", "capture: thread: cannot"]), overruns: 3,
            warningsElsewhere: ["capture: thread: cannot"])
        #expect(check.findings.map(\.severity) == [.warning, .warning])
        #expect(check.findings[0].message.contains("3 overruns"))
        #expect(check.findings[1].message == "capture: Mic: cannot set gain")
    }
}

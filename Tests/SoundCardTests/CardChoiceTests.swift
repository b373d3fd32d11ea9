import Takes
import Testing

@testable import SoundCard

struct CardChoiceTests {
    static func card(
        _ index: Int, _ id: String, _ kind: CardKind, _ references: [String], captures: [Int] = [0]
    ) -> CardDescription {
        CardDescription(
            index: index, alsaID: id, name: id, driver: "", kind: kind,
            references: references.map { CardReference($0)! }, captureDevices: captures)
    }

    let dummy = card(0, "Dummy", .dummy, ["card:Dummy", "path:snd_dummy.0"])
    let loopback = card(1, "Loopback", .loopback, ["card:Loopback"], captures: [0, 1])
    let hdmi = card(2, "vc4hdmi0", .hdmi, ["card:vc4hdmi0"])
    let headphones = card(3, "Headphones", .other, ["card:Headphones"], captures: [])
    let pc = card(4, "PCH", .other, ["card:PCH"])
    let hat = card(5, "sndrpihifiberry", .hat, ["card:sndrpihifiberry"])
    let first = card(6, "Mic", .usb, ["path:1-1.2", "usb:0d8c:0014:A1", "card:Mic"])
    let second = card(7, "Mic_1", .usb, ["path:1-1.4", "usb:0d8c:0014", "card:Mic_1"])

    @Test func `auto takes the best that is there, and the same whatever the order`() {
        let best = [first, second, hat, pc, hdmi, loopback, dummy]
        for count in 1...best.count {
            let there = Array(best.suffix(count))
            #expect(CardChoice.choose(.automatic, among: there + [headphones]) == there.first)
            #expect(CardChoice.choose(.automatic, among: [headphones] + there.reversed()) == there.first)
        }
        #expect(CardChoice.choose(.automatic, among: [headphones]) == nil)
        #expect(CardChoice.choose(.automatic, among: []) == nil)
    }

    @Test func `a card goes by any of its names`() {
        let cards = [dummy, second, first]
        for (name, card) in [
            ("path:1-1.2", first), ("usb:0d8c:0014:A1", first), ("card:Mic", first), ("path:1-1.4", second),
            ("card:Mic_1", second), ("usb:0d8c:0014", second), ("path:snd_dummy.0", dummy),
        ] {
            #expect(CardChoice.choose(CardReference(name)!, among: cards) == card)
        }
        #expect(CardChoice.choose(CardReference("usb:0d8c:0014")!, among: [first]) == first)
        for name in ["path:1-1.3", "usb:0d8c:0015", "usb:0d8c:0014:A2", "card:mic", "pcm:Mic"] {
            #expect(CardChoice.choose(CardReference(name)!, among: cards) == nil)
        }
    }

    @Test func `a loopback records what is played into it`() {
        #expect(loopback.captureDevice.map(loopback.hardwareName) == "hw:CARD=Loopback,DEV=1")
        #expect(first.captureDevice.map(first.hardwareName) == "hw:CARD=Mic")
        #expect(headphones.captureDevice == nil)
    }

    @Test func `a card that is not there is refused with those that are`() {
        #expect(
            CardChoice.absence(of: CardReference("path:1-1.3")!, among: [dummy, headphones, first]).description
                == "capture: path:1-1.3: cannot find the card: it is not connected (there are: path:1-1.2 \"Mic\", "
                + "card:Headphones \"Headphones\" (plays only), card:Dummy \"Dummy\")")
        #expect(
            CardChoice.absence(of: CardReference("card:Headphones")!, among: [headphones]).description
                == "capture: card:Headphones: cannot find the card: it is there and does not capture "
                + "(there are: card:Headphones \"Headphones\" (plays only))")
        #expect(
            CardChoice.absence(of: .automatic, among: []).description
                == "capture: auto: cannot find the card: nothing that is connected captures (no card is there)")
    }
}

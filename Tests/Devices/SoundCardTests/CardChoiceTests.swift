import Ring
import Takes
import Testing

@testable import SoundCard

struct CardChoiceTests {
    static func card(
        _ index: Int, _ id: String, _ kind: CardKind, _ references: [String], captures: [Int] = [0],
        plays: [Int] = []
    ) -> CardDescription {
        CardDescription(
            index: index, alsaID: id, name: id, driver: "", kind: kind,
            references: references.map { CardReference($0)! }, captureDevices: captures,
            playbackDevices: plays)
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

    @Test func `one of a better kind is better than the open one, and one that is as good is not`() {
        let all = [dummy, loopback, hdmi, headphones, pc, hat, second, first]
        func better(_ kind: CardKind) -> [String] { CardChoice.better(than: kind, among: all).map(\.alsaID) }
        #expect(better(.usb) == [])
        #expect(better(.hat) == ["Mic", "Mic_1"])
        #expect(better(.other) == ["Mic", "Mic_1", "sndrpihifiberry"])
        #expect(better(.dummy) == ["Mic", "Mic_1", "sndrpihifiberry", "PCH", "vc4hdmi0", "Loopback"])
    }

    @Test func `every better card is tried in order, and one that was refused is passed over for the next`() {
        let all = [dummy, loopback, hat, second, first]
        var refusals = CardRefusals()
        var tried: [String] = []
        while let next = CardChoice.better(than: .loopback, among: all, after: refusals).first, tried.count < 99 {
            tried.append(next.alsaID)
            refusals.refuse(next.stay, because: "capture: \(next.alsaID): broken")
        }
        #expect(tried == Array(repeating: ["Mic", "Mic_1", "sndrpihifiberry"], count: 3).flatMap(\.self))
        // One was unplugged, and another delivered after all.
        refusals.update([dummy, loopback, hat, second])
        refusals.accept(hat.stay)
        #expect(
            CardChoice.better(than: .loopback, among: all, after: refusals).map(\.alsaID) == ["Mic", "sndrpihifiberry"])
        #expect(refusals.reason(of: second.stay) == "capture: Mic_1: broken" && refusals.reason(of: first.stay) == nil)
    }

    @Test func `auto tries the next microphone after one that was refused, and nothing that is no microphone`() {
        func candidates(_ cards: [CardDescription], refused: CardDescription...) -> [String] {
            var refusals = CardRefusals()
            for card in refused { refusals.refuse(card.stay, because: "capture: broken") }
            return CardChoice.candidates(among: cards, after: refusals).map(\.alsaID)
        }
        let all = [dummy, loopback, headphones, hat, second, first]
        #expect(candidates(all) == ["Mic", "Mic_1", "sndrpihifiberry"])
        #expect(candidates(all, refused: first) == ["Mic_1", "sndrpihifiberry", "Mic"])
        #expect(candidates(all, refused: first, second, first, hat) == ["Mic_1", "sndrpihifiberry", "Mic"])
        #expect(candidates([dummy, loopback, first], refused: first) == ["Mic"])
        #expect(candidates([dummy, headphones, loopback]) == ["Loopback", "Dummy"])
        #expect(candidates([headphones]) == [])
    }

    @Test func `a better card that was refused is occupied no more, and leaves the next its place`() throws {
        let tree = MadeUpTree()
        let cards = SoundCards(root: tree.root)
        for (index, id) in [(1, "Mic"), (2, "Pro")] {
            let port = "1-1.\(index)"
            try tree.addCard(index, id: id, device: "usb1/1-1/\(port)/\(port):1.0", bus: "usb", pcms: ["0c"])
            tree.write("dev/snd/pcmC\(index)D0c")
        }
        let there = cards.list()
        var refusals = CardRefusals()
        func better() -> BetterCard { cards.better(than: .loopback, among: there, after: refusals) }
        #expect(better() == .free([.path("1-1.1"), .cardID("Mic")]))
        refusals.refuse(there[0].stay, because: "capture: broken")
        #expect(better() == .free([.path("1-1.2"), .cardID("Pro")]))
        for _ in 0..<CardRefusals.most { refusals.refuse(there[0].stay, because: "capture: broken") }
        tree.write("proc/asound/card2/pcm0c/sub0/status", "state: RUNNING\nowner_pid   : 812")
        #expect(better() == .occupied)
        for _ in 0..<CardRefusals.most { refusals.refuse(there[1].stay, because: "capture: broken") }
        #expect(better() == .none)
    }

    @Test func `a better card that another program holds, or that may not be opened, is occupied`() throws {
        let tree = MadeUpTree()
        let cards = SoundCards(root: tree.root)
        try tree.addCard(0, id: "Loopback", device: "platform/snd_aloop.0", bus: "platform", pcms: ["0c", "1c"])
        #expect(cards.better(than: .loopback, among: cards.list()) == .none)
        try tree.addCard(1, id: "Mic", device: "usb1/1-1/1-1.4/1-1.4:1.0", bus: "usb", pcms: ["0c"])
        #expect(cards.better(than: .usb, among: cards.list()) == .none)
        #expect(cards.better(than: .loopback, among: cards.list()) == .occupied)
        tree.write("dev/snd/pcmC1D0c")
        #expect(cards.better(than: .loopback, among: cards.list()) == .free([.path("1-1.4"), .cardID("Mic")]))
        tree.write("proc/asound/card1/pcm0c/sub0/status", "state: RUNNING\nowner_pid   : 812")
        #expect(cards.better(than: .loopback, among: cards.list()) == .occupied)
        // A further card that is better and free.
        try tree.addCard(2, id: "Pro", device: "usb1/1-2/1-2:1.0", bus: "usb", pcms: ["0c"])
        tree.write("dev/snd/pcmC2D0c")
        #expect(cards.better(than: .loopback, among: cards.list()) == .free([.path("1-2"), .cardID("Pro")]))
    }

    // MARK: A card that is expected back

    /// - Parameter others: cards that were present together with the expected one.
    private func back(
        _ expected: CardDescription, as reference: CardReference = .automatic, besides others: [CardDescription] = [],
        among cards: CardDescription...
    ) -> String? {
        let neighbours = CardNeighbours(of: expected, among: [expected] + others)
        return CardChoice.choose(
            reference, expecting: expected.references, besides: neighbours, among: cards)?.alsaID
    }

    private let serial = Self.card(1, "A", .usb, ["usb:0d8c:0014:S1", "path:1-1.2", "card:A"])
    private let plain = Self.card(1, "A", .usb, ["usb:0d8c:0014", "path:1-1.2", "card:A"])
    private let one = Self.card(1, "A", .usb, ["path:1-1.2", "usb:0d8c:0014", "card:A"])
    private func there(_ id: String, _ references: String...) -> CardDescription {
        Self.card(2, id, .usb, references + ["card:\(id)"])
    }

    @Test func `a card with a serial number is found in any port, and no other in its place`() {
        let moved = there("B", "usb:0d8c:0014:S1", "path:1-1.4")
        let other = there("C", "usb:0d8c:0014:S2", "path:1-1.2")
        #expect(back(serial, among: other, moved, hat) == "B")
        #expect(back(serial, among: other, hat) == nil)
        // If the manufacturer gives all cards the same serial number, the one in the old port is chosen.
        let twin = there("D", "path:1-1.2", "usb:0d8c:0014:S1")
        #expect(back(serial, among: there("B", "path:1-1.4", "usb:0d8c:0014:S1"), twin) == "D")
    }

    @Test func `a card that was the only one of its model is found in any port`() {
        let moved = there("B", "usb:0d8c:0014", "path:1-1.4")
        #expect(back(plain, among: moved, hat) == "B")
        let other = there("C", "usb:1209:f1e1", "path:1-1.2")
        #expect(back(plain, among: other, moved) == "B")
        #expect(back(plain, among: other) == nil)
    }

    @Test func `of two cards that may be the expected one it is the one in its port`() {
        let far = there("B", "path:1-1.1", "usb:0d8c:0014")
        let near = there("C", "path:1-1.2", "usb:0d8c:0014")
        #expect(back(plain, among: far, near) == "C")
        #expect(back(plain, among: far, there("D", "path:1-1.4", "usb:0d8c:0014")) == "B")
        // A card with a serial number is another card, as long as one without a number is present.
        #expect(back(plain, among: there("E", "usb:0d8c:0014:S9", "path:1-1.2"), far) == "B")
    }

    @Test func `a card that was known by its port is found there alone, and only if it is of the same model`() {
        #expect(back(one, among: there("B", "usb:0d8c:0014", "path:1-1.2"), hat) == "B")
        let other = there("B", "usb:0d8c:0014", "path:1-1.4")
        #expect(back(one, besides: [other], among: other) == nil)
        #expect(back(one, among: there("B", "usb:1209:f1e1", "path:1-1.2")) == nil)
    }

    @Test func `a card that was there beside the expected one is not taken for it, whatever its numbers`() {
        for expected in [serial, plain, one] {
            let model = CardReference.usb(vendor: "0d8c", product: "0014", serial: nil)
            let numbers = expected.references.first { model.covers($0) }!.description
            let other = there("B", numbers, "path:1-1.4")
            let named: [CardReference] = [.automatic, model]
            for reference in named {
                #expect(back(expected, as: reference, besides: [other, hat], among: other, hat) == nil)
                // Without that neighbour, the other card was connected later, as when people change ports.
                #expect(back(expected, as: reference, besides: [hat], among: other, hat) == "B")
                let moved = there("C", numbers, "path:1-1.1")
                #expect(back(expected, as: reference, besides: [other], among: other, moved) == "C")
                // In the port of the expected card, it is found again.
                let home = there("D", numbers, "path:1-1.2")
                #expect(back(expected, as: reference, besides: [other], among: moved, home, other) == "D")
            }
        }
        // Both were on a hub that was pulled out, and the other one is back first.
        var other = there("B", "usb:0d8c:0014", "path:1-1.4")
        other.deviceNumber = 7
        var again = other
        again.deviceNumber = 8
        #expect(back(plain, besides: [other], among: again) == nil)
        // While no card is expected back, every named card is acceptable.
        let neighbours = CardNeighbours(of: plain, among: [plain, other])
        let model = CardReference.usb(vendor: "0d8c", product: "0014", serial: nil)
        #expect(CardChoice.choose(model, expecting: [], besides: neighbours, among: [other])?.alsaID == "B")
    }

    @Test func `cards that come beside the open one are neighbours, and those that come once it is gone are not`() {
        var open = one
        open.deviceNumber = 3
        var other = there("B", "usb:0d8c:0014", "path:1-1.4")
        other.deviceNumber = 4
        var moved = there("C", "usb:0d8c:0014", "path:1-1.1")
        moved.deviceNumber = 5
        var neighbours = CardNeighbours(of: open, among: [open, hat])
        #expect(neighbours.contains(hat) && !neighbours.contains(other) && !neighbours.contains(open))
        neighbours.update([open, other])
        #expect(neighbours.contains(other) && neighbours.contains(hat))
        neighbours.update([other, moved])
        #expect(neighbours.contains(other) && !neighbours.contains(moved))
        // If it is plugged in again in the same port, it is not the card that was open.
        var again = open
        again.deviceNumber = 6
        neighbours.update([again, moved])
        #expect(!neighbours.contains(moved))
    }

    @Test func `a neighbour that went before the open card is still none that may be it`() {
        let other = there("B", "usb:0d8c:0014", "path:1-1.4")
        var neighbours = CardNeighbours(of: plain, among: [plain, other])
        func back(_ cards: CardDescription...) -> String? {
            CardChoice.choose(.automatic, expecting: plain.references, besides: neighbours, among: cards)?.alsaID
        }
        // The hub of both loses power.
        neighbours.update([plain])
        neighbours.update([])
        neighbours.update([other])
        #expect(back(other) == nil)
        let home = there("C", "path:1-1.2", "usb:0d8c:0014")
        #expect(back(other, home) == "C")
        // The card is back, and its hub loses power again before the other one is back.
        neighbours = CardNeighbours(of: home, among: [home], before: neighbours)
        #expect(back(other) == nil)
        // A card in a third port, or with another number in the other one's port, may have been moved.
        #expect(back(other, there("D", "path:1-1.1", "usb:0d8c:0014")) == "D")
        #expect(back(there("E", "usb:0d8c:0014:S9", "path:1-1.4")) == "E")
        // The other one is opened now.
        neighbours = CardNeighbours(of: other, among: [other, home], before: neighbours)
        #expect(!neighbours.contains(other) && neighbours.contains(home))
    }

    @Test func `a card that the settings name is used as it is, the expected one first`() {
        let moved = there("B", "usb:0d8c:0014:S1", "path:1-1.4")
        let other = there("C", "usb:1209:f1e1", "path:1-1.2")
        #expect(back(serial, as: .path("1-1.2"), among: moved, other) == "C")
        let model = CardReference.usb(vendor: "0d8c", product: "0014", serial: nil)
        #expect(back(serial, as: model, among: there("D", "usb:0d8c:0014:S2", "path:1-1.1"), moved) == "B")
        #expect(back(serial, as: model, among: there("D", "usb:0d8c:0014:S2", "path:1-1.1")) == "D")
        #expect(back(hat, among: hat, moved) == "sndrpihifiberry")
        #expect(back(hat, among: moved) == nil)
    }

    @Test func `an expected card that is not there is refused by its identity`() {
        func absence(_ reference: CardReference, among cards: CardDescription...) -> String {
            CardChoice.absence(
                of: reference, expecting: serial.references,
                besides: CardNeighbours(of: serial, among: [serial, twin]),
                among: cards
            ).description
        }
        let twin = there("B", "path:1-1.4", "usb:0d8c:0014:S1")
        #expect(
            absence(.automatic, among: twin)
                == "capture: usb:0d8c:0014:S1: cannot find the card: it is not connected (there are: path:1-1.4 \"B\")")
        #expect(
            absence(.automatic, among: hat)
                == "capture: usb:0d8c:0014:S1: cannot find the card: it is not connected (there are: "
                + "card:sndrpihifiberry \"sndrpihifiberry\")")
        #expect(
            absence(.path("1-1.2"))
                == "capture: path:1-1.2: cannot find the card: it is not connected (no card is there)")
        let playbackOnly = Self.card(2, "B", .usb, ["usb:0d8c:0014:S1", "card:B"], captures: [])
        #expect(absence(.automatic, among: playbackOnly).contains("it is there and does not capture"))
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

    // MARK: Playing

    let speaker = card(8, "Speaker", .usb, ["path:1-1.1", "card:Speaker"], captures: [], plays: [0])
    let headset = card(9, "Headset", .usb, ["path:1-1.3", "usb:046d:0a44", "card:Headset"], plays: [0])
    let jack = card(10, "Jack", .other, ["card:Jack"], captures: [], plays: [0])
    let screen = card(11, "vc4hdmi1", .hdmi, ["card:vc4hdmi1"], captures: [], plays: [0])
    let cable = card(12, "Cable", .loopback, ["card:Cable"], captures: [0, 1], plays: [0, 1])

    @Test func `auto plays on the card that records, if that plays, else on the best that does`() {
        let all = [screen, cable, jack, first, headset, speaker, dummy]
        func choice(_ companion: String?, among cards: [CardDescription]? = nil) -> CardDescription? {
            CardChoice.choose(
                .automatic, for: .playback, beside: companion.flatMap { CardReference($0) }, among: cards ?? all)
        }
        for (companion, card) in [
            ("path:1-1.3", headset), ("usb:046d:0a44", headset), ("card:Cable", cable),
            // These do not play, are not present, have no permanent name, or only play.
            ("path:1-1.2", speaker), ("card:None", speaker), ("pcm:Cable", speaker), ("card:Jack", speaker),
            (nil, speaker),
        ] {
            #expect(choice(companion) == card, "\(companion ?? "alone")")
        }
        let best = [speaker, headset, jack, screen, cable]
        for count in 1...best.count {
            let there = Array(best.suffix(count))
            #expect(choice(nil, among: there.reversed() + [first]) == there.first)
        }
        #expect(choice("path:1-1.2", among: [first, dummy]) == nil)
        // The companion `auto` means the card that `auto` would record from.
        #expect(choice("auto", among: [headset, speaker]) == headset)
        #expect(choice("auto", among: [first, headset, speaker]) == speaker)
    }

    @Test func `a card that is named is played on, whatever records`() {
        func choice(_ name: String) -> CardDescription? {
            CardChoice.choose(
                CardReference(name)!, for: .playback, beside: CardReference("card:Headset"),
                among: [headset, jack, first])
        }
        #expect(choice("card:Jack") == jack)
        #expect(choice("card:Mic") == nil)
        #expect(choice("pcm:Jack") == nil)
    }

    @Test func `the device that plays has the number of the one that records, or is the first`() {
        #expect(cable.playbackDevice.map(cable.hardwareName) == "hw:CARD=Cable,DEV=1")
        #expect(speaker.playbackDevice.map(speaker.hardwareName) == "hw:CARD=Speaker")
        #expect(Self.card(0, "A", .usb, [], captures: [2], plays: [1, 2]).playbackDevice == 2)
        #expect(Self.card(0, "B", .usb, [], captures: [0], plays: [3, 4]).playbackDevice == 3)
        #expect(first.playbackDevice == nil)
        #expect([PCMDirection.capture, .playback].map(cable.device) == [1, 1])
    }

    @Test func `a card to play on that is not there is refused with those that are`() {
        #expect(
            CardChoice.absence(of: CardReference("path:1-1.9")!, for: .playback, among: [first, speaker]).description
                == "play: path:1-1.9: cannot find the card: it is not connected (there are: path:1-1.1 \"Speaker\", "
                + "path:1-1.2 \"Mic\" (captures only))")
        #expect(
            CardChoice.absence(of: CardReference("card:Mic")!, for: .playback, among: [first]).description
                == "play: card:Mic: cannot find the card: it is there and does not play "
                + "(there are: path:1-1.2 \"Mic\" (captures only))")
        #expect(
            CardChoice.absence(of: .automatic, for: .playback, among: []).description
                == "play: auto: cannot find the card: nothing that is connected plays (no card is there)")
    }
}

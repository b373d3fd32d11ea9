import Panel
import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// A take continues with a returned card. Its place, and whether it is the same card, is reported and stored.
@Suite struct MovedCardTests {
    private static func names(_ port: String, serial: String? = nil, identity: String? = nil) -> [CardReference] {
        let model = CardReference.usb(vendor: "1209", product: "f1e1", serial: serial)
        let names = [model, .path(port), .cardID("Mic")]
        guard let identity, let first = CardReference(identity) else { return names }
        return [first] + names.filter { $0 != first }
    }

    /// A kit whose card went away after one second of a take, and came back two seconds later with other names.
    private func returned(as names: [CardReference]) throws -> Rig {
        let rig = try Rig()
        rig.card.references = Self.names("1-1")
        try reopen(rig)
        rig.press(.record)
        rig.run(.milliseconds(985))
        back(rig, as: names)
        return rig
    }

    /// Has the deck open the card with its current names.
    private func reopen(_ rig: Rig) throws {
        rig.card.unplug()
        rig.run(.seconds(1))
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.seconds(1))
        #expect(rig.deck.isArmed)
    }

    private func back(_ rig: Rig, as names: [CardReference]) {
        rig.card.unplug()
        rig.run(.seconds(2))
        rig.card.references = names
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.seconds(1))
    }

    private func places(_ rig: Rig) throws -> [CardPlace?] {
        rig.press(.stop)
        rig.settle()
        return try #require(try rig.sidecars().last).parts.map(\.place)
    }

    private func sentences(_ rig: Rig) -> [String] { rig.log.messages.filter { $0.contains("goes on after") } }

    private let before = CardPlace(card: "usb:1209:f1e1", port: "1-1")

    @Test func `in the same port nothing but that it goes on is said`() throws {
        let rig = try returned(as: Self.names("1-1"))
        #expect(
            sentences(rig).count == 1 && sentences(rig).allSatisfy { $0.hasSuffix(" at 8000 Hz, 1 channel, S16_LE") })
        #expect(try places(rig) == [before, before])
    }

    @Test func `another port is said, stored with the part, and told to the history`() throws {
        let rig = try returned(as: Self.names("1-4.2"))
        #expect(
            sentences(rig).map {
                $0.hasSuffix(", with usb:1209:f1e1 in port 1-4.2 instead of usb:1209:f1e1 in port 1-1")
            } == [true])
        #expect(try places(rig) == [before, CardPlace(card: "usb:1209:f1e1", port: "1-4.2")])
    }

    @Test func `another card is said, and the take after it begins with that`() throws {
        let rig = try Rig { $0.rules.newTakeEvery = .seconds(10) }
        rig.card.references = Self.names("1-1")
        try reopen(rig)
        rig.press(.record)
        rig.run(.milliseconds(985))
        back(rig, as: Self.names("1-1", serial: "S2"))
        #expect(
            sentences(rig).map {
                $0.hasSuffix(", with usb:1209:f1e1:S2 in port 1-1 instead of usb:1209:f1e1 in port 1-1")
            } == [true])
        rig.run(.seconds(20))
        let now = CardPlace(card: "usb:1209:f1e1:S2", port: "1-1")
        #expect(try places(rig) == [now])
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.card) == [before.card, now.card, now.card])
        #expect(sidecars[0].parts.map(\.place) == [before, now])
    }

    @Test
    func
        `the same card keeps its name in the take when others of its model came, and is found by the port that it was in last`()
        throws
    {
        let rig = try returned(as: Self.names("1-1", identity: "path:1-1"))
        #expect(
            sentences(rig).count == 1 && sentences(rig).allSatisfy { $0.hasSuffix(" at 8000 Hz, 1 channel, S16_LE") })
        back(rig, as: Self.names("1-4", identity: "path:1-4"))
        #expect(
            sentences(rig).last?.hasSuffix(", with path:1-4 in port 1-4 instead of usb:1209:f1e1 in port 1-1") == true)
        rig.card.unplug()
        rig.run(.seconds(3))
        #expect(rig.card.opened.last?.expected.first == .path("1-4"))
        #expect(try places(rig) == [before, before, CardPlace(card: "path:1-4", port: "1-4")])
    }

    @Test func `a card that is in no port has none`() throws {
        let rig = try Rig()
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.seconds(1))
        #expect(try places(rig) == [CardPlace(card: "card:Scripted")])
    }

    @Test func `ports are told from the names of other devices`() {
        for (path, isPort) in [
            "1-1": true, "2-1.4.3": true, "10-12": true, "snd_aloop.0": false, "soc:sound": false, "1-1:1.0": false,
            "1-": false,
            "-1": false, "1-1.": false, "1": false, "fe007800.hdmi": false, "usb1": false,
        ] {
            #expect(CardPlace.isPort(path) == isPort, "\(path)")
        }
    }
}

import Takes
import Testing

@testable import SoundCard

/// Texts of a device that could damage a log or a terminal.
struct HostileCardTests {
    /// A USB card with a hostile text in every file of the two trees.
    private func card(_ text: String) throws -> CardDescription {
        let tree = MadeUpTree()
        tree.write(
            "proc/asound/cards", " 1 [\(text)]: \(text) - \(text)\n 4294967296 [x]: x - x\n 99999 [y]: y - y")
        try tree.addCard(1, id: text, device: "usb1/1-1/1-1:1.0", bus: "usb", pcms: ["0c"])
        for name in ["idVendor", "idProduct", "serial", "product"] {
            tree.write("sys/devices/usb1/1-1/\(name)", text)
        }
        for path in [
            "card99999/id", "card-2/id", "card9223372036854775807/id", "card1/pcm-1c/info", "card1/pcm99999c/info",
        ] {
            tree.write("proc/asound/\(path)", "x")
        }
        let cards = SoundCards(root: tree.root).list()
        #expect(cards.count == 1)
        return cards[0]
    }

    @Test(arguments: [
        "Mic\nErr: all is lost", "\u{1b}[2J\u{1b}[31mMic", "M\0c", "a\u{2028}b", "\u{202e}ciM", "\u{7f}\u{9b}2J",
        String(repeating: "x", count: 5000), "e\(String(repeating: "\u{301}", count: 4000))", " ", ":", "[", "]",
    ])
    func `a card's texts are one short line without control characters`(_ text: String) throws {
        let card = try card(text)
        let texts = [card.alsaID, card.name, card.driver] + card.references.map(\.description)
        for text in texts {
            #expect(text.unicodeScalars.count <= 120)
            let isPlain = text.unicodeScalars.allSatisfy {
                switch $0.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: false
                default: true
                }
            }
            #expect(isPlain, "\(text.debugDescription)")
        }
        // ALSA is asked for the card by this name, and settings may contain it.
        #expect(card.alsaID.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ",") })
        for reference in card.references { #expect(CardReference(reference.description) == reference) }
        #expect(card.captureDevices == [0])
    }

    @Test func `who holds a card is one line`() throws {
        let tree = MadeUpTree()
        tree.write("proc/asound/card1/pcm0c/sub0/status", "owner_pid   : 7")
        tree.write("proc/7/comm", "\u{1b}[2Jevil\nname")
        #expect(PCMOwner.of(.capture, card: 1, device: 0, root: tree.root)?.summary == "pid 7, [2Jevil")
    }
}

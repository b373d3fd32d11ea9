import Takes
import Testing

struct CardReferenceTests {
    @Test(
        arguments: [
            ("auto", .automatic), ("path:1-1.4", .path("1-1.4")),
            ("usb:0d8c:0014", .usb(vendor: "0d8c", product: "0014", serial: nil)),
            ("usb:0d8c:0014:A1:b2", .usb(vendor: "0d8c", product: "0014", serial: "A1:b2")),
            ("usb:0d8c:0014:\u{301}\u{301}", .usb(vendor: "0d8c", product: "0014", serial: "\u{301}\u{301}")),
            ("card:\u{301}Mic", .cardID("\u{301}Mic")),
            ("card:Loopback", .cardID("Loopback")), ("pcm:hw:CARD=Mic,DEV=0", .pcm("hw:CARD=Mic,DEV=0")),
        ] as [(String, CardReference)]) func `a card is read as it is written`(text: String, card: CardReference)
    {
        #expect(CardReference(text) == card)
        #expect(card.description == text)
    }

    @Test func `hexadecimal is small`() {
        #expect(CardReference("usb:0D8C:00AB")?.description == "usb:0d8c:00ab")
    }

    @Test func `a model without a serial number covers every serial number`() {
        func covers(_ wide: String, _ narrow: String) -> Bool? {
            CardReference(narrow).map { CardReference(wide)?.covers($0) } ?? nil
        }
        for name in ["usb:0d8c:0014", "usb:0d8c:0014:A1"] { #expect(covers("usb:0d8c:0014", name) == true) }
        for name in ["usb:0d8c:0014", "usb:0d8c:0014:A2", "card:Mic"] {
            #expect(covers("usb:0d8c:0014:A1", name) == false)
        }
        #expect(covers("usb:0d8c:0014", "usb:0d8c:0015:A1") == false)
        #expect(covers("path:1-1", "path:1-1.4") == false)
        #expect(covers("card:Mic", "card:Mic") == true)
    }

    @Test(arguments: [
        "", "Loopback", "card:", "usb:", "usb:0d8c", "usb:0d8c:14", "usb:0d8g:0014", "usb:0d8c:0014:", "hw:0",
        "AUTO", "auto:",
    ]) func `anything else is no card`(text: String) {
        #expect(CardReference(text) == nil)
    }
}

import Takes
import Testing

@testable import SoundCard

struct CardTreeTests {
    private static let usb = "platform/scb/fd500000.pcie/pci0000:00/0000:01:00.0/usb1/1-1/1-1.4"

    private func pi() throws -> MadeUpTree {
        let tree = MadeUpTree()
        tree.write(
            "proc/asound/cards",
            """
             0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
                                  vc4-hdmi-0
             1 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones
                                  bcm2835 Headphones
             2 [Mic            ]: USB-Audio - Blue Yeti - Stereo
                                  Blue Microphones Blue Yeti at usb-0000:01:00.0-1.4, full speed
             3 [sndrpihifiberry]: HifiberryDacpAd - snd_rpi_hifiberry_dacplusadc
                                  snd_rpi_hifiberry_dacplusadc
             4 [Loopback       ]: Loopback - Loopback
                                  Loopback 1
             5 [Dummy          ]: Dummy - Dummy
                                  Dummy 1
            """)
        try tree.addCard(0, id: "vc4hdmi0", device: "platform/soc/fef00700.hdmi", bus: "platform", pcms: ["0p"])
        try tree.addCard(
            1, id: "Headphones", device: "platform/soc/bcm2835_audio", bus: "vchiq-bus", pcms: ["0p"])
        try tree.addCard(2, id: "Mic", device: "\(Self.usb)/1-1.4:1.0", bus: "usb", pcms: ["0p", "0c"])
        for (name, text) in [
            ("idVendor", "B58E"), ("idProduct", "9e84"), ("serial", "797_2018/01/29_42"), ("product", "Blue Yeti"),
        ] {
            tree.write("sys/devices/\(Self.usb)/\(name)", text)
        }
        tree.write("proc/asound/card2/usbid", "b58e:9e84")
        tree.write("proc/asound/card2/usbbus", "001/004")
        try tree.addCard(
            3, id: "sndrpihifiberry", device: "platform/soc/soc:sound", bus: "platform", pcms: ["0p", "0c"])
        try tree.addCard(
            4, id: "Loopback", device: "platform/snd_aloop.0", bus: "platform", pcms: ["1c", "0c", "0p", "1p"])
        try tree.addCard(5, id: "Dummy", device: "platform/snd_dummy.0", bus: "platform", pcms: ["0c"])
        return tree
    }

    @Test func `a board's cards are distinguished and named by what does not change`() throws {
        let tree = try pi()
        func card(
            _ index: Int, _ id: String, _ name: String, _ driver: String, _ kind: CardKind, _ references: [String],
            captures: [Int], plays: [Int]
        ) -> CardDescription {
            CardDescription(
                index: index, alsaID: id, name: name, driver: driver, kind: kind,
                references: references.map { CardReference($0)! }, captureDevices: captures, playbackDevices: plays)
        }
        let cards = SoundCards(root: tree.root).list()
        #expect(
            cards == [
                card(
                    0, "vc4hdmi0", "vc4-hdmi-0", "vc4-hdmi", .hdmi, ["card:vc4hdmi0", "path:fef00700.hdmi"],
                    captures: [], plays: [0]),
                card(
                    1, "Headphones", "bcm2835 Headphones", "bcm2835_headpho", .other,
                    ["card:Headphones", "path:bcm2835_audio"], captures: [], plays: [0]),
                card(
                    2, "Mic", "Blue Yeti - Stereo", "USB-Audio", .usb,
                    ["usb:b58e:9e84:797_2018/01/29_42", "path:1-1.4", "card:Mic"], captures: [0], plays: [0]),
                card(
                    3, "sndrpihifiberry", "snd_rpi_hifiberry_dacplusadc", "HifiberryDacpAd", .hat,
                    ["card:sndrpihifiberry", "path:soc:sound"], captures: [0], plays: [0]),
                card(
                    4, "Loopback", "Loopback", "Loopback", .loopback, ["card:Loopback", "path:snd_aloop.0"],
                    captures: [0, 1], plays: [0, 1]),
                card(
                    5, "Dummy", "Dummy", "Dummy", .dummy, ["card:Dummy", "path:snd_dummy.0"], captures: [0], plays: []),
            ])
        #expect(cards.map(\.stableID.description).contains("usb:b58e:9e84:797_2018/01/29_42"))
    }

    @Test func `auto finds the USB card of a board`() throws {
        let tree = try pi()
        let card = try SoundCards(root: tree.root).find(.automatic)
        #expect(card.stableID == CardReference("usb:b58e:9e84:797_2018/01/29_42"))
        #expect(throws: SoundCardError.self) { try SoundCards(root: tree.root).find(.path("1-1.3")) }
    }

    @Test func `without sysfs a USB card goes by what proc lists`() throws {
        let tree = MadeUpTree()
        tree.write("proc/asound/card0/id", "Mic")
        tree.write("proc/asound/card0/usbid", "0D8C:0014")
        tree.write("proc/asound/card0/usbbus", "001/004")
        tree.write("proc/asound/card0/pcm0c/info")
        let cards = SoundCards(root: tree.root).list()
        #expect(
            cards == [
                CardDescription(
                    index: 0, alsaID: "Mic", name: "Mic", driver: "", kind: .usb,
                    references: [.usb(vendor: "0d8c", product: "0014", serial: nil), .cardID("Mic")],
                    captureDevices: [0])
            ])
    }

    @Test func `without proc a card still has its id`() throws {
        let tree = MadeUpTree()
        try tree.addCard(3, id: "sndrpi", device: "platform/soc/soc:sound", bus: "platform", pcms: [])
        tree.write("sys/class/sound/pcmC3D0c/dev")
        tree.write("sys/class/sound/pcmC33D1c/dev")
        #expect(
            SoundCards(root: tree.root).list() == [
                CardDescription(
                    index: 3, alsaID: "sndrpi", name: "sndrpi", driver: "", kind: .hat,
                    references: [.cardID("sndrpi"), .path("soc:sound")], captureDevices: [0])
            ])
    }

    @Test func `where there are no cards there are none`() throws {
        let tree = MadeUpTree()
        #expect(SoundCards(root: tree.root).list().isEmpty)
        #expect(SoundCards(root: "\(tree.root)/nowhere").list().isEmpty)
    }
}

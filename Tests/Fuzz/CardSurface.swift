import Foundation
import SoundCard
import Takes

/// The kernel's lists of sound cards, in `/proc/asound` and `/sys/class/sound`.
struct CardSurface: Surface {
    static let name = "cards"
    let mutator: Mutator
    private let tree: FileTree

    init(scratch: String) throws {
        tree = FileTree(root: "\(scratch)/machine")
        mutator = Mutator(
            seeds: Self.seeds.map { Array($0.utf8) },
            words: [
                " 3 [Loopback       ]: Loopback - Loopback\n", " 4294967296 [x]: x - x\n", "[]: -", "]:[", " - ",
                "%%% file proc/asound/card1/id\n",
                "%%% file sys/class/sound/pcmC1D0c/dev\n", "%%% file proc/asound/card99999999999/pcm0c/info\n",
                "pcmC1D-1c",
                "%%% folder proc/asound/card1/id\n", "%%% link sys/class/sound/card1/device ../../../..\n",
                "owner_pid   : -1\n",
                "%%% link proc/asound/cards cards\n", "owner_pid   : 9223372036854775807\n",
                "Tgid:\t-9223372036854775808\n", "card-1",
                "%%% file proc/asound/card9223372036854775807/id\n",
            ], longest: 24 << 10)
    }

    mutating func take(_ input: [UInt8]) throws {
        try tree.fill(with: input)
        let cards = SoundCards(root: tree.root)
        let list = cards.list()
        try hold(list.count <= 256, "\(list.count) cards")
        for card in list {
            try hold(
                card.alsaID.isOneLine && card.alsaID.utf8.count <= 64,
                "a card's id: \(card.alsaID.debugDescription.prefix(200))")
            try hold(
                card.name.isOneLine && card.name.unicodeScalars.count <= 100,
                "a card's name: \(card.name.debugDescription.prefix(200))")
            try hold(
                card.driver.isOneLine && card.driver.unicodeScalars.count <= 100,
                "a driver: \(card.driver.debugDescription.prefix(200))")
            for reference in card.references {
                let text = reference.description
                try hold(
                    text.isOneLine && text.unicodeScalars.count <= 200,
                    "a card's reference: \(text.debugDescription.prefix(200))"
                )
                // The identifier for settings and sidecars.
                try hold(
                    CardReference(text) == reference,
                    "a card that cannot be named: \(text.debugDescription.prefix(200))")
            }
            for device in card.captureDevices + card.playbackDevices {
                try hold((0...9999).contains(device), "device \(device)")
            }
            for direction in [PCMDirection.capture, .playback] {
                let device = card.device(for: direction) ?? 0
                let owner = PCMOwner.of(direction, card: card.index, device: device, root: tree.root)?.summary ?? ""
                try hold(
                    owner.isOneLine && owner.unicodeScalars.count <= 200,
                    "an owner: \(owner.debugDescription.prefix(200))")
            }
        }
        for direction in [PCMDirection.capture, .playback] {
            let found = CardChoice.choose(.automatic, for: direction, among: list)
            try hold(found.map { $0.device(for: direction) != nil } ?? true, "a card without a device is chosen")
        }
    }

    private static let seeds = [
        """
        %%% file proc/asound/cards
         0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
                              vc4-hdmi-0
         1 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones
                              bcm2835 Headphones
         2 [Mic            ]: USB-Audio - Blue Yeti - Stereo
                              Blue Microphones Blue Yeti at usb-0000:01:00.0-1.4, full speed
        %%% file sys/bus/usb/uevent
        %%% file sys/devices/usb1/1-1/1-1.4/idVendor
        b58e
        %%% file sys/devices/usb1/1-1/1-1.4/idProduct
        9e84
        %%% file sys/devices/usb1/1-1/1-1.4/serial
        797_2018/01/29_42
        %%% file sys/devices/usb1/1-1/1-1.4/product
        Blue Yeti
        %%% link sys/devices/usb1/1-1/1-1.4/1-1.4:1.0/subsystem ../../../../../bus/usb
        %%% file sys/devices/usb1/1-1/1-1.4/1-1.4:1.0/sound/card2/id
        Mic
        %%% link sys/devices/usb1/1-1/1-1.4/1-1.4:1.0/sound/card2/device ../..
        %%% link sys/class/sound/card2 ../../devices/usb1/1-1/1-1.4/1-1.4:1.0/sound/card2
        %%% file sys/class/sound/pcmC2D0c/dev
        116:24
        %%% file sys/class/sound/pcmC2D0p/dev
        116:16
        %%% file proc/asound/card2/usbid
        b58e:9e84
        %%% file proc/asound/card2/usbbus
        001/004
        %%% file proc/asound/card2/pcm0c/sub0/status
        state: RUNNING
        owner_pid   : 815
        trigger_time: 12.5
        %%% file proc/815/status
        Name:\talsa-source
        Tgid:\t812
        Pid:\t815
        %%% file proc/812/comm
        pulseaudio
        %%% file proc/asound/card0/pcm0p/info
        card: 0
        """,
        """
        %%% file proc/asound/card0/id
        Mic
        %%% file proc/asound/card0/usbid
        0D8C:0014
        %%% file proc/asound/card0/usbbus
        001/004
        %%% file proc/asound/card0/pcm0c/info
        card: 0
        device: 0
        %%% file proc/asound/card0/pcm0c/sub0/status
        closed
        """,
        """
        %%% file proc/asound/cards
         4 [Loopback       ]: Loopback - Loopback
                              Loopback 1
        %%% file proc/asound/card4/pcm0c/info
        %%% file proc/asound/card4/pcm1c/sub0/status
        owner_pid   : 900
        %%% file proc/asound/card4/pcm1p/sub0/status
        closed
        """,
    ]
}

import Takes
import Testing

@testable import SoundCard

struct CardIdentityTests {
    /// The identities of USB cards in the ports 1-1.1, 1-1.2, …, from their vendor, product and serial numbers.
    private func identities(_ devices: [(model: String, serial: String?)]) throws -> [String] {
        let tree = MadeUpTree()
        for (index, device) in devices.enumerated() {
            let port = "1-1.\(index + 1)"
            let folder = "usb1/1-1/\(port)"
            try tree.addCard(index, id: "Mic_\(index)", device: "\(folder)/\(port):1.0", bus: "usb", pcms: ["0c"])
            let numbers = device.model.split(separator: ":").map(String.init)
            guard numbers.count == 2 else { continue }
            tree.write("sys/devices/\(folder)/idVendor", numbers[0])
            tree.write("sys/devices/\(folder)/idProduct", numbers[1])
            if let serial = device.serial { tree.write("sys/devices/\(folder)/serial", serial) }
        }
        let cards = SoundCards(root: tree.root).list()
        #expect(
            cards.allSatisfy { $0.references.first == $0.stableID && Set($0.references).count == $0.references.count })
        return cards.map(\.stableID.description)
    }

    @Test func `a serial number identifies a card`() throws {
        #expect(
            try identities([("0d8c:0014", "A1"), ("0d8c:0014", "A2"), ("1209:f1e1", "A1")])
                == ["usb:0d8c:0014:A1", "usb:0d8c:0014:A2", "usb:1209:f1e1:A1"])
    }

    @Test func `without a serial number the model does while there is one of it, then the port`() throws {
        #expect(try identities([("0d8c:0014", nil), ("1209:f1e1", nil)]) == ["usb:0d8c:0014", "usb:1209:f1e1"])
        #expect(try identities([("0d8c:0014", nil), ("0d8c:0014", nil)]) == ["path:1-1.1", "path:1-1.2"])
        // The model also names the card that has a serial number.
        #expect(try identities([("0d8c:0014", nil), ("0d8c:0014", "A1")]) == ["path:1-1.1", "usb:0d8c:0014:A1"])
    }

    @Test func `a serial number that several cards have, or that is all zeros, identifies none`() throws {
        #expect(try identities([("0d8c:0014", "A1"), ("0d8c:0014", "A1")]) == ["path:1-1.1", "path:1-1.2"])
        #expect(try identities([("0d8c:0014", "000000000000")]) == ["usb:0d8c:0014"])
        #expect(try identities([("0d8c:0014", "00-00"), ("0d8c:0014", "0")]) == ["path:1-1.1", "path:1-1.2"])
        let serials = ["": false, "0": false, "00:00": false, "--": false, "1": true, "00A0": true, "\u{e9}": true]
        for (serial, isPlausible) in serials {
            #expect(CardIdentity.isPlausible(serial) == isPlausible, "\(serial)")
        }
    }

    @Test func `a USB card without numbers goes by its port`() throws {
        #expect(try identities([("", nil)]) == ["path:1-1.1"])
    }

    @Test func `a card that is plugged in again in the same port is another stay`() throws {
        let tree = MadeUpTree()
        let folder = "sys/devices/usb1/1-1/1-1.1"
        try tree.addCard(0, id: "Mic", device: "usb1/1-1/1-1.1/1-1.1:1.0", bus: "usb", pcms: ["0c"])
        for (name, text) in [("idVendor", "0d8c"), ("idProduct", "0014"), ("devnum", "12")] {
            tree.write("\(folder)/\(name)", text)
        }
        func stay() throws -> CardStay { try #require(SoundCards(root: tree.root).list().first).stay }
        #expect(try stay() == CardStay(place: .path("1-1.1"), deviceNumber: 12))
        tree.write("\(folder)/devnum", "13")
        #expect(try stay() == CardStay(place: .path("1-1.1"), deviceNumber: 13))
        tree.write("\(folder)/devnum", "x")
        #expect(try stay() == CardStay(place: .path("1-1.1"), deviceNumber: nil))
    }

    @Test func `every name of a card stays one, whatever identifies it`() throws {
        let tree = MadeUpTree()
        try tree.addCard(0, id: "Mic", device: "usb1/1-1/1-1.1/1-1.1:1.0", bus: "usb", pcms: ["0c"])
        for (name, text) in [("idVendor", "0d8c"), ("idProduct", "0014"), ("serial", "0000")] {
            tree.write("sys/devices/usb1/1-1/1-1.1/\(name)", text)
        }
        let card = try #require(SoundCards(root: tree.root).list().first)
        #expect(
            card.references.map(\.description) == ["usb:0d8c:0014", "usb:0d8c:0014:0000", "path:1-1.1", "card:Mic"])
    }
}

import Testing

@testable import SoundCard

struct CardEventsTests {
    static func event(_ fields: String...) -> ArraySlice<UInt8> {
        ArraySlice(fields.flatMap { Array($0.utf8) + [0] })
    }

    @Test func `an event about sound is distinguished from others`() {
        let path = "/devices/platform/usb/1-1.4/1-1.4:1.0/sound/card1"
        #expect(
            CardEvents.isAboutSound(
                Self.event("add@\(path)", "ACTION=add", "DEVPATH=\(path)", "SUBSYSTEM=sound", "SEQNUM=1")))
        #expect(!CardEvents.isAboutSound(Self.event("add@\(path)", "SUBSYSTEM=soundwire")))
        #expect(!CardEvents.isAboutSound(Self.event("add@/devices/SUBSYSTEM=sound", "SUBSYSTEM=usb")))
        #expect(!CardEvents.isAboutSound([]))
    }

    @Test func `nothing is found where nothing came`() {
        guard let events = CardEvents() else { return }
        let isFound = events.drain()
        #expect(!isFound)
    }
}

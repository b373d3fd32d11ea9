import Settings
import SoundCard
import Takes
import Testing

@testable import Recorder

@Suite struct CardsInUseTests {
    private let dummy = Self.card("Dummy", .dummy)
    private let loopback = Self.card("Loopback", .loopback)
    private let microphone = Self.card("Mic", .usb, plays: false)
    private let screen = Self.card("HDMI", .hdmi, captures: false)

    private static func card(
        _ id: String, _ kind: CardKind, captures: Bool = true, plays: Bool = true
    ) -> CardDescription {
        CardDescription(
            index: 0, alsaID: id, name: id, driver: id, kind: kind, references: [.cardID(id)],
            captureDevices: captures ? [0] : [], playbackDevices: plays ? [0] : [])
    }

    private func used(_ cards: CardDescription..., settings: Settings = Settings()) -> [CardReference?] {
        let used = CardsInUse(settings, among: cards)
        return [used.capture, used.playback]
    }

    @Test func `a simulated board takes the best card that captures, and plays on it if it can`() {
        #expect(used(dummy, loopback, screen, microphone) == [.cardID("Mic"), .cardID("HDMI")])
        #expect(used(dummy, loopback) == [.cardID("Loopback"), .cardID("Loopback")])
        #expect(used(dummy, screen, loopback) == [.cardID("Loopback"), .cardID("Loopback")])
    }

    @Test func `without one it takes none`() {
        #expect(used() == [nil, nil])
        #expect(used(dummy) == [nil, nil])
        #expect(used(dummy, screen) == [nil, .cardID("HDMI")])
        #expect(used(microphone) == [.cardID("Mic"), nil])
    }

    @Test func `what the settings name is taken, whether it is there or not`() {
        var settings = Settings()
        settings.capture.card = .cardID("Dummy")
        settings.playback.card = .cardID("Speaker")
        #expect(used(dummy, microphone, settings: settings) == [.cardID("Dummy"), .cardID("Speaker")])
        #expect(used(settings: settings) == [.cardID("Dummy"), .cardID("Speaker")])
    }
}

import Foundation
import Takes
import Testing

@testable import SoundCard

struct CardReportTests {
    @Test func `a card is reported with all its names and what it offers`() throws {
        let card = CardDescription(
            index: 2, alsaID: "Mic", name: "Blue Yeti", driver: "USB-Audio", kind: .usb,
            references: [.path("1-1.4"), .usb(vendor: "b58e", product: "9e84", serial: nil), .cardID("Mic")],
            captureDevices: [0], playbackDevices: [0, 1])
        let offers = Offers([
            .init(format: .s16, channels: [1, 2], ratesHz: [44100, 48000]),
            .init(format: .s24Packed, channels: [2], ratesHz: [48000]),
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let played = Offers([.init(format: .s16, channels: [2], ratesHz: [48000, 96000])])
        let report = CardReport(
            card,
            capture: CardSurvey(offers: offers, busyBy: PCMOwner(processID: 812, processName: "pulseaudio")),
            playback: CardSurvey(offers: played, busyBy: PCMOwner(processID: 813, processName: nil), error: "why"))
        let data = try encoder.encode(report)
        #expect(
            String(decoding: data, as: UTF8.self) == """
                {"busy_by":"pid 812, pulseaudio","captures":true,"card":"Mic","channels":[1,2],"combinations":\
                [{"channels":[1,2],"format":"S16_LE","rates_hz":[44100,48000]},\
                {"channels":[2],"format":"S24_3LE","rates_hz":[48000]}],"device":0,"driver":"USB-Audio","error":null,\
                "formats":["S16_LE","S24_3LE"],"id":"path:1-1.4","index":2,"kind":"usb","name":"Blue Yeti",\
                "names":["path:1-1.4","usb:b58e:9e84","card:Mic"],"playback_busy_by":"pid 813","playback_combinations":\
                [{"channels":[2],"format":"S16_LE","rates_hz":[48000,96000]}],"playback_device":0,\
                "playback_error":"why","playback_rates_hz":[48000,96000],"plays":true,"rates_hz":[44100,48000]}
                """)
        #expect(try JSONDecoder().decode(CardReport.self, from: data) == report)
    }
}

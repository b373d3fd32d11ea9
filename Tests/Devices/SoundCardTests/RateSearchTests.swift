import Takes
import Testing

@testable import SoundCard

struct RateSearchTests {
    /// The found rates of a simulated card.
    private func found(
        _ rates: Set<Int>, stated: Set<Int> = [], asked: Int? = nil, isHardware: Bool = true
    ) -> [Int] {
        RateSearch(stated: stated, asked: asked)
            .rates(in: rates.min()!...rates.max()!, isHardware: isHardware, where: rates.contains)
    }

    @Test func `the rates of ultrasound microphones are known`() {
        let rates = [12000, 48000, 96000, 200_000, 250_000, 256_000, 312_500, 384_000, 500_000]
        #expect(found(Set(rates + [1, 800_000])) == [1] + rates + [800_000])
    }

    @Test func `both ends of a range are found, and what lies between once it is listed or asked for`() {
        let rates: Set = [7000, 48000, 123_456, 300_000]
        #expect(found(rates) == [7000, 48000, 300_000])
        #expect(found(rates, stated: [7000, 123_456]) == [7000, 48000, 123_456, 300_000])
        #expect(found(rates, asked: 123_456) == [7000, 48000, 123_456, 300_000])
    }

    @Test func `a rate that is listed or asked for and that the card lacks is not found`() {
        #expect(found([48000, 96000], stated: [44100, 64000], asked: 88200) == [48000, 96000])
        #expect(found([48000, 96000], stated: [.max], asked: .min) == [48000, 96000])
    }

    @Test func `the ends of a plug-in's range count only where it has no other rate`() {
        #expect(found([1, 48000, 4_000_000_000], isHardware: false) == [48000])
        #expect(found([1, 4_000_000_000], isHardware: false) == [1, 4_000_000_000])
        #expect(found([31250], isHardware: false) == [31250])
    }

    @Test func `a range without exact ends has the rates within`() {
        let search = RateSearch()
        #expect(search.rates(in: 47000...97000, isHardware: true) { [48000, 96000].contains($0) } == [48000, 96000])
    }

    // MARK: Rates that drivers list

    @Test func `a USB card's discrete rates are read from its stream`() throws {
        let tree = MadeUpTree()
        tree.write(
            "proc/asound/card2/stream0",
            """
            Dodotronic Ultramic 250K at usb-0000:01:00.0-1.4, full speed : USB Audio

            Playback:
              Status: Stop
              Interface 2
                Altset 1
                Format: S16_LE
                Channels: 2
                Endpoint: 0x01 (1 OUT) (ADAPTIVE)
                Rates: 44100

            Capture:
              Status: Stop
              Interface 1
                Altset 1
                Format: S16_LE
                Channels: 1
                Endpoint: 0x81 (1 IN) (ASYNC)
                Rates: 48000, 96000, 250000
              Interface 1
                Altset 2
                Format: S16_LE
                Rates: 8000 - 96000 (continuous)
            """)
        #expect(StatedRates.of(card: 2, device: 0, root: tree.root) == [44100, 48000, 96000, 250_000])
        #expect(StatedRates.of(card: 2, device: 1, root: tree.root) == [])
        #expect(StatedRates.of(card: 1, device: 0, root: tree.root) == [])
    }

    @Test(arguments: ["", ",", "-1, 0", "99999999999999999999, 4294967296, 48000x", "٤٨٠٠٠", "48000 96000 ,"])
    func `a list that makes no sense lists nothing`(_ list: String) throws {
        let tree = MadeUpTree()
        tree.write("proc/asound/card0/stream0", "  Rates: \(list)")
        #expect(StatedRates.of(card: 0, device: 0, root: tree.root).isEmpty)
    }
}

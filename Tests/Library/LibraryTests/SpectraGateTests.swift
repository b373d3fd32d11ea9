import DiskCalls
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct SpectraGateTests {
    private typealias Space = SpectraGate.Space
    private let gate = SpectraGate(hasBattery: false, reservedBytes: 512 << 20)
    private let wishes: [SpectraGate.Wish] = [.background, .newTake, .look]

    @Test func `nothing is computed while sound waits for the disk`() {
        for wish in wishes {
            #expect(gate.allows(wish, during: .none))
            #expect(gate.allows(wish, during: .unsynced(seconds: 1)))
            #expect(gate.allows(wish, during: .unsynced(seconds: 2)))
            #expect(!gate.allows(wish, during: .unsynced(seconds: 2.01)))
            #expect(!gate.allows(wish, during: .unsynced(seconds: .nan)))
            #expect(!gate.allows(wish, during: .unknown))
        }
    }

    @Test func `a recorder that syncs rarely may have more sound in memory`() {
        let gate = SpectraGate(hasBattery: false, reservedBytes: 0, longestLag: 20)
        #expect(gate.allows(.look, during: .unsynced(seconds: 20)))
        #expect(!gate.allows(.look, during: .unsynced(seconds: 20.1)))
    }

    @Test func `a kit with a battery computes only what somebody looks at`() {
        let gate = SpectraGate(hasBattery: true, reservedBytes: 0)
        #expect(wishes.map { gate.allows($0, during: .none) } == [false, false, true])
        #expect(!gate.allows(.look, during: .unsynced(seconds: 3)))
    }

    @Test func `a twentieth of the disk stays free, and more than the recorder needs`() {
        let (card, small) = (Int64(32) << 30, Int64(4) << 30)
        let most = Space(freeBytes: card / 20, totalBytes: card, usedBytes: 0)
        #expect(gate.leastFree(most) == card / 20 && gate.excess(most) == 0)
        #expect(gate.excess(most, for: 1000) == 1000)
        #expect(gate.excess(Space(freeBytes: card / 20 - 5, totalBytes: card, usedBytes: 0)) == 5)
        let few = Space(freeBytes: 768 << 20, totalBytes: small, usedBytes: 0)
        #expect(gate.leastFree(few) == 768 << 20 && gate.excess(few) == 0)
        // The size of the file system may be unknown.
        #expect(gate.excess(Space(freeBytes: 767 << 20, totalBytes: 0, usedBytes: 0)) == 1 << 20)
    }

    @Test func `all columns take a fiftieth of the disk at most, or a day of one channel`() {
        let card = Int64(32) << 30
        let full = Space(freeBytes: card / 2, totalBytes: card, usedBytes: card / 50)
        #expect(gate.mostUsed(full) == card / 50 && gate.excess(full) == 0 && gate.excess(full, for: 7) == 7)
        let small = Space(freeBytes: 2 << 30, totalBytes: 4 << 30, usedBytes: 256 << 20)
        #expect(gate.mostUsed(small) == 256 << 20 && gate.excess(small, for: 7) == 7)
        // Both limits count.
        let both = Space(freeBytes: card / 20 - 100, totalBytes: card, usedBytes: card / 50 + 3)
        #expect(gate.excess(both) == 100 && gate.excess(both, for: 10) == 110)
    }

    @Test func `columns that nobody looked at go first, those of the oldest take before others`() {
        let bases = [
            "heron07-0009_20261122_000000", "heron07-0002-p2_20261121_101811", "heron07-0001-061811Z",
            "heron07-0002_20261121_061811", "heron08-0001_20261120_000000",
        ]
        var uses = SpectraUses()
        let byAge = [
            "heron07-0001-061811Z", "heron08-0001_20261120_000000", "heron07-0002_20261121_061811",
            "heron07-0002-p2_20261121_101811", "heron07-0009_20261122_000000",
        ]
        #expect(uses.inOrder(bases) == byAge)
        uses.use(byAge[1])
        uses.use(byAge[0])
        uses.use(byAge[3])
        uses.use(byAge[1])
        #expect(uses.inOrder(bases) == [byAge[2], byAge[4], byAge[0], byAge[3], byAge[1]])
        uses.forget(byAge[0])
        #expect(uses.inOrder(bases) == [byAge[0], byAge[2], byAge[4], byAge[3], byAge[1]])
    }
}

import Takes
import Testing

@testable import Recording

/// A stop while the card is late: on a busy machine, its thread may be seconds behind.
@Suite struct LateCardTests {
    private func recorded() throws -> Studio {
        let studio = try Studio(StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16))
        studio.run(.seconds(1))
        studio.begin()
        studio.run(.seconds(1))
        return studio
    }

    @Test func `a card that is behind is waited for as long as it delivers`() throws {
        let studio = try recorded()
        studio.run(.seconds(8), isCardAway: true)
        studio.end()
        for number in 1...8 {
            studio.run(.milliseconds(400), isCardAway: true)
            #expect(studio.finished.isEmpty)
            studio.deliver(upTo: .seconds(2 + number))
            studio.turn()
        }
        #expect(studio.finished.map(\.frames) == [72000])
        #expect(studio.finished.first?.gaps.isEmpty == true)
    }

    @Test func `a take whose card delivers nothing more ends with what there is`() throws {
        let studio = try recorded()
        studio.run(.seconds(1), isCardAway: true)
        studio.end()
        studio.run(.milliseconds(450), isCardAway: true)
        #expect(studio.finished.isEmpty)
        studio.run(.milliseconds(200), isCardAway: true)
        #expect(studio.finished.map(\.frames) == [8000])
    }
}

import Ring
import Takes
import Testing
import Transport

@testable import Deck

@Suite struct RateWatchTests {
    private func measure(_ ppm: Double, error: Double = 10) -> RateMeasure {
        RateMeasure(statedHz: 48000, offsetPPM: ppm, errorPPM: error)
    }

    private func signalFaults(_ rig: Rig) -> [String] {
        rig.deck.status.faults.filter { $0.code == .signal }.map(\.message)
    }

    /// The fault after each measurement.
    private func faults(_ measures: [RateMeasure?]) -> [String] {
        var watch = RateWatch()
        return measures.map { measure in
            watch.add(measure)
            return watch.fault(card: "card:Mic").map { String($0.message.split(separator: " ")[8]) } ?? "-"
        }
    }

    @Test func `a rate that is wrong is a fault until it is right again`() {
        #expect(
            faults([nil, measure(0), measure(-333_333), nil, measure(900), measure(400), measure(900)]) == [
                "-", "-", "32000", "32000", "32000", "-", "-",
            ])
    }

    @Test func `the sentence stays while the rate wanders a little, and follows it when it wanders far`() {
        #expect(
            faults([measure(2000), measure(2900), measure(1100), measure(4000)]) == [
                "48096", "48096", "48096", "48190",
            ])
    }

    @Test func `what is not known well neither sets nor ends the fault`() {
        #expect(
            faults([measure(2000, error: 1500), measure(2000), measure(0, error: 900)]) == ["-", "48096", "48096"])
    }

    @Test(arguments: [0.25, -0.5, 0.00105])
    func `a card that does not run at its stated rate is fault 8 from ten seconds on`(slowness: Double) throws {
        let rig = try Rig()
        rig.card.slowness = slowness
        rig.run(.seconds(9))
        #expect(signalFaults(rig) == [])
        rig.run(.seconds(4))
        let trueHz = slowness == 0.00105 ? 7992 : Int(8000 * (1 - slowness))
        let sentence =
            "signal: card:Scripted: states 8000 Hz and runs at \(trueHz) Hz: takes have the wrong length and pitch: "
            + "set another rate_hz, or use another card"
        #expect(signalFaults(rig) == [sentence])
        rig.press(.record)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording && signalFaults(rig) == [sentence])
        #expect(rig.log.messages.filter { $0 == sentence }.count == 1)
    }

    @Test func `the fault goes when the card is opened anew, and does not come back if it runs right then`() throws {
        let rig = try Rig()
        rig.card.slowness = 0.25
        rig.run(.seconds(13))
        #expect(signalFaults(rig).count == 1)
        rig.card.unplug()
        rig.card.slowness = 0
        rig.card.plugIn()
        rig.run(.seconds(1))
        #expect(signalFaults(rig) == [])
        rig.run(.seconds(30))
        #expect(signalFaults(rig) == [])
    }

    @Test(arguments: [0.0009, -0.0009, 0.0001])
    func `a crystal that is off by less is no fault`(slowness: Double) throws {
        let rig = try Rig()
        rig.card.slowness = slowness
        rig.run(.seconds(20))
        #expect(signalFaults(rig) == [])
    }
}

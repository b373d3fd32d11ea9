import Takes
import Testing
import Transport

@Suite struct DeckRefusalTests {
    private static let take = TakeName(stem: "heron07-0042_20261121_061811", day: "2026-11-21")

    @Test(
        arguments: [
            (
                .nothingPlayed(command: "skip"), "skip: nothing is being played: play a take first",
                "nothing-played", [:]
            ),
            (
                .takeRecorded(command: "play", take: DeckRefusalTests.take),
                "play: heron07-0042_20261121_061811 is being recorded: stop it first", "take-recorded", [:]
            ),
            (
                .takeRecorded(command: "record", take: nil), "record: a take is being recorded: stop it first",
                "take-recorded", [:]
            ),
            (
                .tooManyMarkers(most: 10_000),
                "mark: the take has 10000 markers, and keeps no more: begin another take", "too-many-markers",
                ["most": .number(10_000)]
            ),
            (
                .noSuchTake(command: "play", .number(9), folder: "/takes"), "play: 9: no such take in /takes",
                "take-unknown", ["take": .text("9")]
            ),
            (.storageUnusable(message: "storage: full", isFull: true), "storage: full", "storage-full", [:]),
            (.storageUnusable(message: "storage: gone", isFull: false), "storage: gone", "storage-unusable", [:]),
            (
                .storageAway(subject: "play", folder: "/takes"), "play: /takes is not there", "storage-away",
                ["folder": .text("/takes")]
            ),
            (
                .stickNotUnmounted(seconds: 20),
                "eject: the stick was not unmounted within 20 s: see 'journalctl -u fieldfare-eject'",
                "stick-not-unmounted", ["seconds": .number(20)]
            ),
            (
                .takeInPlace(stem: "a"),
                "restore: a: a take of that name is there: it stays in the bin: if it was copied back whole, "
                    + "use 'fieldfare bin empty a'", "take-in-place", [:]
            ),
            (
                .deviceSilent(subject: "cards", device: "hw:1", seconds: 9),
                "cards: hw:1 has not answered for 9 s: unplug it and plug it in again, then try again",
                "device-silent", ["device": .text("hw:1"), "seconds": .number(9)]
            ),
        ] as [(DeckRefusal, String, String, [String: Refusal.Reason.Value])])
    func `a refusal has its sentence, and the sentence's name and parts`(
        refusal: DeckRefusal, message: String, name: String, values: [String: Refusal.Reason.Value]
    ) {
        let made = Refusal(refusal)
        #expect(made.message == message)
        #expect(made.reason == Refusal.Reason(name, values))
    }

    @Test func `a refusal about a command keeps its reason`() {
        let refusal = Refusal(.cardOpening(card: "auto")).about("record")
        #expect(refusal == Refusal(.io, "record: capture: auto: the card is being opened"))
        #expect(refusal.reason == Refusal.Reason("card-opening"))
    }

    @Test func `refusals with the same sentence are equal`() {
        #expect(Refusal(.nothingRecorded) == Refusal(.busy, "mark: nothing is being recorded: record a take first"))
        #expect(Refusal(.nothingRecorded) != Refusal(.io, "mark: nothing is being recorded: record a take first"))
    }
}

import DiskCalls
import Takes
import TestBench
import Testing
import Transport

@testable import Library

@Suite(.waitsOnNamedThreads) struct TakeRefusalTests {
    @Test func `a refusal has its sentence, and the sentence's name and parts`() {
        let refusals = [
            Refusal(.memoChanged(stem: "a", memo: "wren")), Refusal(.tooManyTags(stem: "a", count: 51)),
            Refusal(.storageOut(command: "delete", stem: "a")), Refusal(.onOtherStick(stem: "a", stick: "1f2e")),
            Refusal(.storeLacks(stem: "a", store: "nas", file: "a.wav")),
            Refusal(.storeHasMore(stem: "a", store: "nas", problem: "nas has a later state of it")),
            Refusal(.zoneUnknown(command: "day", zone: "Mars")),
        ]
        #expect(
            refusals == [
                Refusal(
                    .busy,
                    #"memo: a: somebody else changed it meanwhile, to "wren": look at it, then save yours again"#),
                Refusal(.usage, "tag: a would have 51 tags, allowed are 50"),
                Refusal(.busy, "delete: a: it is on a storage that is out: put it in first"),
                Refusal(
                    .busy,
                    "delete: a: it is on the stick 1f2e, and another one is in: put that one in, or delete the take on the "
                        + "kit alone"),
                Refusal(
                    .busy,
                    "delete: a: nas does not have a.wav, though it was sent there: see whether it is the right stick or "
                        + "folder, or delete the take on the kit alone"),
                Refusal(
                    .busy,
                    "delete: a: nas has a later state of it: it has more than the kit: compare both, or delete the take on "
                        + "the kit alone"),
                Refusal(.usage, #"day: zone: found "Mars", allowed is a time zone such as "Europe/Berlin""#),
            ])
        #expect(
            refusals.map(\.reason) == [
                Refusal.Reason("memo-changed", ["memo": .text(#""wren""#)]),
                Refusal.Reason("too-many-tags", ["most": .number(50)]), Refusal.Reason("storage-out"),
                Refusal.Reason("other-stick", ["stick": .text("1f2e")]),
                Refusal.Reason("store-lacks-file", ["store": .text("nas"), "file": .text("a.wav")]),
                Refusal.Reason("store-has-more", ["store": .text("nas")]),
                Refusal.Reason("zone-unknown", ["zone": .text("Mars")]),
            ])
    }
}

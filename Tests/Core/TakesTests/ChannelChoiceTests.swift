import Takes
import Testing

struct ChannelChoiceTests {
    @Test(
        arguments: [
            (.first(2), 2, [1, 2]), (.first(1), 2, [1]), (.first(3), 2, [1, 2]), (.numbered([2]), 2, [2]),
            (.numbered([3, 1]), 4, [3, 1]), (.numbered([2, 5]), 4, [2]), (.numbered([5]), 2, [1, 2]),
            (.live, 3, [1, 2, 3]), (.layout(ChannelLayout(keeping: [2], of: 2)), 2, [2]),
        ] as [(ChannelChoice, Int, [Int])])
    func `a choice keeps channels that the card has, in its order`(_ choice: ChannelChoice, _ card: Int, _ kept: [Int])
    {
        #expect(choice.layout(ofCard: card) == ChannelLayout(keeping: kept, of: card))
    }

    @Test func `all channels in the card's order are a whole layout`() {
        #expect(ChannelLayout(all: 2) == ChannelLayout(keeping: [1, 2], of: 2))
        let layouts = [[1, 2], [2, 1], [1], [1, 2, 3]].map { ChannelLayout(keeping: $0, of: 2) }
        #expect(layouts.map(\.isWhole) == [true, false, false, false])
        #expect(layouts.map(\.summary) == [nil, "channels 2, 1 of 2", "channel 1 of 2", "channels 1, 2, 3 of 2"])
    }

    @Test func `a sidecar names the channels of a card, unless all are kept`() {
        #expect(ChannelLayout(all: 2).ofCard == nil && ChannelLayout(keeping: [2], of: 2).ofCard == [2])
        let texts = [(1, nil), (2, nil), (1, [2]), (2, [1, 3])].map { ChannelLayout.text(channels: $0, ofCard: $1) }
        #expect(texts == ["1 channel", "2 channels", "channel 2 of the card", "channels 1, 3 of the card"])
    }

    @Test func `a choice is met by what it names, live ones by any`() {
        let second = ChannelLayout(keeping: [2], of: 2)
        #expect(ChannelChoice.numbered([2]).isMet(by: second) && ChannelChoice.live.isMet(by: second))
        #expect(
            ChannelChoice.layout(second).isMet(by: second) && ChannelChoice.first(2).isMet(by: ChannelLayout(all: 2)))
        #expect(!ChannelChoice.first(1).isMet(by: second) && !ChannelChoice.numbered([1, 2]).isMet(by: second))
    }

    @Test func `a choice reads as a person says it`() {
        let choices: [ChannelChoice] = [
            1, 4, .numbered([3]), .numbered([1, 3]), .live, .layout(ChannelLayout(all: 2)),
        ]
        #expect(
            choices.map(\.description) == [
                "1 channel", "4 channels", "channel 3", "channels 1, 3", "the channels that have a signal",
                "2 channels",
            ])
    }
}

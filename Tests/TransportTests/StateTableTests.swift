import Testing
import Transport

@Suite struct StateTableTests {
    /// The table of the design, row by row: record, stop, play, back, forward.
    private static let table: [(DeckState, [Action])] = [
        (.idle, [.startTake, .nothing, .playSelected, .selectBefore, .selectAfter]),
        (.recording, [.dropMarker, .endTake, .refuse, .nothing, .nothing]),
        (.playing, [.stopThenRecord, .stopPlaying, .pause, .skipBack, .skipForward]),
        (.paused, [.stopThenRecord, .stopPlaying, .resume, .skipBack, .skipForward]),
        (.fault, [.refuse, .nothing, .playSelected, .selectBefore, .selectAfter]),
    ]

    @Test func `every button does in every state what the design says`() {
        let built = DeckState.allCases.map { state in Button.allCases.map { state.action(for: $0) } }
        #expect(built == Self.table.map(\.1))
        #expect(DeckState.allCases == Self.table.map(\.0))
        #expect(Button.allCases == [.record, .stop, .play, .back, .forward])
    }

    @Test func `recording ends by no button but stop`() {
        let ending = Button.allCases.filter { [.endTake, .stopPlaying].contains(DeckState.recording.action(for: $0)) }
        #expect(ending == [.stop])
    }

    @Test func `no button does what no other state knows`() {
        let reached = Set(DeckState.allCases.flatMap { state in Button.allCases.map { state.action(for: $0) } })
        #expect(reached == Set(Action.allCases))
    }
}

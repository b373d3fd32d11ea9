/// What a button makes the deck do.
public enum Action: String, Sendable, CaseIterable {
    case nothing
    case startTake, dropMarker, endTake
    /// The button is not for now; the lamps say so and nothing changes.
    case refuse
    case playSelected, selectBefore, selectAfter
    case stopThenRecord, stopPlaying, pause, resume, skipBack, skipForward
}

extension DeckState {
    /// What `button` does in this state: the deck's whole state table.
    public func action(for button: Button) -> Action {
        switch (self, button) {
        case (.idle, .record): .startTake
        case (.idle, .stop): .nothing
        case (.idle, .play): .playSelected
        case (.idle, .back): .selectBefore
        case (.idle, .forward): .selectAfter

        case (.recording, .record): .dropMarker
        case (.recording, .stop): .endTake
        case (.recording, .play): .refuse
        case (.recording, .back), (.recording, .forward): .nothing

        case (.playing, .record), (.paused, .record): .stopThenRecord
        case (.playing, .stop), (.paused, .stop): .stopPlaying
        case (.playing, .play): .pause
        case (.paused, .play): .resume
        case (.playing, .back), (.paused, .back): .skipBack
        case (.playing, .forward), (.paused, .forward): .skipForward

        case (.fault, .record): .refuse
        case (.fault, .stop): .nothing
        case (.fault, .play): .playSelected
        case (.fault, .back): .selectBefore
        case (.fault, .forward): .selectAfter
        }
    }
}

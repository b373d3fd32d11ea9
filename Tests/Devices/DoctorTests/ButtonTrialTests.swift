import Testing
import Transport

@testable import Doctor

@Suite struct ButtonTrialTests {
    private let line = "BTN_PLAY, line 25 of gpiochip0"

    @Test func `a press that was seen has its time`() {
        let check = ButtonTrial.seen(after: .milliseconds(1240)).check(.play, line: line)
        #expect(
            check
                == AcceptanceCheck(
                    .buttons, "play", .ok, "\(line): seen after 1.2 s", ["line": .text(line), "seconds": .number(1.24)])
        )
        #expect(check.exitStatus == 0)
    }

    @Test(arguments: [
        (ButtonTrial.unseen, "no press was seen in 20 s: check its wire and its ground"),
        (.other(.back), "play was asked for, and back was seen"),
        (.heldDown, "is held down, or shorted, or wired the other way round"),
        (.failed("buttons: BTN_PLAY: busy"), "busy"),
    ])
    func `all else fails, with the line and what to check`(trial: ButtonTrial, words: String) {
        let check = trial.check(.play, line: line)
        #expect(check.outcome == .failed && check.exitStatus == 74)
        #expect(check.message.contains(words))
        #expect(check.figures["line"] == .text(line))
    }

    @Test func `what was skipped is not ok`() {
        let check = ButtonTrial.skipped("skipped by the person").check(.play, line: line)
        #expect(check == AcceptanceCheck(.buttons, "play", .skipped, "skipped by the person"))
    }
}

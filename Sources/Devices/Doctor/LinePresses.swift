import Lines
import Panel
package import Settings
package import Takes
package import Transport

/// The presses of a panel whose lines no recorder holds.
package final class LinePresses: PressSource {
    private let clock: any Clock
    private var lines: ButtonLines
    private var input: PanelInput
    private let problems: [Button: String]
    package let heldDown: Set<Button>

    package init(_ settings: Settings.Panel, clock: any Clock) {
        self.clock = clock
        let all = Button.allCases
        var errors: [LineError] = []
        lines = ButtonLines(opening: all.map { InputLine(settings.buttons[$0]) }, errors: &errors)
        var problems: [Button: String] = [:]
        for error in errors {
            for index in error.indices { problems[all[index]] = error.description }
        }
        self.problems = problems
        var down: Set<Button> = []
        for (index, button) in all.enumerated() where lines.isActive(index) ?? false { down.insert(button) }
        heldDown = down
        // A button that is held down counts as one press.
        let never = Duration.seconds(3600)
        input = PanelInput(
            timing: PanelTiming(
                debounce: settings.debounce, hold: never, shutdownHold: never, lockHold: nil, pairHold: never),
            down: down)
    }

    /// The descriptor of the lines. It is negative while a burst of edges settles, so that the caller polls again.
    package var fileDescriptor: Int32 { input.nextDeadline == nil ? lines.fileDescriptor : -1 }

    package func problem(of button: Button) -> String? { problems[button] }

    package func presses() -> [Button] {
        guard lines.fileDescriptor >= 0 else { return [] }
        let now = clock.now()
        let all = Button.allCases
        for edge in lines.readEdges().edges { input.edge(all[edge.index], isDown: edge.isActive, at: edge.at) }
        let events = input.advance(to: now) { [self] button in
            all.firstIndex(of: button).flatMap { lines.isActive($0) }
        }
        return events.compactMap { event in
            if case .press(let button, _) = event { button } else { nil }
        }
    }
}

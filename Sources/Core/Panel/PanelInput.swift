public import Takes
public import Transport

/// Converts edges of the buttons to events of the transport: presses, holds and locks.
///
/// A loop takes the time, then drains the edges, then asks for the events up to that time:
/// ```
/// let now = clock.now()
/// for edge in edges { input.edge(edge.button, isDown: edge.isDown, at: edge.at) }
/// for event in input.advance(to: now, reading: level) { … }
/// sleep(until: input.nextDeadline)
/// ```
/// Time is measured by the edges' own timestamps. A loop that wakes late gets the same events in the same order, with
/// the same instants.
public struct PanelInput: Sendable {
    private let timing: PanelTiming
    private var keys: [Button: Key]
    private var decided: [Decision] = []
    /// Nil if the panel cannot be locked.
    private var lock: LockHold?
    /// Back and forward, which request the kit's own access point.
    private var access: Chord
    /// Stop and play, which adopt the inserted stick, so that takes are sent to it.
    private var adoption: Chord

    /// - Parameter down: buttons that are down already, because they are stuck or were held at power-on. Each has no
    ///   effect until it was released.
    public init(timing: PanelTiming = PanelTiming(), down: Set<Button> = []) {
        self.timing = timing
        keys = [:]
        lock = timing.lockHold.map { LockHold(length: $0) }
        access = Chord(.back, .forward, length: timing.accessHold)
        adoption = Chord(.stop, .play, length: timing.adoptHold)
        for button in Button.allCases {
            keys[button] = Key(Debouncer(window: timing.debounce, isDown: down.contains(button)))
        }
    }

    /// The time of the next decision or check, if no edge comes before, or nil if all buttons are at rest.
    public var nextDeadline: Instant? {
        let ofKeys = keys.values.flatMap { [$0.deadline, $0.debouncer.nextCheck] }
        return (ofKeys + decided.map(\.at) + chords.map(decision)).compactMap(\.self).min()
    }

    /// Whether a button is down, according to the decisions so far.
    public func isDown(_ button: Button) -> Bool {
        keys[button]?.debouncer.isDown ?? false
    }

    /// The buttons that stay closed: since their line was opened, or for longer than a hand holds a button. Presses of
    /// these buttons cannot be detected.
    public func closed(at now: Instant) -> Set<Button> {
        Set(keys.filter { $1.isClosed(at: now) }.map(\.key))
    }

    /// The buttons whose lines are muted.
    public var muted: [Button] {
        Button.allCases.filter { keys[$0]?.debouncer.isMuted ?? false }
    }

    /// Takes an edge: the button goes down or up at the kernel's timestamp.
    /// - Returns: whether the edge muted the button's line.
    @discardableResult
    public mutating func edge(_ button: Button, isDown: Bool, at instant: Instant) -> Bool {
        run(button, to: instant)
        guard let isMuted = keys[button]?.debouncer.edge(isDown: isDown, at: instant), isMuted else { return false }
        release(button)
        return true
    }

    /// The buttons whose muted lines must be checked by `now`.
    public func checks(by now: Instant) -> [Button] {
        Button.allCases.filter { button in
            guard let due = keys[button]?.debouncer.nextCheck else { return false }
            return due <= now
        }
    }

    /// Checks a muted line.
    /// - Parameters:
    ///   - hasMoved: whether the line had edges since it was muted or last checked.
    ///   - isDown: reads whether the button is down, if its edges count again. A button that is down has no effect
    ///     until it was released.
    /// - Returns: whether its edges count again from now on.
    public mutating func check(_ button: Button, hasMoved: Bool, isDown: () -> Bool, at now: Instant) -> Bool {
        guard keys[button]?.check(hasMoved: hasMoved, isDown: isDown, at: now) ?? false else { return false }
        release(button)
        return true
    }

    /// Takes the level of a button's line as read at `instant`, after all earlier edges. It corrects lost edges.
    public mutating func level(_ button: Button, isDown: Bool, at instant: Instant) {
        keys[button]?.debouncer.level(isDown: isDown, at: instant)
    }

    /// A button's line disappeared or was opened again. Gestures in progress are cancelled.
    /// - Parameter isDown: whether the button is down. Then it has no effect until it was released.
    public mutating func reset(_ button: Button, isDown: Bool) {
        release(button)
        decided.removeAll { $0.button == button }
        keys[button] = Key(Debouncer(window: timing.debounce, isDown: isDown))
    }

    /// Ends all holds of this button.
    private mutating func release(_ button: Button) {
        keys[button]?.hold = nil
        if let lock, lock.chord.buttons.contains(button) { self.lock?.release(button) }
        if access.buttons.contains(button) { access.release(button) }
        if adoption.buttons.contains(button) { adoption.release(button) }
    }

    /// The events that are decided by `now`, in the order of their decisions.
    /// - Parameters:
    ///   - now: an instant from before the edges were drained.
    ///   - level: whether a button's line is down right now, or nil if it cannot be read. It is called only for a
    ///     button with a pending decision, so that neither a lone edge of a spike nor a lost release decides anything.
    public mutating func advance(to now: Instant, reading level: (Button) -> Bool?) -> [TransportEvent] {
        for button in Button.allCases where isDue(button, by: now) {
            if let isDown = level(button) { self.level(button, isDown: isDown, at: now) }
        }
        return advance(to: now)
    }

    /// The events that are decided by `now` from the edges alone, in the order of their decisions.
    public mutating func advance(to now: Instant) -> [TransportEvent] {
        for button in Button.allCases {
            run(button, to: now)
        }
        decided.sort { ($0.at, $0.rank) < ($1.at, $1.rank) }
        var events: [TransportEvent] = []
        while true {
            let next = decided.first.flatMap { $0.at <= now ? $0 : nil }
            let due = chords.compactMap { chord in decision(of: chord).map { (at: $0, chord: chord) } }
                .min { $0.at < $1.at }
            if let due, due.at <= now, next.map({ due.at < $0.at }) ?? true {
                if let event = decide(due.chord) { events.append(event) }
                continue
            }
            guard let next else { return events }
            decided.removeFirst()
            if let event = event(next) { events.append(event) }
        }
    }

    /// The button combinations in use.
    private var chords: [Chord] { [lock?.chord, access, adoption].compactMap(\.self) }

    /// Both buttons of a chord were held long enough.
    private mutating func decide(_ chord: Chord) -> TransportEvent? {
        switch chord.buttons {
        case access.buttons: access.decide().map { .openAccess(at: $0) }
        case adoption.buttons: decideAdoption()
        default: lock?.decide()
        }
    }

    private mutating func decideAdoption() -> TransportEvent? {
        guard let pressed = adoption.since(.play), adoption.decide() != nil else { return nil }
        return .adoptStick(pressed: pressed)
    }

    /// The event of a decision about a button. Only buttons of a chord depend on each other.
    private mutating func event(_ decision: Decision) -> TransportEvent? {
        let button = decision.button
        switch decision.outcome {
        case .held(let event): return chords.contains { $0.suppresses(button) } ? nil : event
        case .settled(nil, _): return nil
        case .settled(let turn?, _):
            if access.buttons.contains(button) { access.take(button, turn) }
            if adoption.buttons.contains(button) { adoption.take(button, turn) }
            if let lock, lock.chord.buttons.contains(button) { return self.lock?.turned(button, turn) }
            guard case .pressed(let instant) = turn else { return nil }
            return .press(button, at: instant)
        }
    }

    private func isDue(_ button: Button, by now: Instant) -> Bool {
        if let deadline = keys[button]?.deadline, deadline <= now { return true }
        return chords.contains { $0.buttons.contains(button) && decision(of: $0).map { $0 <= now } ?? false }
    }

    /// When it is certain that both buttons were held together long enough, or nil until then. It is certain only if no
    /// burst that began before the due time ended in a release.
    private func decision(of chord: Chord) -> Instant? {
        guard let due = chord.due else { return nil }
        for button in chord.buttons {
            if let since = keys[button]?.debouncer.unsettledSince, since <= due { return nil }
        }
        let settled = decided.filter { chord.buttons.contains($0.button) && $0.isOfBurst(begunBy: due) }
        return max(due, settled.map(\.at).max() ?? due)
    }

    private mutating func run(_ button: Button, to now: Instant) {
        guard var key = keys[button] else { return }
        while let deadline = key.deadline, deadline <= now {
            guard let outcome = key.decide(button, timing: timing, at: deadline) else { continue }
            decided.append(Decision(button: button, at: deadline, outcome: outcome))
        }
        keys[button] = key
    }

    /// A decision about one button.
    private struct Decision {
        var button: Button
        var at: Instant
        var outcome: Outcome

        enum Outcome {
            /// The event of a hold.
            case held(TransportEvent)
            /// A burst is over. Nil if the level is the same as before.
            case settled(Debouncer.Turn?, since: Instant)
        }

        /// Decisions at the same instant are in the order of the buttons.
        var rank: Int { Button.allCases.firstIndex(of: button) ?? 0 }

        func isOfBurst(begunBy instant: Instant) -> Bool {
            if case .settled(_, let since) = outcome { return since <= instant }
            return false
        }
    }

    private struct Key {
        var debouncer: Debouncer
        var hold: Hold?
        /// No decision may be dated before this, because an open burst delayed it.
        var decidedUpTo: Instant?
        /// The start of the current press, or nil if the button is up, or was down when its line was opened.
        private var pressedAt: Instant?

        init(_ debouncer: Debouncer) {
            self.debouncer = debouncer
        }

        func isClosed(at now: Instant) -> Bool {
            debouncer.isDown && pressedAt.map { now - $0 >= PanelTiming.longestPress } ?? true
        }

        mutating func check(hasMoved: Bool, isDown: () -> Bool, at now: Instant) -> Bool {
            guard debouncer.check(hasMoved: hasMoved, isDown: isDown, at: now) else { return false }
            pressedAt = nil
            return true
        }

        /// When the event of a hold is certain. It is certain only if no burst began before it was due.
        private var sureHold: Instant? {
            guard let due = hold?.due else { return nil }
            if let since = debouncer.unsettledSince, since <= due { return nil }
            return max(due, decidedUpTo ?? due)
        }

        var deadline: Instant? {
            [sureHold, debouncer.settles].compactMap(\.self).min()
        }

        mutating func decide(_ button: Button, timing: PanelTiming, at instant: Instant) -> Decision.Outcome? {
            if sureHold == instant { return hold?.next().map { .held($0) } }
            let since = debouncer.unsettledSince ?? instant
            let turn = debouncer.settle(by: instant)
            decidedUpTo = instant
            switch turn {
            case .pressed(let pressed):
                hold = Hold(button, pressedAt: pressed, timing: timing)
                pressedAt = pressed
            case .released:
                hold = nil
                pressedAt = nil
            case nil: break
            }
            return .settled(turn, since: since)
        }
    }
}

import Takes
public import Transport

/// All patterns of the panel.
extension BlinkPattern {
    /// Record: a sync has put everything on disk. Shown once, over `solid`.
    public static let syncWink = once([.dark(.milliseconds(80))])
    /// Record: more than `unsyncedAfter` of sound is not on disk. Flashes five times a second.
    public static let unsynced = repeating([.lit(.milliseconds(100)), .dark(.milliseconds(100))])
    /// The record lamp shows missing syncs from this much unsynced sound on.
    public static let unsyncedAfter: Duration = .seconds(2)

    /// Play: armed. A short flash every 3 s, which needs two wake-ups.
    public static let armed = repeating([.lit(.milliseconds(60)), .dark(.milliseconds(2940))])
    /// Play: paused. One second lit, one second dark.
    public static let paused = repeating([.lit(.seconds(1)), .dark(.seconds(1))])
    /// Play: another take is selected. Two quick flashes, then a rest that separates them from the next pattern.
    public static let selected = once(quickFlashes(2))
    /// Play: there is no further take in this direction. Four quick flashes.
    public static let atTheEnd = once(quickFlashes(4))
    /// Play: the button has no effect in this state. Three flashes, twice as quick as for a selection.
    public static let refused = once(flicker(isLit: true))
    /// `refused` on a kit's only lamp while it is lit for recording: three winks.
    public static let refusedWinks = once(flicker(isLit: false))
    /// Play: the panel was locked or unlocked. Two long flashes.
    public static let lockChanged = once(longFlashes(isLit: true))
    /// `lockChanged` on a kit's only lamp while it is lit for recording: two long winks.
    public static let lockChangedWinks = once(longFlashes(isLit: false))

    /// Upload: sending. A pulse every 2 s.
    public static let sending = repeating([.lit(.milliseconds(500)), .dark(.milliseconds(1500))])
    /// Upload: the inserted stick is unknown, and receives nothing before a person adopts it. Three quick flashes every
    /// 5 s.
    public static let stickOffered = repeating(quickFlashes(3) + [.dark(.milliseconds(4300))])
    /// Upload: phones may be paired. Ten flashes a second, twice as quick as `unsynced`, which a kit's only lamp shows
    /// too.
    public static let pairing = repeating([.lit(.milliseconds(50)), .dark(.milliseconds(50))])

    /// Fault: the number of flashes is the code. They are slow enough to count, and a pause follows.
    public static func fault(_ code: Fault.Code) -> BlinkPattern {
        let flash: [Segment] = [.lit(.milliseconds(200)), .dark(.milliseconds(300))]
        return repeating((0..<code.rawValue).flatMap { _ in flash } + [.dark(.milliseconds(1200))])
    }

    private static func quickFlashes(_ count: Int) -> [Segment] {
        (0..<count).flatMap { _ in [.lit(.milliseconds(100)), .dark(.milliseconds(100))] } + [.dark(.milliseconds(100))]
    }

    private static func longFlashes(isLit: Bool) -> [Segment] {
        (0..<2).flatMap { _ in
            [
                Segment(isLit: isLit, length: .milliseconds(600)),
                Segment(isLit: !isLit, length: .milliseconds(300)),
            ]
        }
    }

    private static func flicker(isLit: Bool) -> [Segment] {
        (0..<3).flatMap { _ in
            [
                Segment(isLit: isLit, length: .milliseconds(50)),
                Segment(isLit: !isLit, length: .milliseconds(50)),
            ]
        } + [Segment(isLit: !isLit, length: .milliseconds(200))]
    }
}

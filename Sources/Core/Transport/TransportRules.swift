/// The durations that the settings give to the transport.
public struct TransportRules: Hashable, Sendable {
    /// A record within this time after a stop continues the same take. Zero disables it.
    public var rejoin = Duration.zero
    /// The longest take. A longer take ends automatically. Zero disables it.
    public var longest = Duration.zero
    /// After this time another take follows without a missing frame. Zero disables it.
    public var newTakeEvery = Duration.zero
    /// The step of the buttons back and forward during playback.
    public var skip = Duration.seconds(5)
    /// Whether the card stays open while idle.
    public var isListening = true

    /// How long a take waits for its card to return.
    public static let cardPatience = Duration.seconds(600)
    /// How long a requested take waits for the card and the storage to answer.
    public static let armingPatience = Duration.seconds(5)
    /// How long a take that continues in another folder waits for the folder. Memory holds its sound in the meantime.
    public static let folderPatience = Duration.seconds(10)
    /// The next take is ordered this long after its instant, because a stop from before that instant may arrive late.
    /// The writer is further behind than this, so no frame has passed it.
    public static let followDelay = Duration.milliseconds(50)
    /// How long a finished deck stays closed if the power stays on.
    public static let rest = Duration.seconds(60)

    /// Whether a take of this length has reached a limit.
    func isFull(_ length: Duration) -> Bool {
        [longest, newTakeEvery].contains { $0 > .zero && length >= $0 }
    }

    /// The settings' defaults, except that `rejoin` is zero.
    public init() {}
}

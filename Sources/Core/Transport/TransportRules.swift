/// The times that the settings give to the transport.
public struct TransportRules: Hashable, Sendable {
    /// How long after stop the next record goes on with the same take; zero: never.
    public var rejoin = Duration.zero
    /// After this a take ends by itself; zero: never.
    public var longest = Duration.zero
    /// After this a take is followed by another without a missing frame; zero: never.
    public var newTakeEvery = Duration.zero
    /// How far the buttons back and forward move while playing.
    public var skip = Duration.seconds(5)
    /// Whether the card stays open while idle.
    public var isListening = true

    /// How long a take waits for its card to come back.
    public static let cardPatience = Duration.seconds(600)
    /// How long a take that was asked for waits for the card and the storage to answer.
    public static let armingPatience = Duration.seconds(5)
    /// How long a take that goes on in another folder waits for that: memory holds its sound meanwhile.
    public static let folderPatience = Duration.seconds(10)
    /// How late a take is followed by the next: a stop of before that instant may become known only now. The writer stays further
    /// behind, so that no frame has passed by.
    public static let followDelay = Duration.milliseconds(50)
    /// How long a deck that finished stays closed, should the power stay on.
    public static let rest = Duration.seconds(60)

    /// Whether a take of that length has reached a limit.
    func isFull(_ length: Duration) -> Bool {
        [longest, newTakeEvery].contains { $0 > .zero && length >= $0 }
    }

    /// The settings' defaults, except that nothing is rejoined.
    public init() {}
}

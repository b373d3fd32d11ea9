/// The result of asking a card what it offers in one direction.
public struct CardSurvey: Sendable {
    /// Nil if the card has no device for that direction, or could not be asked.
    public var offers: Offers?
    /// The process that holds the card, or nil if it is free.
    public var busyBy: PCMOwner?
    /// Why the card could not be asked, in one sentence, or nil if it could.
    public var error: String?

    public init(offers: Offers? = nil, busyBy: PCMOwner? = nil, error: String? = nil) {
        self.offers = offers
        self.busyBy = busyBy
        self.error = error
    }
}

/// What was found when a card was asked what it offers in one direction.
public struct CardSurvey: Sendable {
    /// What it offers; nil: it has nothing for that direction, or could not be asked.
    public var offers: Offers?
    /// Who holds it; nil: it is free.
    public var busyBy: PCMOwner?
    /// Why it could not be asked, in one sentence; nil: it could.
    public var error: String?

    /// What was found.
    public init(offers: Offers? = nil, busyBy: PCMOwner? = nil, error: String? = nil) {
        self.offers = offers
        self.busyBy = busyBy
        self.error = error
    }
}

/// Why a take could not be played, or not to its end.
enum PlaybackError: Error, Hashable, CustomStringConvertible {
    /// The card.
    case card(String)
    /// The card, which the recording may hold.
    case cardInUse(String)
    /// The take.
    case take(String)

    var description: String {
        switch self {
        case .card(let text), .cardInUse(let text): text
        case .take(let text): "play: \(text)"
        }
    }

    static func catching<Result>(_ body: () throws -> Result) throws(PlaybackError) -> Result {
        do {
            return try body()
        } catch let error as PlaybackError {
            throw error
        } catch {
            throw .take("\(error)")
        }
    }
}

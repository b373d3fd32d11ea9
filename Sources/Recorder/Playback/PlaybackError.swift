enum PlaybackError: Error, Hashable, CustomStringConvertible {
    /// The card failed.
    case card(String)
    /// The card is in use, perhaps by the recording.
    case cardInUse(String)
    /// The take could not be read or converted.
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

/// libsndfile could not do something with a sound file.
public struct SoundFileError: Error, Hashable, CustomStringConvertible {
    /// What was attempted: "open", "read", "seek".
    public var operation: String
    /// On what.
    public var path: String
    /// What the library, or this one, says.
    public var problem: String

    /// One sentence, such as `open /takes/a.wav: Format not recognised`.
    public var description: String { "\(operation) \(path): \(problem)" }
}

/// libsndfile could not do something with a sound file.
public struct SoundFileError: Error, Hashable, CustomStringConvertible {
    /// What was attempted: "open", "read", "seek", "write".
    public var operation: String
    /// On what.
    public var path: String
    /// The error, in the library's words or in ours.
    public var problem: String
    /// What the storage said, where the library only handed it on.
    public var storage: FileError?

    /// One sentence, such as `open /takes/a.wav: Format not recognised`.
    public var description: String { storage?.description ?? "\(operation) \(path): \(problem)" }
}

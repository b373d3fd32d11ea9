public import Files

/// An operation on a sound file that libsndfile could not carry out.
public struct SoundFileError: Error, Hashable, CustomStringConvertible {
    /// The attempted operation: "open", "read", "seek", "write".
    public var operation: String
    public var path: String
    /// The problem, in the library's words or in ours.
    public var problem: String
    /// The error of the storage, if the library only passed it on.
    public var storage: FileError?

    /// One sentence, such as `open /takes/a.wav: Format not recognised`.
    public var description: String { storage?.description ?? "\(operation) \(path): \(problem)" }
}

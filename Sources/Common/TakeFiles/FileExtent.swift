/// A stretch of a file that lies in one piece on its device.
public struct FileExtent: Hashable, Sendable {
    /// Where it begins in the file, in bytes.
    public var offset: Int64
    /// Where it begins on the device that holds the file system, in bytes.
    public var place: Int64
    /// How long it is, in bytes.
    public var byteCount: Int64

    /// A stretch of a file.
    public init(offset: Int64, place: Int64, byteCount: Int64) {
        self.offset = offset
        self.place = place
        self.byteCount = byteCount
    }
}

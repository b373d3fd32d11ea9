/// A contiguous extent of a file on its device.
public struct FileExtent: Hashable, Sendable {
    /// The start in the file, in bytes.
    public var offset: Int64
    /// The start on the device that holds the file system, in bytes.
    public var place: Int64
    public var byteCount: Int64

    public init(offset: Int64, place: Int64, byteCount: Int64) {
        self.offset = offset
        self.place = place
        self.byteCount = byteCount
    }
}

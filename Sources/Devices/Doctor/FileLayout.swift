import Files

/// Converts between the offsets of a file and the places of its blocks on the device.
struct FileLayout: Equatable {
    /// In the order of the file.
    private var byOffset: [FileExtent]
    /// In the order of the device.
    private var byPlace: [FileExtent]

    init(_ extents: [FileExtent]) {
        byOffset = extents.sorted { $0.offset < $1.offset }
        byPlace = extents.sorted { $0.place < $1.place }
    }

    /// The contiguous pieces in the order of the device.
    var pieces: [FileExtent] { byPlace }

    /// The place of a file's byte on the device, or nil if the file does not map it.
    func place(ofOffset offset: Int64) -> Int64? {
        Self.find(offset, in: byOffset, by: \.offset).map { $0.place + offset - $0.offset }
    }

    /// The file's byte at a place of the device, or nil if the file has no byte there.
    func offset(ofPlace place: Int64) -> Int64? {
        Self.find(place, in: byPlace, by: \.place).map { $0.offset + place - $0.place }
    }

    /// The last extent that begins at or before `value`, or nil if it does not contain `value`.
    private static func find(_ value: Int64, in extents: [FileExtent], by key: KeyPath<FileExtent, Int64>)
        -> FileExtent?
    {
        var (low, high) = (0, extents.count)
        while low < high {
            let middle = (low + high) / 2
            if extents[middle][keyPath: key] <= value { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let extent = extents[low - 1]
        return value - extent[keyPath: key] < extent.byteCount ? extent : nil
    }
}

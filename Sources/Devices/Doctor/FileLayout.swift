import TakeFiles

/// Where the blocks of a file lie on its device, and back.
struct FileLayout: Equatable {
    /// In the order of the file.
    private var byOffset: [FileExtent]
    /// In the order of the device.
    private var byPlace: [FileExtent]

    /// A file in these pieces.
    init(_ extents: [FileExtent]) {
        byOffset = extents.sorted { $0.offset < $1.offset }
        byPlace = extents.sorted { $0.place < $1.place }
    }

    /// The places that it has, in their order, each as long as it is in one piece.
    var pieces: [FileExtent] { byPlace }

    /// Where a byte of the file lies on the device; nil: nowhere.
    func place(ofOffset offset: Int64) -> Int64? {
        Self.find(offset, in: byOffset, by: \.offset).map { $0.place + offset - $0.offset }
    }

    /// Which byte of the file lies at a place of the device; nil: none.
    func offset(ofPlace place: Int64) -> Int64? {
        Self.find(place, in: byPlace, by: \.place).map { $0.offset + place - $0.place }
    }

    /// The last extent that begins at or before `value`, if it reaches there.
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

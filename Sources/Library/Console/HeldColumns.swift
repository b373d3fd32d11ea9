import Spectra

/// The latest columns of the live sound, as numbered records. The oldest are dropped.
struct HeldColumns {
    let format: ColumnFormat
    /// The number of the next record.
    private(set) var end = 0
    /// Record n is at place n modulo `mostRecords`.
    private var bytes: [UInt8] = []
    private let recordByteCount: Int
    private let mostRecords: Int

    /// A minute, or as many seconds as this memory holds.
    private static let seconds = 60
    static let mostBytes = 4 << 20

    init(_ format: ColumnFormat) {
        self.format = format
        recordByteCount = LiveColumns.recordByteCount(channels: format.channels)
        mostRecords = max(1, min(Self.seconds * format.columnsPerSecond, Self.mostBytes / recordByteCount))
    }

    /// The number of the oldest record.
    var first: Int { end - bytes.count / recordByteCount }

    /// - Parameter records: whole records.
    mutating func append(_ records: [UInt8]) {
        for start in stride(from: 0, to: records.count, by: recordByteCount) {
            let record = records[start..<start + recordByteCount]
            let place = place(of: end)
            if place.lowerBound == bytes.count { bytes += record } else { bytes.replaceSubrange(place, with: record) }
            end += 1
        }
    }

    private func place(of number: Int) -> Range<Int> {
        let start = number % mostRecords * recordByteCount
        return start..<start + recordByteCount
    }

    /// Records from a number on, and the number of the one after them. A reader that is too slow skips to the middle of
    /// the records.
    /// - Parameter byteCount: further records are left out once there are so many bytes.
    func records(from number: Int, untilBytes byteCount: Int) -> (bytes: [UInt8], next: Int) {
        var next = number < first ? first + (end - first) / 2 : number
        var found: [UInt8] = []
        while next < end, found.count < byteCount {
            found += bytes[place(of: next)]
            next += 1
        }
        return (found, next)
    }

    /// The head of an answer that begins with the oldest record: 32 bytes. Call it once there are records.
    var head: [UInt8] {
        var head = Array("FFSPECT1".utf8)
        for number in [format.channels, ColumnFormat.bands, format.rateHz, format.window] {
            head += LiveColumns.bytes(of: Int64(number), count: 4)
        }
        head += bytes[place(of: first).prefix(8)]
        return head
    }
}

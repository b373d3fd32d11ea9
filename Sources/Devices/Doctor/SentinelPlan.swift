import Files

/// The positions of sentinels in a file that fills a storage. They reveal all usual false cards.
///
/// A false card has less memory than it reports. It either drops data written above the real capacity, or writes the
/// data over lower data. Most often it ignores the upper bits of an address, so that places repeat with a period. Then
/// a write above the real end destroys the data below, including takes. Three kinds of sentinels are written in
/// sequence, so that the usual periods are found without such damage:
///
/// 1. `pairs`: for each likely period, the shortest first, two sentinels in the file itself, one period apart. A card
///    with that period loses the lower one and nothing else.
/// 2. `grid`: sentinels at regular places of the device, in passes, each twice as dense as the one before. None is at a
///    multiple of their distance, where file systems keep their metadata.
/// 3. `run`: sentinels without a gap, over two steps of the grid at its final density. With any period, the grid hits
///    the run.
struct SentinelPlan: Equatable {
    /// Two sentinels that are `period` bytes apart on the device. `low` and `high` are offsets in the file.
    struct Pair: Equatable {
        var low: Int64
        var high: Int64
        var period: Int64
    }

    var pairs: [Pair]
    /// The passes of the grid, as offsets in the file. Each pass contains only new offsets.
    var grid: [[Int64]]
    /// The length of the run from the beginning of the file, in bytes.
    var runByteCount: Int64
    /// The distance between two sentinels of the whole grid, in bytes of the device.
    var step: Int64

    /// The smallest real capacity that is considered, in bytes.
    static let shortestPeriod: Int64 = 16 << 20
    /// The smallest distance of the grid, in bytes.
    static let shortestStep: Int64 = 1 << 20
    /// The largest number of sentinels in the first pass.
    static let firstPassCount: Int64 = 256
    /// The largest number of sentinels in all passes.
    static let gridCount: Int64 = 4096
    /// The longest run, in bytes. A longer one would take too long to write.
    static let longestRun: Int64 = 64 << 20

    private static let block = Int64(Sentinel.byteCount)

    /// - Parameters:
    ///   - byteCount: the size of the file.
    ///   - device: the device of the file system.
    init(_ layout: FileLayout, byteCount: Int64, device: BackingDevice) {
        pairs = Self.pairs(
            layout, periods: Self.periods([device.byteCount, device.diskByteCount]), start: device.start)
        let end = layout.pieces.last.map { $0.place + $0.byteCount } ?? 0
        let step = Self.step(byteCount: end, count: Self.gridCount)
        self.step = step
        grid = []
        var pass = Self.step(byteCount: end, count: Self.firstPassCount)
        while true {
            let isFirst = grid.isEmpty
            let first = step / 2 + (isFirst ? 0 : pass)
            let places = stride(from: first, to: end, by: isFirst ? Int(pass) : Int(2 * pass))
            grid.append(places.compactMap { layout.offset(ofPlace: $0) }.map { $0 / Self.block * Self.block })
            guard pass > step else { break }
            pass /= 2
        }
        runByteCount = min(2 * step, Self.longestRun, byteCount / Self.block * Self.block)
    }

    /// The smallest power of two, at least `shortestStep`, that divides the storage into at most `count` parts.
    private static func step(byteCount: Int64, count: Int64) -> Int64 {
        var step = shortestStep
        while byteCount / step >= count { step *= 2 }
        return step
    }

    /// The likely periods, the shortest first: halves, quarters and so on of the device, and the usual sizes of memory.
    static func periods(_ deviceSizes: [Int64]) -> [Int64] {
        var periods: Set<Int64> = []
        for size in deviceSizes where size > 0 {
            var part = size / 2
            while part >= shortestPeriod {
                periods.insert(part / block * block)
                part /= 2
            }
            var power = shortestPeriod
            while power < size {
                periods.insert(power)
                power *= 2
            }
        }
        return periods.sorted()
    }

    /// Pairs for the parts of a period that was found, because the real period may be any of them.
    static func pairs(_ layout: FileLayout, partsOf period: Int64, start: Int64) -> [Pair] {
        let parts = (2...16).filter { period % ($0 * block) == 0 }.map { period / $0 }.filter { $0 >= shortestPeriod }
        return pairs(layout, periods: parts.sorted() + [period], start: start).filter { $0.period < period }
    }

    /// For each period, the first pair whose upper sentinel would also fall into the file with every longer period.
    /// - Parameter start: the offset of the partition on the disk, because periods count from the start of the disk.
    private static func pairs(_ layout: FileLayout, periods: [Int64], start: Int64) -> [Pair] {
        let candidates = layout.pieces.prefix(64).flatMap { piece in
            stride(from: Int64(0), to: piece.byteCount, by: 1 << 20).prefix(64).map { piece.place + $0 }
        }
        return periods.enumerated().compactMap { index, period in
            let longer = periods[(index + 1)...]
            for low in candidates where start + low < period {
                let high = low + period
                // If blocks of the file system are smaller, a sentinel of one piece may overlap two of another.
                guard let lowOffset = layout.offset(ofPlace: low), let highOffset = layout.offset(ofPlace: high),
                    lowOffset % block == highOffset % block,
                    longer.allSatisfy({ $0 > high || layout.offset(ofPlace: high - $0) != nil })
                else { continue }
                return Pair(low: lowOffset / block * block, high: highOffset / block * block, period: period)
            }
            return nil
        }
    }
}

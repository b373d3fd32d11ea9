/// The levels of a file of columns. Level 0 has the columns of the sound; a column of a coarser level is the greatest of
/// 16 or 4 columns of the level below.
///
/// Level 1 is 16 times as coarse as level 0, and each further level 4 times as coarse as the one below, until a level has
/// at most 512 columns. All levels above level 0 together take at most 1/12 of its space.
public struct ColumnLevels: Hashable, Sendable {
    public struct Level: Hashable, Sendable {
        /// The columns of level 0 in one column, except that the last one may have fewer.
        public let span: Int64
        /// The number of columns.
        public let count: Int64
        /// The index of its first column in the file.
        let first: Int64
        /// The columns of the level below in one column.
        let factor: Int
    }

    /// From the finest to the coarsest.
    public let levels: [Level]

    static let fewColumns: Int64 = 512

    init(columnCount: Int64) {
        var levels = [Level(span: 1, count: columnCount, first: 0, factor: 1)]
        while let below = levels.last, below.count > Self.fewColumns {
            let factor = levels.count == 1 ? 16 : 4
            levels.append(
                Level(
                    span: below.span * Int64(factor), count: (below.count + Int64(factor) - 1) / Int64(factor),
                    first: below.first + below.count, factor: factor))
        }
        self.levels = levels
    }

    /// The columns of all levels.
    var total: Int64 { levels.reduce(0) { $0 + $1.count } }

    /// The finest level of which at most `most` columns show this many columns of level 0, or the coarsest one.
    public func index(showing columns: Int64, most: Int) -> Int {
        levels.firstIndex { (columns + $0.span - 1) / $0.span <= Int64(most) } ?? levels.count - 1
    }
}

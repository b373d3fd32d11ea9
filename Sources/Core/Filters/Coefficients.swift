/// The sections of a design at its rate, without state.
struct Coefficients {
    /// High-pass and low-pass of order 8.
    static let mostStages = 8

    /// The sections in order. Only the first `count` of them are used.
    private(set) var stages: InlineArray<8, Stage>
    /// With 0 the signal passes unchanged.
    private(set) var count = 0
    /// The product of the sections' gains.
    private(set) var gain = 1.0

    init(_ design: FilterDesign) {
        stages = InlineArray(repeating: Stage(a1: 0, a2: 0, c1: 0, c2: 0, gain: 1))
        for filter in design.filters {
            for stage in filter.stages {
                stages[count] = stage
                gain *= stage.gain
                count += 1
            }
        }
    }
}

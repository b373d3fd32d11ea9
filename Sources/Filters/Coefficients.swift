/// What a design comes to at its rate: the sections, apart from the sound that passes them.
struct Coefficients {
    /// High-pass and low-pass of order 8.
    static let mostStages = 8

    /// The sections in order; the first `count` of them mean something.
    private(set) var stages: InlineArray<8, Stage>
    /// How many sections there are; 0: the signal passes unchanged.
    private(set) var count = 0
    /// What the sections' gains come to.
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

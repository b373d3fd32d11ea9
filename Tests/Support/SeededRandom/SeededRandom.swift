/// The generator of Steele, Lea and Flood, 2014: what it yields depends on the seed alone, on any machine.
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    /// What begins with a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The source of one input of a run: input 70 000 can be made again without the 69 999 before it.
    public init(seed: UInt64, index: UInt64) {
        var mixer = SeededRandom(seed: seed &+ index &* 0xd134_2543_de82_ef95)
        state = mixer.next()
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 to `bound` − 1.
    public mutating func below(_ bound: Int) -> Int {
        Int(next() % UInt64(max(1, bound)))
    }

    /// True once in `count` times.
    public mutating func once(in count: Int) -> Bool {
        below(count) == 0
    }

    /// One of them.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}

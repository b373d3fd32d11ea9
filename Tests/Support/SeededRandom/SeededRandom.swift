/// The generator of Steele, Lea and Flood, 2014 (SplitMix64). Its numbers depend only on the seed, on every machine.
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    /// The source of one input of a run: input 70 000 can be reproduced without the 69 999 before it.
    public init(seed: UInt64, index: UInt64) {
        var mixer = SeededRandom(seed: seed &+ index &* 0xd134_2543_de82_ef95)
        state = mixer.next()
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` − 1.
    public mutating func below(_ bound: Int) -> Int {
        Int(next() % UInt64(max(1, bound)))
    }

    /// True with a probability of 1 in `count`.
    public mutating func once(in count: Int) -> Bool {
        below(count) == 0
    }

    /// A random element.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}

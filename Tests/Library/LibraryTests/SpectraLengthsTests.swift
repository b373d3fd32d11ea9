import DiskCalls
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct SpectraLengthsTests {
    private let disk: [String: Int64] = ["a": 1, "b": 20, "c": 300]

    @Test func `a file is measured once, and again after it was replaced or was gone`() {
        var lengths = SpectraLengths()
        var measured: [String] = []
        func follow(_ bases: Set<String>) -> [String: Int64] {
            lengths.follow(bases) { base in
                measured.append(base)
                return disk[base]
            }
            return lengths.byteCounts
        }
        #expect(follow(["a"]) == ["a": 1])
        #expect(follow(["a", "b"]) == ["a": 1, "b": 20])
        lengths.forget("a")
        #expect(follow(["a", "b"]) == ["a": 1, "b": 20])
        #expect(follow(["a"]) == ["a": 1])
        #expect(follow(["a", "b"]) == ["a": 1, "b": 20])
        #expect(measured == ["a", "b", "a", "b"])
    }

    @Test func `a file that is gone before it is measured has no length, and may come back`() {
        var lengths = SpectraLengths()
        lengths.follow(["d"]) { _ in nil }
        #expect(lengths.byteCounts == [:])
        lengths.follow(["d"]) { _ in 4 }
        #expect(lengths.byteCounts == ["d": 4])
    }
}

/// What was checked so far. Each check prints a line.
struct Checks {
    private(set) var passed = 0
    private(set) var failed = 0

    mutating func check(_ fact: StaticString, _ holds: Bool) {
        if holds {
            passed += 1
            print("passed: \(fact)")
        } else {
            failed += 1
            print("FAILED: \(fact)")
        }
    }
}

/// Bytes that look random, the same in every run.
func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 1
    var bytes: [UInt8] = []
    for _ in 0..<count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 40))
    }
    return bytes
}

import CSelfTest

func runAll() -> Checks {
    var checks = Checks()
    checkFilters(&checks)
    checkRing(&checks)
    return checks
}

self_test_begin()
let checks = runAll()
print("\(checks.passed) passed, \(checks.failed) failed")
self_test_exit(checks.failed == 0 ? 0 : 1)

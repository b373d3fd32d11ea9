import Glibc

/// How many of many equal cases a test has: all of them if FIELDFARE_LONG is set (`deploy/test --long`), usually some.
public func full(_ count: Int, usually few: Int) -> Int {
    getenv("FIELDFARE_LONG") == nil ? few : count
}

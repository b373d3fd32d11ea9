import Glibc

/// The number of cases in a test with many similar ones: all if FIELDFARE_LONG is set (`deploy/test --long`), usually a
/// few.
public func full(_ count: Int, usually few: Int) -> Int {
    getenv("FIELDFARE_LONG") == nil ? few : count
}

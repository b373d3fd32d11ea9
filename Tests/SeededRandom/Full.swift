/// How many of many equal cases a test has: all of them where tests are optimised (`deploy/test --long`), some in a debug build,
/// which takes ten times as long for each.
public func full(_ count: Int, inDebug few: Int) -> Int {
    #if DEBUG
        few
    #else
        count
    #endif
}

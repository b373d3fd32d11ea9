/// A file of the time zone database (TZif, RFC 9636), made for a test.
public enum ZoneFile {
    /// - Parameters:
    ///   - times: when the offset changes, in seconds since 1970.
    ///   - offsets: in seconds, of the time before the first change and after each one.
    ///   - footer: the rules for later times.
    public static func bytes(times: [Int64], offsets: [Int], footer: String) -> [UInt8] {
        func number(_ value: Int64, _ count: Int) -> [UInt8] {
            (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
        }
        func block(_ times: [Int64], _ offsets: [Int], timeBytes: Int) -> [UInt8] {
            let counts = [0, 0, 0, times.count, offsets.count, 4]
            let kinds = times.indices.map { UInt8($0 + 1) }
            return Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts.flatMap { number(Int64($0), 4) }
                + times.flatMap { number($0, timeBytes) } + kinds
                + offsets.flatMap { number(Int64($0), 4) + [0, 0] } + Array("LMT\0".utf8)
        }
        // Readers of the second block skip the first one.
        return block([], [0], timeBytes: 4) + block(times, offsets, timeBytes: 8) + Array("\n\(footer)\n".utf8)
    }
}

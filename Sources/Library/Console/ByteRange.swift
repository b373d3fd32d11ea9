/// The range in a request's `Range` header (RFC 9110, 14.2): one range of bytes.
enum ByteRange: Equatable {
    /// The whole file: no range, several ranges, or a malformed one.
    case whole
    case part(Range<Int64>)
    /// The range includes no byte of the file.
    case unsatisfiable

    /// - Parameters:
    ///   - field: the header's value, or nil if it is missing.
    ///   - byteCount: the length of the file.
    init(_ field: String?, of byteCount: Int64) {
        self = .whole
        guard let field, field.lowercased().hasPrefix("bytes="), !field.contains(",") else { return }
        let bounds = field.dropFirst("bytes=".count).split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return }
        let number = { (text: Substring) -> Int64? in
            !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) ?? .max : nil
        }
        switch (number(bounds[0]), number(bounds[1])) {
        case (nil, let last?) where bounds[0].isEmpty:
            self = last > 0 && byteCount > 0 ? .part(max(0, byteCount - last)..<byteCount) : .unsatisfiable
        case (let first?, nil) where bounds[1].isEmpty:
            self = first < byteCount ? .part(first..<byteCount) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < byteCount ? .part(first..<(min(last, byteCount - 1) + 1)) : .unsatisfiable
        default: break
        }
    }
}

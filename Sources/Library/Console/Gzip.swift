import CZlib

enum Gzip {
    /// Compresses all bytes at once, in the gzip format (RFC 1952).
    /// - Returns: nil without enough memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard unsafe fieldfare_deflate_init_gzip(&stream) == Z_OK else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, uLong(bytes.count))))
        // Safe: both buffers live for the call, and the library writes no more than the output holds.
        let status = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = uInt(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = uInt(output.count)
                return unsafe deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        return Array(output.prefix(unsafe Int(stream.total_out)))
    }

    /// Whether a browser accepts gzip, by a request's `Accept-Encoding` (RFC 9110, 12.5.3). An entry for gzip takes
    /// precedence over `*`.
    static func isAccepted(by field: String?) -> Bool {
        let codings = (field ?? "").lowercased().split(separator: ",").map { coding in
            coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        guard let found = codings.first(where: { $0.first == "gzip" }) ?? codings.first(where: { $0.first == "*" })
        else {
            return false
        }
        guard let quality = found.dropFirst().first(where: { $0.hasPrefix("q=") }) else { return true }
        return (Double(quality.dropFirst(2)) ?? 0) > 0
    }
}

extension [UInt8] {
    /// Appends a number in little-endian order.
    package mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Appends the bytes of `text`, truncated or zero-padded to `count` bytes. A character is never split.
    mutating func append(_ text: String, filling count: Int) {
        var bytes: [UInt8] = []
        for character in text {
            let next = Array(character.utf8)
            guard bytes.count + next.count <= count else { break }
            bytes += next
        }
        self += bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }

    /// Appends a RIFF chunk: its name, its size, its content, and a zero byte if the size of the content is odd.
    mutating func append(chunk name: StaticString, _ content: [UInt8]) {
        append("\(name)", filling: 4)
        append(littleEndian: UInt32(content.count))
        self += content
        if content.count % 2 == 1 { append(0) }
    }
}

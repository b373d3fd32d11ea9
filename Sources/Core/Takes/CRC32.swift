/// A 32-bit cyclic redundancy check. It processes eight bytes a step, with eight tables.
package struct CRC32: Sendable {
    private var register: UInt32 = 0xffff_ffff
    private let tables: [UInt32]

    package struct Polynomial: Sendable {
        fileprivate let tables: [UInt32]

        /// 0x1edc6f41 (Castagnoli: RFC 3720, appendix B.4).
        package static let castagnoli = Polynomial(reflected: 0x82f6_3b78)
        /// 0x04c11db7 (IEEE 802.3, and ZIP archives).
        package static let ieee = Polynomial(reflected: 0xedb8_8320)

        /// Table `n` advances a byte over `n` more bytes.
        private init(reflected polynomial: UInt32) {
            var tables = [UInt32](repeating: 0, count: 8 * 256)
            for byte in 0..<256 {
                var register = UInt32(byte)
                for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 0 ? 0 : polynomial) }
                tables[byte] = register
            }
            for index in 256..<8 * 256 {
                let before = tables[index - 256]
                tables[index] = before >> 8 ^ tables[Int(before & 0xff)]
            }
            self.tables = tables
        }
    }

    package init(_ polynomial: Polynomial) { tables = polynomial.tables }

    package var value: UInt32 { ~register }

    package mutating func update(_ bytes: [UInt8]) {
        let all = self.tables
        let tables = all.span
        let bytes = bytes.span
        var register = register
        var index = 0
        let end = bytes.count
        while index + 8 <= end {
            let first =
                register
                ^ (UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                    | UInt32(bytes[index + 3]) << 24)
            let low = tables[0x700 + Int(first & 0xff)] ^ tables[0x600 + Int(first >> 8 & 0xff)]
            let middle = tables[0x500 + Int(first >> 16 & 0xff)] ^ tables[0x400 + Int(first >> 24)]
            let high = tables[0x300 + Int(bytes[index + 4])] ^ tables[0x200 + Int(bytes[index + 5])]
            let top = tables[0x100 + Int(bytes[index + 6])] ^ tables[Int(bytes[index + 7])]
            register = low ^ middle ^ high ^ top
            index += 8
        }
        while index < end {
            register = register >> 8 ^ tables[Int((register ^ UInt32(bytes[index])) & 0xff)]
            index += 1
        }
        self.register = register
    }
}

import Takes

/// CRC-32C, as used by Google Cloud Storage.
package struct CRC32C: Checksum {
    private var check = CRC32(.castagnoli)

    package init() {}

    package var value: UInt32 { check.value }

    package mutating func update(_ bytes: [UInt8]) { check.update(bytes) }
}

import Takes

/// CRC-32C, as Google Cloud Storage has it.
package struct CRC32C: Checksum {
    private var check = CRC32(.castagnoli)

    /// Of no bytes.
    package init() {}

    /// The checksum of all bytes so far.
    package var value: UInt32 { check.value }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { check.update(bytes) }
}

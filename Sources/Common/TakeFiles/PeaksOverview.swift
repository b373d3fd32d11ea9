public import Files

/// The waveform of a take in a few columns for display, read from its file `STEM.dat`.
public struct PeaksOverview: Hashable, Sendable {
    /// The largest magnitude of all channels in each column, from the take's beginning to its end; full scale is 128.
    public var magnitudes: [Int]

    /// Bytes that are read at a time.
    private static let pieceByteCount = 1 << 18

    /// Reads the file at `path` in pieces into at most `columns` columns. A take with fewer pixels gives fewer columns.
    ///
    /// Nil if the file does not exist or is not in the format of `PeaksFile`.
    public init?(reading path: String, columns: Int, files: FileSystem = FileSystem()) {
        do throws(FileError) {
            let file = try files.openTakeFile(path)
            let head = try files.read(file, at: 0, count: PeaksFile.headerByteCount)
            guard let shape = PeaksFile.shape(header: head),
                try files.length(file) == Int64(PeaksFile.headerByteCount + shape.length * shape.bytesPerPixel)
            else { return nil }
            let count = min(max(1, columns), shape.length)
            magnitudes = [Int](repeating: 0, count: count)
            var pixel = 0
            while pixel < shape.length {
                let most = max(1, Self.pieceByteCount / shape.bytesPerPixel)
                let pixels = min(most, shape.length - pixel)
                let bytes = try files.read(
                    file, at: Int64(PeaksFile.headerByteCount + pixel * shape.bytesPerPixel),
                    count: pixels * shape.bytesPerPixel)
                guard bytes.count == pixels * shape.bytesPerPixel else { return nil }
                for start in stride(from: 0, to: bytes.count, by: shape.bytesPerPixel) {
                    let column = pixel * count / shape.length
                    for byte in bytes[start..<start + shape.bytesPerPixel] {
                        magnitudes[column] = max(magnitudes[column], Int(Int8(bitPattern: byte).magnitude))
                    }
                    pixel += 1
                }
            }
        } catch {
            return nil
        }
    }
}

extension PeaksFile {
    /// The layout of the pixels in a file.
    package struct Shape: Hashable {
        package var channels: Int
        package var length: Int
        package var bytesPerPixel: Int { 2 * channels }
    }

    /// Parses the bytes before the first pixel. Nil if they have another version or resolution, or are damaged.
    package static func shape(header bytes: [UInt8]) -> Shape? {
        guard bytes.count == headerByteCount else { return nil }
        func number(at place: Int) -> Int {
            Int(Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }))
        }
        let shape = Shape(channels: number(at: 20), length: number(at: 16))
        guard number(at: 0) == 2, number(at: 4) == 1, (1...1024).contains(shape.channels), shape.length >= 0 else {
            return nil
        }
        return shape
    }
}

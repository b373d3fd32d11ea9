import Files
import Synchronization
import Takes

/// Checksums of files for archives, valid while length and timestamps of a file stay the same. A second download reads
/// each file only once, and simultaneous downloads share the first read.
public final class ZipChecksums: Sendable {
    private struct State {
        var known: [String: Known] = [:]
        var readings: [String: (attributes: FileAttributes, reading: Reading)] = [:]
        var use = 0
    }

    private struct Known {
        var attributes: FileAttributes
        var crc: UInt32
        var use: Int
    }

    /// The progress of reading a file for its checksum. Any archive that needs it reads the next piece.
    final class Reading: Sendable {
        private let state = Mutex((place: Int64(0), check: CRC32(.ieee)))

        /// Continues the reading. Others that need the same checksum wait.
        func goOn<Result: Sendable>(
            _ body: (_ place: inout Int64, _ check: inout CRC32) throws -> Result
        ) throws -> Result {
            try state.withLock { try body(&$0.place, &$0.check) }
        }
    }

    private let state = Mutex(State())
    private let most: Int

    /// - Parameter most: the number of cached checksums. The least recently used one is removed.
    public init(most: Int = 2000) { self.most = most }

    /// CRC-32 of a file, if it was computed with these attributes.
    func value(of path: String, _ attributes: FileAttributes) -> UInt32? {
        state.withLock { state in
            guard let found = state.known[path], found.attributes == attributes else { return nil }
            state.use += 1
            state.known[path]?.use = state.use
            return found.crc
        }
    }

    /// The reading of a file with these attributes: the one in progress, or a new one.
    func reading(of path: String, _ attributes: FileAttributes) -> Reading {
        state.withLock { state in
            if let found = state.readings[path], found.attributes == attributes { return found.reading }
            // Drops readings that were never completed because all downloads that needed them ended.
            if state.readings.count >= most { state.readings = [:] }
            let reading = Reading()
            state.readings[path] = (attributes, reading)
            return reading
        }
    }

    func keep(_ crc: UInt32, of path: String, _ attributes: FileAttributes) {
        state.withLock { state in
            state.readings[path] = nil
            state.use += 1
            state.known[path] = Known(attributes: attributes, crc: crc, use: state.use)
            if state.known.count > most, let oldest = state.known.min(by: { $0.value.use < $1.value.use }) {
                state.known[oldest.key] = nil
            }
        }
    }

    func forget(_ path: String) {
        state.withLock { state in
            state.known[path] = nil
            state.readings[path] = nil
        }
    }
}

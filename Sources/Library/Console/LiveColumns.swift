import Spectra
import Takes

/// The spectrogram of the live sound as records: the number of a column's first frame (64 bits, little-endian), then 256
/// values for each channel.
///
/// Where frames are missing, the columns begin again at the next frame. Pure: `LiveSpectrum` receives the messages.
struct LiveColumns {
    static let columnsPerSecond = 20
    /// Cards with more channels are not shown.
    static let mostChannels = 32

    private enum State {
        /// The recorder sent no format yet.
        case waiting
        /// The recorder was asked for the past, and the sound before its answer is not used. `since` is the first frame of
        /// that sound. A recorder that was asked while no card was open does not answer, so after a second all is used.
        case asked(StreamFormat, since: Int64?)
        case making(Making)
    }

    private var state = State.waiting

    /// The format of the columns; nil before the first one.
    var format: ColumnFormat? {
        if case .making(let making) = state { making.maker.format } else { nil }
    }

    /// Uses a message.
    /// - Returns: the records of the columns that are now complete.
    /// - Throws: an error if the spectrogram must end.
    mutating func take(_ message: SoundMessages.Message) throws(LiveSocket.Failure) -> [UInt8] {
        switch message {
        case .format(let sound):
            switch state {
            case .waiting: state = .asked(sound, since: nil)
            case .asked: state = .making(try Making(sound))
            case .making: throw LiveSocket.Failure(description: "its card was opened in another format")
            }
            return []
        case .sound(let bytes, let first):
            if case .asked(let sound, let since) = state {
                let begin = since ?? first
                guard first - begin >= Int64(sound.rateHz) else {
                    state = .asked(sound, since: begin)
                    return []
                }
                state = .making(try Making(sound))
            }
            guard case .making(var making) = state else { return [] }
            // Releases the other reference, so that nothing is copied.
            state = .waiting
            let records = try making.take(bytes, from: first)
            state = .making(making)
            return records
        }
    }

    static func recordByteCount(channels: Int) -> Int { 8 + ColumnFormat.bands * channels }

    /// A number as `count` bytes, little-endian.
    static func bytes(of number: Int64, count: Int = 8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) }
    }

    private struct Making {
        let sound: StreamFormat
        var maker: ColumnMaker
        /// The first frame of the maker, and the next expected one; nil before the first sound.
        var base: Int64 = 0
        var next: Int64?
        /// The number of complete columns since `base`.
        var count: Int64 = 0

        init(_ sound: StreamFormat) throws(LiveSocket.Failure) {
            let most = LiveColumns.mostChannels
            guard sound.channels <= most else {
                throw LiveSocket.Failure(
                    description: "its card has \(sound.channels) channels, and at most \(most) are shown")
            }
            self.sound = sound
            do throws(SpectraError) {
                maker = try ColumnMaker(sound, columnsPerSecond: LiveColumns.columnsPerSecond)
            } catch {
                throw LiveSocket.Failure(description: error.description)
            }
        }

        mutating func take(_ bytes: [UInt8], from first: Int64) throws(LiveSocket.Failure) -> [UInt8] {
            if first != next {
                self = try Making(sound)
                base = first
            }
            next = first + Int64(bytes.count / sound.bytesPerFrame)
            var columns: [UInt8] = []
            bytes.withRawSpan { maker.append($0, to: &columns) }
            let size = ColumnFormat.bands * sound.channels
            var records: [UInt8] = []
            records.reserveCapacity(columns.count + columns.count / size * 8)
            for start in stride(from: 0, to: columns.count, by: size) {
                records += LiveColumns.bytes(of: firstFrame)
                records += columns[start..<start + size]
                count += 1
            }
            return records
        }

        /// The first frame of the next column.
        private var firstFrame: Int64 {
            let perSecond = Int64(LiveColumns.columnsPerSecond)
            return base + (count * Int64(sound.rateHz) + perSecond - 1) / perSecond
        }
    }
}

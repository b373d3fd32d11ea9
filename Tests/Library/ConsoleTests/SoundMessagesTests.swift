import DiskCalls
import Takes
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct SoundMessagesTests {
    /// Reads all messages of a stream that arrives in pieces.
    private func read(_ stream: [UInt8], piece: Int) throws -> [SoundMessages.Message] {
        var messages = SoundMessages()
        var found: [SoundMessages.Message] = []
        for start in stride(from: 0, to: stream.count, by: piece) {
            messages.append(stream[start..<min(stream.count, start + piece)])
            while let message = try messages.next() { found.append(message) }
        }
        return found
    }

    @Test(arguments: [1, 7, 28, 1000, 65_536])
    func `formats and sound are read from pieces of any size, and other messages are passed over`(
        _ piece: Int
    ) throws {
        let mono = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        let json = Array(#"{"at_frame":0,"rate_hz":48000,"take":"heron07-0042-061811Z"}"#.utf8)
        let stream = [
            MadeSound.format(), MadeSound.message(4, first: 90, payload: json), MadeSound.sound(100..<200),
            MadeSound.message(3, channels: 2, frames: 4_000_000_000, first: 200),
            MadeSound.message(99, payload: [UInt8](repeating: 70, count: 100_000)),
            MadeSound.sound(4_000_000_200..<4_000_000_201), MadeSound.message(5, first: 90, payload: json),
            MadeSound.format(mono), MadeSound.sound(4_000_000_201..<4_000_000_300, mono),
        ]
        let found = try read(Array(stream.joined()), piece: piece)
        #expect(
            found == [
                .format(MadeSound.stereo), .sound(MadeSound.bytes(100..<200), first: 100),
                .sound(MadeSound.bytes(4_000_000_200..<4_000_000_201), first: 4_000_000_200), .format(mono),
                .sound(MadeSound.bytes(4_000_000_201..<4_000_000_300, mono), first: 4_000_000_201),
            ])
    }

    @Test func `a message that has not arrived whole is not returned`() throws {
        let stream = MadeSound.format() + MadeSound.sound(0..<10)
        for count in stride(from: 0, to: stream.count, by: 13) {
            #expect(try read(Array(stream.prefix(count)), piece: 50).count < 2)
        }
    }

    private static func format(_ text: String) -> [UInt8] { MadeSound.message(1, payload: Array(text.utf8)) }

    /// Streams that no recorder sends.
    static let hostile: [[UInt8]] = [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8](repeating: 0, count: 28),
        // Sound without its format, or in another one.
        MadeSound.sound(0..<10),
        MadeSound.format() + MadeSound.sound(0..<10, StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s16)),
        // Announced lengths that are never waited for.
        MadeSound.format() + MadeSound.message(2, channels: 2, frames: 70_000),
        MadeSound.format() + MadeSound.message(2, channels: 2, frames: 0xffff_ffff),
        MadeSound.message(1, frames: 4097), MadeSound.message(1, frames: 0xffff_ffff),
        // Frame numbers that cannot be counted on.
        MadeSound.format() + MadeSound.message(2, channels: 2, frames: 0, first: 1 << 63),
        MadeSound.format() + MadeSound.message(2, channels: 2, frames: 0, first: .max),
        format(""), format("[]"), format("{"), format(String(repeating: "[", count: 4000)),
        format(#"{"bytes_per_frame":4,"channels":2,"format":"S16_LE"}"#),
        format(#"{"bytes_per_frame":4,"channels":2,"format":"S16_LE","rate_hz":999}"#),
        format(#"{"bytes_per_frame":4,"channels":2,"format":"S16_LE","rate_hz":1e30}"#),
        format(#"{"bytes_per_frame":0,"channels":0,"format":"S16_LE","rate_hz":48000}"#),
        format(#"{"bytes_per_frame":4,"channels":-2,"format":"S16_LE","rate_hz":48000}"#),
        format(#"{"bytes_per_frame":4,"channels":2,"format":"U8","rate_hz":48000}"#),
        format(#"{"bytes_per_frame":8,"channels":2,"format":"S16_LE","rate_hz":48000}"#),
    ]

    @Test(arguments: SoundMessagesTests.hostile)
    func `what no recorder sends is refused`(_ stream: [UInt8]) {
        for piece in [1, 1000] { #expect(throws: LiveSocket.Failure.self) { try read(stream, piece: piece) } }
    }
}

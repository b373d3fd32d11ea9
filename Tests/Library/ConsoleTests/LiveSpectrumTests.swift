import DiskCalls
import Foundation
import Glibc
import OtherPrograms
import Takes
import TestBench
import Testing

@testable import Console

/// The live spectrogram with a recorder whose messages the test sends.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(5))) struct LiveSpectrumTests {
    private let folder = TestFolder()
    private let clock = TestClock()
    private let recorder: SoundSocket
    private let spectrum: LiveSpectrum

    /// The bytes of a record of two channels.
    private static let recordByteCount = 520
    /// The records of 48 000 frames: the last column is not complete.
    private static let second = 19 * recordByteCount

    init() throws {
        let path = "\(folder.path)/sound.sock"
        recorder = try SoundSocket(path)
        spectrum = LiveSpectrum(path: path, clock: clock)
    }

    /// Answers the request for the past with a second of sound.
    private func serve() -> SoundSocket.Connection {
        let connection = recorder.accept()
        connection.send(MadeSound.format())
        #expect(connection.receive(5) == Array("past\n".utf8))
        connection.send(MadeSound.format() + MadeSound.sound(0..<48_000))
        return connection
    }

    /// Reads records until there are enough bytes.
    private func read(_ watcher: LiveSpectrum.Watcher, _ byteCount: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < byteCount, let piece = try await watcher.next() { bytes += piece }
        return bytes
    }

    @Test
    func `all phones share a connection, a later one begins with what is held, and the last one's end closes it`()
        async throws
    {
        var one: LiveSpectrum.Watcher? = try spectrum.watch()
        let connection = serve()
        let head = try await one?.next()
        #expect(head?.count == 32 && head?.starts(with: "FFSPECT1".utf8) == true)
        let records = try await read(one!, Self.second)
        #expect(records.count == Self.second)
        var two: LiveSpectrum.Watcher? = try spectrum.watch()
        let (secondHead, secondRecords) = (try await two?.next(), try await two?.next())
        #expect(secondHead == head && secondRecords == records)
        one = nil
        connection.send(MadeSound.sound(48_000..<96_000))
        let further = try await read(two!, Self.second)
        #expect(further.count >= Self.second)
        two = nil
        #expect(connection.receive(1) == [])
        // The next phone has a connection of its own.
        let three = try spectrum.watch()
        let next = serve()
        let thirdHead = try await three.next()
        #expect(thirdHead == head)
        next.close()
    }

    @Test func `a silence ends it, and so do another format and what no recorder sends`() async throws {
        let ends: [(sent: [UInt8], reason: String)] = [
            ([], "no card is open, or a take is played"), (MadeSound.format(), "its card was opened in another format"),
            ([UInt8](repeating: 0, count: 100), "what it sends are not messages of sound"),
        ]
        for (sent, reason) in ends {
            let watcher = try spectrum.watch()
            let connection = serve()
            _ = try await read(watcher, 32 + Self.second)
            if sent.isEmpty { clock.advance(by: .seconds(4)) } else { connection.send(sent) }
            let failure = await #expect(throws: LiveSocket.Failure.self) {
                while try await watcher.next() != nil {}
            }
            #expect(failure?.description == reason)
            #expect(connection.receive(1) == [])
        }
    }

    @Test func `all phones learn why there is no sound`() async throws {
        let absent = LiveSpectrum(path: "\(folder.path)/nothing.sock")
        let phones = [try absent.watch(), try absent.watch()]
        for phone in phones {
            let failure = await #expect(throws: LiveSocket.Failure.self) { try await phone.next() }
            #expect(failure?.description == "No such file or directory")
        }
        let watcher = try spectrum.watch()
        recorder.accept().close()
        await #expect(throws: LiveSocket.Failure.self) { try await watcher.next() }
    }

    /// The recorder's side of the sound socket. Its calls wait.
    private final class SoundSocket {
        private let listener: Int32

        struct Failure: Error {}

        init(_ path: String) throws {
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            self.listener = listener
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard bound == 0, listen(listener, 8) == 0 else { throw Failure() }
        }

        deinit { Glibc.close(listener) }

        func accept() -> Connection { Connection(Glibc.accept(listener, nil, nil)) }

        final class Connection {
            private var number: Int32

            init(_ number: Int32) { self.number = number }

            deinit { close() }

            func close() {
                if number >= 0 { Glibc.close(number) }
                number = -1
            }

            func send(_ bytes: [UInt8]) {
                var sent = 0
                while sent < bytes.count {
                    let count = bytes[sent...].withUnsafeBytes {
                        Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else {
                        Issue.record("the library closed the connection")
                        return
                    }
                    sent += count
                }
            }

            /// The next bytes, or fewer at the end of the connection.
            func receive(_ count: Int) -> [UInt8] {
                var bytes: [UInt8] = []
                var byte: UInt8 = 0
                while bytes.count < count, recv(number, &byte, 1, 0) == 1 { bytes.append(byte) }
                return bytes
            }
        }
    }
}

/// The live spectrogram of a whole kit.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct KitSpectrumTests {
    @Test func `a phone gets the last seconds at once, then what is sampled`() throws {
        let kit = try RunningKit()
        _ = try kit.record(seconds: 3)
        let answer = try kit.phone.get("/api/spectrum/live", ["--max-time", "10"])
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/octet-stream")
        let bytes = Array(answer.bytes)
        try #require(bytes.count > 32 + 264)
        // One channel, 256 rows, 48 kHz, a window of 1024.
        let head: [UInt8] = [1, 0, 0, 0, 0, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 4, 0, 0]
        #expect(Array(bytes.prefix(24)) == Array("FFSPECT1".utf8) + head)
        #expect(bytes[24..<32] == bytes[32..<40])
        let frames = stride(from: 32, through: bytes.count - 264, by: 264).map { start in
            bytes[start..<start + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        // 3 s were recorded.
        #expect(frames.count > 60)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1 - $0 == 2400 })
        #expect(bytes.dropFirst(40).prefix(40 * 264).contains(where: { $0 > 120 }))
        #expect(try kit.stranger.get("/api/spectrum/live").status == 401)
        kit.stopRecorder()
        let away = try kit.phone.get("/api/spectrum/live")
        #expect(away.status == 503)
        #expect(away.detail?.hasPrefix("spectrum: \(kit.folder)/sound.sock: the recorder sends no sound: ") == true)
    }

    @Test func `the setting that forbids live listening also forbids the live spectrogram`() throws {
        let kit = try RunningKit(console: "live_listening = false")
        let answer = try kit.phone.get("/api/spectrum/live")
        #expect(answer.status == 403)
        #expect(answer.detail == "spectrum: the settings forbid it: [console] live_listening = true allows it")
    }
}

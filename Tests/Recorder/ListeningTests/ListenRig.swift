import Filters
import Glibc
import Live
import Ring
import Sockets
import Takes
import TestBench
import Testing
import Workers

@testable import Control
@testable import Listening

/// A loop without a thread on a real socket, with a ring that the test fills like a card: sample `n` of a channel is
/// `n` of 16 bits.
final class ListenRig {
    let clock = TestClock()
    let loop: ListenLoop
    let sound: SoundServing
    let path: String
    let soundPath: String
    private let orders = Mailbox<ListenOrder>()
    private let folder = TestFolder()
    private(set) var ring: Ring?

    init(calls: SocketCalls = SocketCalls()) throws {
        path = folder.path + "/listen.sock"
        soundPath = folder.path + "/sound.sock"
        sound = SoundServing(try Sockets.Listener(path: soundPath), calls: calls)
        loop = ListenLoop(
            try Sockets.Listener(path: path), sound: sound, orders: orders, clock: clock, calls: calls)
    }

    func open(rateHz: Int = 8000, channels: Int = 2, design: FilterDesign? = nil, in ring: Ring? = nil) {
        let format = StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: .s16)
        let ring = ring ?? Ring(format: format, holding: .seconds(4), periodFrames: rateHz / 10)
        self.ring = ring
        orders.post(.source(LiveSource(ring: ring, design: design ?? .off(rateHz: rateHz))))
    }

    func close() {
        ring = nil
        orders.post(.source(nil))
    }

    func filter(_ design: FilterDesign) {
        orders.post(.source(LiveSource(ring: ring!, design: design)))
    }

    /// Announces frames of a take, or its end.
    func note(_ take: LiveTake) { orders.post(.take(take)) }

    /// A program that is accepted at the sound socket.
    func soundPeer() -> Listener {
        let peer = Listener(soundPath)
        turn()
        return peer
    }

    /// Delivers frames from the card.
    /// - Parameter sample: the sample of a frame and a channel. If nil, it is the frame's number, and its complement in
    ///   the second channel.
    func deliver(_ count: Int64, _ sample: ((Int64, Int) -> Int16)? = nil) {
        let ring = ring!
        var left = count
        while left > 0 {
            let room = min(left, ring.writableFrames())
            guard room > 0 else {
                Issue.record("the ring has no room: a frame is held")
                return
            }
            let first = ring.position.count
            let samples = unsafe ring.writable(room).bindMemory(to: Int16.self)
            for index in samples.indices {
                let (frame, channel) = (
                    first + Int64(index / ring.format.channels), index % ring.format.channels
                )
                let number = Int16(truncatingIfNeeded: frame)
                unsafe samples[index] = sample?(frame, channel) ?? (channel == 0 ? number : ~number)
            }
            let written = Int64(samples.count / ring.format.channels)
            ring.commit(written)
            left -= written
        }
    }

    func turn() {
        #expect(loop.turn())
    }

    /// Advances the time, and turns the loop.
    func turn(after duration: Duration) {
        clock.advance(by: duration)
        turn()
    }

    /// An accepted peer that requested a layout, or none.
    func peer(asking request: String? = nil) -> Listener {
        let peer = Listener(path)
        if let request { peer.send(request) }
        turn()
        // After the time for requests.
        turn(after: ListeningPeer.patience)
        return peer
    }

    /// The other end of the connection. It never blocks.
    final class Listener {
        let socket: Descriptor
        private(set) var bytes: [UInt8] = []
        private(set) var isOver = false

        init(_ path: String) {
            socket = Descriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
            let number = socket.number
            let code = unsafe SocketAddress.with(path) { unsafe connect(number, $0, $1) }
            if code != 0 { Issue.record("cannot connect: \(SystemError(errno))") }
        }

        func send(_ text: String) {
            let bytes = Array(text.utf8)
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            #expect(count == bytes.count)
        }

        /// Announces that no request will come.
        func finishSending() {
            shutdown(socket.number, Int32(SHUT_WR))
        }

        @discardableResult
        func receive() -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = unsafe recv(socket.number, &buffer, buffer.count, 0)
                guard count > 0 else {
                    isOver = isOver || count == 0 || errno == ECONNRESET
                    return bytes
                }
                bytes += buffer[..<count]
            }
        }

        /// The samples after the header.
        var samples: [Int16] {
            let data = Array(receive().dropFirst(44))
            return stride(from: 0, to: data.count - 1, by: 2).map {
                Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)
            }
        }

        /// The frame numbers of a stereo stream. Each frame must be whole.
        var frames: [Int16] {
            let samples = samples
            for index in stride(from: 0, to: samples.count - 1, by: 2) where samples[index] != ~samples[index + 1] {
                Issue.record("frame \(index / 2) is not whole")
                break
            }
            return stride(from: 0, to: samples.count - 1, by: 2).map { samples[$0] }
        }
    }
}

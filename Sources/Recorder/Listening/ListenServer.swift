import Control
public import Live
import Sockets
public import Takes
import Workers

/// Streams the live sound of the capture card to each peer of a Unix socket, as WAV without an end, 16 bits at the
/// card's rate. At a second socket each peer gets the card's own samples, framed, with their positions and times.
///
/// The server has its own thread, which sleeps while no peer is connected. It only reads the ring, and never holds a
/// frame there.
public final class ListenServer {
    private let orders: Mailbox<ListenOrder>
    private let pixels = LivePixels()
    private let thread: Thread
    /// Why the socket for framed samples could not be made, as a sentence. Nil if it exists or was not requested.
    public let framedFailure: String?

    /// Listens at two paths, for owner and group (mode 0660).
    /// - Parameters:
    ///   - path: the path of the WAV socket.
    ///   - framed: the path of the socket for framed samples, or nil for none.
    /// - Throws: `ControlError` if the WAV socket cannot be made, `ThreadError` if the thread cannot be started.
    public init(path: String, framed: String? = nil, clock: any Clock) throws {
        let orders = Mailbox<ListenOrder>()
        let calls = SocketCalls()
        var sound: SoundServing?
        var failure: String?
        do {
            sound = try framed.map { SoundServing(try Listener.opened(at: $0, by: .recorder), calls: calls) }
        } catch {
            failure = "\(error)"
        }
        framedFailure = failure
        let work = Work(
            ListenLoop(
                try Listener.opened(at: path, by: .recorder), sound: sound, pixels: pixels, orders: orders,
                clock: clock, calls: calls))
        self.orders = orders
        thread = try Thread(name: "listen") { work.loop.run() }
    }

    deinit {
        orders.post(.end)
        thread.join()
    }

    /// Streams this source from now on. With nil no card is open, and the peers wait. Returns at once.
    public func stream(_ source: LiveSource?) {
        orders.post(.source(source))
    }

    /// Starts or stops drawing the waveform, from the next frame on. Returns at once.
    public func draw(_ isWanted: Bool) {
        if pixels.want(isWanted) { orders.post(.drawing) }
    }

    /// The pixels since the last call, as `LivePixels.take` gives them.
    public func takePixels() -> (format: StreamFormat, first: Int, data: [Int8])? { pixels.take() }

    /// Announces the first frame of a take, or its end. Returns at once.
    public func note(_ take: LiveTake) {
        orders.post(.take(take))
    }

    /// Hands the loop over to its thread. Only that thread uses the loop.
    private struct Work: @unchecked Sendable {
        let loop: ListenLoop
        init(_ loop: ListenLoop) { self.loop = loop }
    }
}

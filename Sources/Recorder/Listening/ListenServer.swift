import Control
public import Live
public import Takes
import Workers

/// Streams the sound of the capture card, live, to each peer of a Unix socket: WAV without an end, 16 bits at the card's rate. At a second
/// socket each peer gets the card's own samples, framed, with their places and times.
///
/// It has a thread of its own, which sleeps while there is no peer. It takes nothing from the recorder but what it reads from the
/// ring, and it never holds a frame there.
public final class ListenServer {
    private let orders: Mailbox<ListenOrder>
    private let pixels = LivePixels()
    private let thread: Thread
    /// Why programs get no sound at a socket of their own, as a sentence; nil: they do, or were not to.
    public let framedFailure: String?

    /// Listens at two paths, for owner and group (mode 0660).
    /// - Parameters:
    ///   - path: of the socket for ears.
    ///   - framed: of the socket for programs, or nil for none.
    /// - Throws: `ControlError` if the socket for ears cannot be made, `ThreadError` if there is no thread.
    public init(path: String, framed: String? = nil, clock: any Clock) throws {
        let orders = Mailbox<ListenOrder>()
        let calls = SocketCalls()
        var sound: SoundServing?
        var failure: String?
        do {
            sound = try framed.map { SoundServing(try Listener(path: $0), calls: calls) }
        } catch {
            failure = "\(error)"
        }
        framedFailure = failure
        let work = Work(
            ListenLoop(
                try Listener(path: path), sound: sound, pixels: pixels, orders: orders, clock: clock, calls: calls))
        self.orders = orders
        thread = try Thread(name: "listen") { work.loop.run() }
    }

    deinit {
        orders.post(.end)
        thread.join()
    }

    /// What is streamed from now on; nil: no card is open, and peers wait. Returns at once.
    public func stream(_ source: LiveSource?) {
        orders.post(.source(source))
    }

    /// Has the waveform drawn from the next frame on, or not any more. Returns at once.
    public func draw(_ isWanted: Bool) {
        if pixels.want(isWanted) { orders.post(.drawing) }
    }

    /// The pixels since the last call, as `LivePixels.take` gives them.
    public func takePixels() -> (format: StreamFormat, first: Int, data: [Int8])? { pixels.take() }

    /// Says which frames a take has, or where it ended. Returns at once.
    public func note(_ take: LiveTake) {
        orders.post(.take(take))
    }

    /// The loop on its way to its thread, which alone uses it.
    private struct Work: @unchecked Sendable {
        let loop: ListenLoop
        init(_ loop: ListenLoop) { self.loop = loop }
    }
}

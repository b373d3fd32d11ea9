internal import CLinux
import Synchronization
public import Takes

/// A part of the recorder that works on its own thread. It takes orders and returns outcomes, and the ordering thread
/// never blocks.
///
/// One closure, `turn`, does all of the work and owns its state. It gets the orders that were posted since its last
/// call, carries them out in order, does the work that is due, and returns the latest time for its next call, or nil to
/// wait for the next order. `step` makes one such call. In the recorder, `start` makes a thread that calls `step`; a
/// test calls it directly.
public final class Worker<Order: Sendable, Outcome: Sendable>: @unchecked Sendable {
    /// Carries out orders, then the work that is due.
    public typealias Turn = (_ orders: [Order], _ now: Instant, _ outcomes: Mailbox<Outcome>) -> Instant?

    /// The state that the thread shares with the ordering thread. The thread references this instead of the worker, so
    /// that the worker's deinit can end the thread.
    private final class Core: @unchecked Sendable {
        let orders = Mailbox<Order>()
        let outcomes = Mailbox<Outcome>()
        let ended = Mailbox<Void>()
        let isEnding = Atomic<Bool>(false)
        let clock: any Clock
        /// Called by one thread at a time.
        let turn: Turn

        init(clock: any Clock, turn: @escaping Turn) {
            self.clock = clock
            self.turn = turn
        }

        func step() -> Instant? {
            turn(orders.take(), clock.now(), outcomes)
        }

        func run() {
            while !isEnding.load(ordering: .acquiring) {
                let next = step()
                if isEnding.load(ordering: .acquiring) { return }
                orders.wait(nanoseconds: next.map { ($0 - clock.now()).nanoseconds })
            }
        }
    }

    /// A worker thread's share of the processor and of the disk.
    public enum Priority: Sendable {
        /// The same as other threads.
        case normal
        /// Less than normal (`nice(2)` of 10), for work that may take long and is not the response to a button. Threads
        /// that it starts inherit this.
        case low
        /// Only the time that no other thread needs (`SCHED_IDLE`, and the idle class of the disk's scheduler).
        case idle
    }

    private let core: Core
    private var thread: Thread?

    public init(clock: any Clock, turn: @escaping Turn) {
        core = Core(clock: clock, turn: turn)
    }

    /// Ends the thread once the current turn has returned. A turn that does not return within `patience`, such as one
    /// that waits for a card that hangs, is left behind and ends with the process.
    deinit {
        core.isEnding.store(true, ordering: .releasing)
        core.orders.wake()
        guard let thread else { return }
        core.ended.wait(nanoseconds: Self.patience.nanoseconds)
        if !core.ended.isEmpty { thread.join() }
    }

    /// How long the deinit waits for the thread.
    private static var patience: Duration { .seconds(2) }

    /// Starts the thread. Call it once.
    /// - Parameters:
    ///   - name: as `ps -L` shows it, at most 15 characters.
    ///   - prepare: called once on the thread, before its first turn.
    /// - Throws: `ThreadError` if the system grants no more threads.
    public func start(
        name: String, priority: Priority = .normal, prepare: @escaping @Sendable () -> Void = {}
    ) throws(ThreadError) {
        precondition(thread == nil, "worker \(name): started twice")
        thread = try Thread(name: name) { [core] in
            switch priority {
            case .normal: break
            case .low: _ = nice(10)
            // A priority that is not granted is ignored, because the work is still done.
            case .idle: fieldfare_be_idle()
            }
            prepare()
            core.run()
            core.ended.post(())
        }
    }

    /// Whether a thread does the work. If not, call `step`.
    public var hasThread: Bool { thread != nil }

    /// Posts an order and returns at once.
    public func post(_ order: Order) {
        core.orders.post(order)
    }

    package var hasOrders: Bool { !core.orders.isEmpty }

    /// Readable while there are outcomes.
    public var fileDescriptor: Int32 { core.outcomes.fileDescriptor }

    /// The outcomes since the last call, in order.
    public func outcomes() -> [Outcome] {
        core.outcomes.take()
    }

    /// Waits for an outcome. It may also return without one.
    /// - Parameter nanoseconds: the time limit, or nil for none.
    public func wait(nanoseconds: Int64? = nil) {
        core.outcomes.wait(nanoseconds: nanoseconds)
    }

    /// Carries out the orders and the work that is due on the caller's thread, for a worker without a thread.
    /// - Returns: the latest time for the next call, or nil to wait for the next order.
    public func step() -> Instant? {
        core.step()
    }
}

internal import CLinux
import Synchronization
public import Takes

/// A part of the recorder that works on a thread of its own: orders go in, outcomes come out, and the thread that orders never waits.
///
/// All of the work is done by one closure, `turn`, which owns the state of the work. It is called with the orders that were
/// posted since its last call, carries them out in that order, then does what is due, and returns when it is to be called
/// again at the latest (nil: at the next order). `step` is one such call. In the recorder, `start` makes a thread that steps;
/// a test steps by itself.
public final class Worker<Order: Sendable, Outcome: Sendable>: @unchecked Sendable {
    /// Carries out orders, then what is due.
    public typealias Turn = (_ orders: [Order], _ now: Instant, _ outcomes: Mailbox<Outcome>) -> Instant?

    /// What the thread shares with the one that orders. The thread holds this and not the worker, so that the worker can end it.
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

    /// How much of the processor and of the disk a worker's thread gets.
    public enum Priority: Sendable {
        /// As much as any thread.
        case normal
        /// Less than those (`nice(2)` of 10): for work that may take long and is not the answer to a button. A thread that
        /// it starts begins with the same.
        case low
        /// What no other thread wants (`SCHED_IDLE`, and the idle class of the disk's scheduler).
        case idle
    }

    private let core: Core
    private var thread: Thread?

    /// A worker without a thread yet.
    public init(clock: any Clock, turn: @escaping Turn) {
        core = Core(clock: clock, turn: turn)
    }

    /// Ends the thread once the turn that is under way has returned. A turn that does not return, such as one that waits for a
    /// card that hangs, is left behind after `patience`: it ends with the process.
    deinit {
        core.isEnding.store(true, ordering: .releasing)
        core.orders.wake()
        guard let thread else { return }
        core.ended.wait(nanoseconds: Self.patience.nanoseconds)
        if !core.ended.isEmpty { thread.join() }
    }

    /// How long the end of a thread is waited for.
    private static var patience: Duration { .seconds(2) }

    /// Starts the thread. To be called once.
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
            // What is not granted is left as it is: the work is done nevertheless.
            case .idle: fieldfare_be_idle()
            }
            prepare()
            core.run()
            core.ended.post(())
        }
    }

    /// Whether a thread does the work; if not, `step` does it.
    public var hasThread: Bool { thread != nil }

    /// Orders something; returns at once.
    public func post(_ order: Order) {
        core.orders.post(order)
    }

    /// Whether orders wait to be carried out.
    package var hasOrders: Bool { !core.orders.isEmpty }

    /// Readable while there are outcomes.
    public var fileDescriptor: Int32 { core.outcomes.fileDescriptor }

    /// The outcomes since the last call, in their order.
    public func outcomes() -> [Outcome] {
        core.outcomes.take()
    }

    /// Waits until there is an outcome, or seems to be.
    /// - Parameter nanoseconds: at most so long; nil: without a limit.
    public func wait(nanoseconds: Int64? = nil) {
        core.outcomes.wait(nanoseconds: nanoseconds)
    }

    /// Does what is ordered and what is due, on the thread of the caller: for a worker that has no thread.
    /// - Returns: when it is to be called again at the latest; nil: at the next order.
    public func step() -> Instant? {
        core.step()
    }
}

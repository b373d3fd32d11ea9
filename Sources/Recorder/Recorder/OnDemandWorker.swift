import Takes
import Workers

/// A worker for rare orders that may block forever. Its thread starts with the first order. If a device still blocks it
/// at the end of the process, it is abandoned.
final class OnDemandWorker<Order: Sendable, Outcome: Sendable> {
    /// Carries out one order on the worker's thread. It may report outcomes before the last one, which it returns.
    typealias Work = @Sendable (_ order: Order, _ report: (Outcome) -> Void) -> Outcome

    private enum Message: Sendable {
        case interim(Outcome)
        case last(Outcome)
    }

    private enum ThreadState { case none, started }

    private let name: String
    private let worker: Worker<Order, Message>
    private var threadState = ThreadState.none
    /// Orders that are not carried out yet.
    private(set) var pendingOrders = 0

    /// - Parameter name: the thread's name, at most 15 characters.
    init(name: String, clock: any Clock, work: @escaping Work) {
        self.name = name
        worker = Worker(clock: clock) { orders, _, messages in
            for order in orders {
                messages.post(.last(work(order) { messages.post(.interim($0)) }))
            }
            return nil
        }
    }

    deinit {
        // Releasing the worker would wait for its thread.
        if pendingOrders > 0 { unsafe _ = Unmanaged.passRetained(worker) }
    }

    /// Readable while outcomes wait.
    var fileDescriptor: Int32 { worker.fileDescriptor }

    /// Returns at once.
    /// - Throws: `ThreadError` if the system grants no thread.
    func post(_ order: Order) throws(ThreadError) {
        switch threadState {
        case .none:
            try worker.start(name: name, priority: .low)
            threadState = .started
        case .started: break
        }
        pendingOrders += 1
        worker.post(order)
    }

    /// The outcomes since the last call, in their order.
    func outcomes() -> [Outcome] {
        worker.outcomes().map { message in
            switch message {
            case .interim(let outcome): return outcome
            case .last(let outcome):
                pendingOrders -= 1
                return outcome
            }
        }
    }
}

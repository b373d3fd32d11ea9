import Doctor
import Takes
import Transport
import Workers

/// A list of devices, made on its own thread: a device that does not answer delays only those who request the list.
///
/// Each request gets a list that was begun after the request. At most one list is being made, and at most one more is
/// ordered.
final class Listing<Items: Sendable>: LoopPart {
    /// Makes the list. `brake` is pulled while no device may be opened. Call `asking` with the device's name before
    /// each query.
    typealias Make = @Sendable (_ brake: Brake, _ asking: (String) -> Void) -> Items
    /// Called with the list, or with the reason for its absence.
    typealias Completion = (Result<Items, Refusal>) -> Void

    /// How long a request waits. The command line waits 30 s.
    static var patience: Duration { .seconds(8) }

    private struct Order: Sendable {
        var number: Int
        var brake: Brake
    }

    private enum Outcome: Sendable {
        case asking(String, since: Instant)
        case list(Items, of: Int)
    }

    private struct Request {
        var order: Int
        var deadline: Instant
        var completion: Completion
    }

    private let subject: String
    private let clock: any Clock
    private let worker: OnDemandWorker<Order, Outcome>
    private var requests: [Request] = []
    private var lastOrder = 0
    /// Shared by the orders since the last take began.
    private var brake = Brake()
    /// The device that was queried last, or nil if none was since the last list.
    private var device: (name: String, askedAt: Instant)?

    /// - Parameter subject: the name of the list in messages, and the name of the thread.
    init(_ subject: String, clock: any Clock, make: @escaping Make) {
        self.subject = subject
        self.clock = clock
        worker = OnDemandWorker(name: subject, clock: clock) { order, report in
            let list = make(order.brake) { report(.asking($0, since: clock.now())) }
            return .list(list, of: order.number)
        }
    }

    deinit {
        brake.pull()
    }

    var fileDescriptors: [Int32] { [worker.fileDescriptor] }

    func ready(now: Instant) { collect() }

    /// - Parameter mayOpen: whether devices may be opened for the list.
    func request(mayOpen: Bool, _ completion: @escaping Completion) {
        collect()
        if !mayOpen { stopOpening() }
        do throws(ThreadError) {
            // An order that has not begun serves this request as well.
            if worker.pendingOrders < 2 { try order(mayOpen: mayOpen) }
        } catch {
            return completion(.failure(Refusal(.io, "\(subject): \(error)")))
        }
        requests.append(
            Request(order: lastOrder, deadline: clock.now() + Self.patience, completion: completion))
    }

    private func order(mayOpen: Bool) throws(ThreadError) {
        let order = Order(number: lastOrder + 1, brake: mayOpen ? brake : Brake())
        if !mayOpen { order.brake.pull() }
        try worker.post(order)
        lastOrder = order.number
    }

    /// Prevents the ordered lists from opening more devices.
    func stopOpening() {
        brake.pull()
        brake = Brake()
    }

    /// Refuses overdue requests.
    /// - Returns: the deadline for the next call, or nil if no request waits.
    func turn(now: Instant) -> Instant? {
        if requests.contains(where: { now >= $0.deadline }) {
            collect()
            let overdue = requests.filter { now >= $0.deadline }
            requests.removeAll { now >= $0.deadline }
            for request in overdue { request.completion(.failure(refusal(now))) }
        }
        return requests.map(\.deadline).min()
    }

    /// Answers the requests whose list is complete.
    func collect() {
        for outcome in worker.outcomes() {
            switch outcome {
            case .asking(let name, let instant): device = (name, instant)
            case .list(let list, let order):
                device = nil
                let served = requests.filter { $0.order <= order }
                requests.removeAll { $0.order <= order }
                for request in served { request.completion(.success(list)) }
            }
        }
    }

    private func refusal(_ now: Instant) -> Refusal {
        guard let device else {
            return Refusal(.listLate(subject: subject, seconds: Int(Self.patience.components.seconds)))
        }
        let seconds = (now - device.askedAt).components.seconds
        return Refusal(.deviceSilent(subject: subject, device: device.name, seconds: Int(seconds)))
    }
}

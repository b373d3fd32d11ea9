import Catalog
import Control
import Takes
import Transport
import Workers

/// Asks the recorder to delete takes that the caller holds in `ParcelsInHand`.
///
/// If the recorder does not report the outcome, the take stays in hand, because the recorder may still delete it until
/// the order expires. The desk repeats the same order until the recorder answers. After the expiry, the recorder starts
/// no deletion.
actor DiscardDesk {
    private let recorder: String
    private let inHand: ParcelsInHand
    private let isListed: @Sendable (TakeIdentity) -> Bool
    private let pause: Duration
    private let clock: any Clock
    private let executor: ThreadExecutor

    enum Outcome: Sendable {
        case deleted
        case refused(Refusal)
        /// No recorder can be reached.
        case away(ControlError)
        /// The outcome is unknown, and the take stays in hand.
        case unanswered(ControlError)
    }

    /// The recorder deletes the files of a take one by one, and finishes its current writes first.
    private static let patience = Duration.seconds(60)
    /// The number of times that the catalog is checked for a deleted take, 50 ms apart.
    private static let listedAtMost = 40

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - recorder: the recorder's socket.
    ///   - pause: the time before an unanswered order is repeated.
    ///   - isListed: whether the catalog lists a take.
    init(
        recorder: String, _ inHand: ParcelsInHand, pause: Duration = .seconds(5), clock: any Clock = SystemClock(),
        isListed: @escaping @Sendable (TakeIdentity) -> Bool
    ) throws {
        self.recorder = recorder
        self.inHand = inHand
        self.pause = pause
        self.clock = clock
        self.isListed = isListed
        executor = try ThreadExecutor(name: "discard")
    }

    /// Deletes a take that the caller has in hand. This desk takes over the hold and releases it.
    /// - Parameter terms: the conditions for the deletion. The desk adds the expiry of the order.
    func discard(_ take: TakeIdentity, _ terms: DiscardTerms) async -> Outcome {
        var terms = terms
        terms.notAfter = clock.now() + Self.patience
        let outcome = ask(take.stem, terms)
        if case .unanswered = outcome {
            Task { [terms] in await settle(take, terms) }
        } else {
            await letGo(take, outcome)
        }
        return outcome
    }

    /// Waits until the recorder is not carrying out an order to delete this take. The order may come from a library
    /// process that ran before this one.
    /// - Throws: `ControlError` if the recorder does not answer. Without a recorder there is no order.
    func awaitOrders(of take: TakeName) throws(ControlError) {
        // Everything that reached the recorder before the first question is handled before the second one.
        for _ in 0..<2 {
            do throws(ControlError) {
                let question = Command.settle(stem: take.stem, day: take.day)
                _ = try ControlClient(path: recorder).ask(.command(question), timeout: Self.patience)
            } catch {
                switch error.cause {
                case .notRunning: return
                // A refusal also ends the order.
                case .refused(let refusal) where refusal.code != .usage: continue
                default: throw error
                }
            }
        }
    }

    private func settle(_ take: TakeIdentity, _ terms: DiscardTerms) async {
        while true {
            do {
                try await Task.sleep(for: pause)
            } catch {
                return
            }
            let outcome = ask(take.stem, terms)
            if case .unanswered = outcome { continue }
            return await letGo(take, outcome)
        }
    }

    /// Releases the take once the catalog no longer lists a deleted one. Otherwise a note could still be written for a
    /// take that is gone, where nobody would see it.
    private func letGo(_ take: TakeIdentity, _ outcome: Outcome) async {
        if case .deleted = outcome {
            for _ in 0..<Self.listedAtMost {
                guard isListed(take) else { break }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        inHand.endDeleting(.take(take))
    }

    private func ask(_ stem: String, _ terms: DiscardTerms) -> Outcome {
        do throws(ControlError) {
            let order = Command.discard(stem: stem, terms)
            _ = try ControlClient(path: recorder).ask(.command(order), timeout: Self.patience)
            return .deleted
        } catch {
            return switch error.cause {
            case .refused(let refusal): .refused(refusal)
            case .notRunning, .denied, .pathLength: .away(error)
            default: .unanswered(error)
            }
        }
    }
}

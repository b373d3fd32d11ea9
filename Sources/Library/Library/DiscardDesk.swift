import Catalog
import Control
import Takes
import Transport
import Workers

/// Has the recorder delete takes that somebody has in hand. One of which the recorder does not say what became of it stays in hand: it may
/// be deleted yet, until the order ends. The same order is given again until the recorder answers: after its end it deletes nothing new.
actor DiscardDesk {
    private let recorder: String
    private let inHand: ParcelsInHand
    private let isListed: @Sendable (TakeIdentity) -> Bool
    private let pause: Duration
    private let clock: any Clock
    private let executor: ThreadExecutor

    /// What became of a take.
    enum Outcome: Sendable {
        case deleted
        /// Why it is not.
        case refused(Refusal)
        /// There is no recorder.
        case away(ControlError)
        /// It is not known, and the take stays in hand.
        case unanswered(ControlError)
    }

    /// A take with many files is deleted one by one, and after what is written just then.
    private static let patience = Duration.seconds(60)
    /// How long the catalog may list a take that is deleted.
    private static let listedAtMost = 40

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - recorder: the recorder's socket.
    ///   - isListed: whether the catalog lists a take.
    ///   - pause: before it is asked again.
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

    /// Has a take deleted that the caller has in hand. From here on it is in this desk's hand.
    /// - Parameter terms: what must hold; when the order ends is added here.
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

    /// Waits until the recorder carries out no order to delete a take. It may have one of a library that ran before this one.
    /// - Throws: `ControlError`, if it does not answer. Where no recorder runs, there is no order.
    func awaitOrders(of take: TakeName) throws(ControlError) {
        // What reached the recorder before the first question was taken up before the second one.
        for _ in 0..<2 {
            do throws(ControlError) {
                let question = Command.settle(stem: take.stem, day: take.day)
                _ = try ControlClient(path: recorder).ask(.command(question), timeout: Self.patience)
            } catch {
                switch error.cause {
                case .notRunning: return
                // The order ended with a refusal.
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

    /// Ends it once the catalog has learnt what became of the take: what is noted of one that is gone would be lost from sight.
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

import Catalog
import DiskCalls
import FinishedTakes
import StoreTrials
import Takes
import Testing
import Upload

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct SenderTurnsTests {
    private static func stem(_ number: Int) -> String { SenderTests.sidecar(number).take }

    /// Sends takes until all have arrived except those that always fail.
    /// - Returns: how many times the store was tried again after a wait.
    private func rounds(
        _ failing: some Sequence<Int>, of count: Int, _ error: StoreError, limit: Int = 100
    ) async throws -> (Int, TestedSender) {
        let failing = Set(failing.map(Self.stem))
        let tested = try TestedSender(failing: Dictionary(uniqueKeysWithValues: failing.map { ($0, error) }))
        for number in 1...count { try tested.add(SenderTests.sidecar(number)) }
        let running = Task { try await tested.sender.run() }
        var (rounds, seen) = (0, Instant?.none)
        for await _ in tested.changes {
            if try tested.counts().done == count - failing.count || rounds == limit { break }
            if case .waiting(_, let until) = tested.board.stores[tested.store.name]?.condition, until != seen {
                seen = until
                rounds += 1
                tested.sender.post(.surroundings)
            }
        }
        running.cancel()
        _ = try? await running.value
        return (rounds, tested)
    }

    @Test(arguments: [StoreError.Problem.busy(nil), .busy(.seconds(600)), .away, .refused, .full])
    func `takes during which the store fails each time let all others pass`(problem: StoreError.Problem) async throws {
        let (rounds, tested) = try await rounds(1...40, of: 70, StoreError(problem, "outbox: fails"))
        #expect(try tested.counts().done == 30 && tested.counts().waiting == 40 && tested.counts().held == 0)
        #expect(Set(tested.store.came) == Set((41...70).map(Self.stem)))
        #expect(rounds < 100)
    }

    @Test(arguments: [[1, 2, 3, 4], [1, 2, 3, 4, 17, 18, 19, 20], Array(1...10) + Array(31...40)])
    func `wherever they are, every other take arrives`(failing: [Int]) async throws {
        let (rounds, tested) = try await rounds(failing, of: 40, StoreError(.refused, "outbox: fails"))
        #expect(try tested.counts().done == 40 - failing.count)
        #expect(rounds < 100)
    }

    @Test func `a file that is too long holds its take alone, for long`() async throws {
        let begun = SystemClock().wallTime()
        let (rounds, tested) = try await rounds(1...4, of: 10, StoreError(.rejected, "outbox: too long"))
        #expect(rounds == 0)
        #expect(try tested.counts().done == 6)
        let held = try tested.catalogs.catalog.outbox(limit: 10)
        #expect(held.map(\.why) == Array(repeating: "outbox: too long", count: 4))
        #expect(held.allSatisfy { $0.until.map { $0 >= begun + .seconds(3 * 3600) } ?? false })
        // That time must not be mistaken for one of a wrong clock.
        _ = try tested.catalogs.catalog.releaseHeld(of: tested.store.name, now: begun)
        #expect(try tested.counts().held == 4)
    }
}

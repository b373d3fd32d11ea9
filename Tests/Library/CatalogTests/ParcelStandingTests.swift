import DiskCalls
import GRDB
import Takes
import Testing

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct ParcelStandingTests {
    private static let now = WallTime(microseconds: 1_795_241_891_250_000)
    private static let damaged = "damaged: a.wav: it is too short: see 'fieldfare takes --damaged'"

    /// The columns `state`, `why` and `untilUs`, for revision 2 and 3 attempts.
    enum Kind: CaseIterable {
        case waiting, byHand, damaged, failed, failedForGood, done, unverified, never

        var columns: (state: String, why: String?, until: WallTime?) {
            switch self {
            case .waiting: ("waiting", nil, nil)
            case .byHand: ("held", "by hand", nil)
            case .damaged: ("held", ParcelStandingTests.damaged, nil)
            case .failed: ("held", "it is lost", ParcelStandingTests.now + .seconds(60))
            case .failedForGood: ("held", "it is lost", nil)
            case .done: ("done", nil, nil)
            case .unverified: ("done", "nothing is shown", nil)
            case .never: ("never", nil, nil)
            }
        }

        /// The facts from which a rebuilt catalog derives this state.
        var facts: ParcelStanding.Facts? {
            switch self {
            case .waiting: .init(revision: 2)
            case .byHand: .init(revision: 2, decision: .hold)
            case .damaged: .init(revision: 2, damage: "a.wav: it is too short")
            case .failed, .failedForGood: nil
            case .done: .init(revision: 2, presence: .complete(unverified: nil))
            case .unverified: .init(revision: 2, presence: .complete(unverified: "nothing is shown"))
            case .never: .init(revision: 2, decision: .never)
            }
        }
    }

    private func standing(_ kind: Kind, revision: Int = 2, attempts: Int = 3) throws -> ParcelStanding {
        let (state, why, until) = kind.columns
        let row: Row = [
            "state": state, "why": why, "untilUs": until?.microseconds, "revision": revision, "attempts": attempts,
        ]
        return try #require(ParcelStanding(row))
    }

    @Test(arguments: Kind.allCases) func `a row that is read is written as it was`(kind: Kind) throws {
        let (state, why, until) = kind.columns
        #expect(try standing(kind).values == [state, why, until?.microseconds, 2, 3])
        #expect(
            ParcelStanding(["state": "sold", "why": nil, "untilUs": nil, "revision": 2, "attempts": 3] as Row) == nil)
    }

    @Test(arguments: Kind.allCases) func `what is known decides where it stands, but for failures of one revision`(
        kind: Kind
    ) throws {
        for old in Kind.allCases {
            guard let facts = kind.facts else { continue }
            let anew = try standing(kind, attempts: 0)
            #expect(ParcelStanding(facts) == anew)
            #expect(try ParcelStanding(facts, after: standing(old, revision: 1)) == anew, "\(old)")
            let after = try ParcelStanding(facts, after: standing(old))
            switch (kind, old) {
            case (.waiting, .waiting), (.waiting, .failed), (.waiting, .failedForGood):
                #expect(try after == standing(old), "\(old)")
            case _: #expect(after == anew, "\(old)")
            }
        }
    }

    @Test func `what a store has, a conversion, a decision and damage count in this order`() throws {
        var facts = ParcelStanding.Facts(
            revision: 2, presence: .complete(unverified: nil), decision: .never, damage: "a.wav: it is too short",
            isPending: true)
        #expect(try ParcelStanding(facts) == standing(.done, attempts: 0))
        facts.presence = .missing
        #expect(ParcelStanding(facts) == nil)
        #expect(try ParcelStanding(facts, after: standing(.failed)) == nil)
        facts.isPending = false
        #expect(try ParcelStanding(facts) == standing(.never, attempts: 0))
        facts.decision = .hold
        #expect(try ParcelStanding(facts) == standing(.byHand, attempts: 0))
        facts.decision = nil
        #expect(try ParcelStanding(facts) == standing(.damaged, attempts: 0))
    }

    @Test(arguments: Kind.allCases) func `a failure holds what waits, and nothing else`(kind: Kind) throws {
        for tried in 1...3 {
            var standing = try standing(kind)
            standing.failed("it is lost", .after(.seconds(60)), of: tried, at: Self.now)
            let isHeld = kind == .waiting && tried == 2
            #expect(try standing == (isHeld ? self.standing(.failed, attempts: 4) : self.standing(kind)))
        }
    }

    @Test func `a failure holds for a time, for one that grows, or for a person`() throws {
        var held = try standing(.waiting)
        held.failed("it is lost", .byPersonOnly, of: 2, at: Self.now)
        #expect(try held == standing(.failedForGood, attempts: 4))
        held = try standing(.waiting)
        held.failed(Self.damaged, .byPersonOnly, of: 2, at: Self.now)
        #expect(try held == standing(.damaged, attempts: 4))
        held = try standing(.waiting)
        held.failed("it is lost", .afterBackOff(chance: 1), of: 2, at: Self.now)
        #expect(held.values == ["held", "it is lost", (Self.now + .seconds(40)).microseconds, 2, 4])
    }

    @Test func `the back-off grows to an hour`() {
        #expect(
            [1, 2, 3, 10, 11, 40].map { ParcelStanding.backOff($0, chance: 1) }
                == [5, 10, 20, 2560, 3600, 3600].map(seconds))
        #expect([1, 40].map { ParcelStanding.backOff($0, chance: 0) } == [2.5, 1800].map { .seconds($0) })
        func seconds(_ count: Int) -> Duration { .seconds(count) }
    }

    @Test(arguments: Kind.allCases) func `a time that has come, or is that of a wrong clock, ends a hold`(kind: Kind)
        throws
    {
        let soon = Self.now + .seconds(60)
        for (now, isDue) in [
            (Self.now, false), (soon - .seconds(12 * 3600), false), (soon, true), (soon + .seconds(1), true),
            (soon - .seconds(12 * 3600 + 1), true),
        ] {
            var standing = try standing(kind)
            standing.due(at: now)
            #expect(try standing == self.standing(kind == .failed && isDue ? .waiting : kind))
        }
    }

    @Test(arguments: Kind.allCases) func `a retry lets all wait but what is held by hand`(kind: Kind) throws {
        var standing = try standing(kind)
        standing.retried()
        switch kind {
        case .damaged, .failed, .failedForGood, .unverified:
            #expect(try standing == self.standing(.waiting, attempts: 0))
        case .waiting, .byHand, .done, .never: #expect(try standing == self.standing(kind))
        }
    }
}

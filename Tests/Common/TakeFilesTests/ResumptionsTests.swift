import Takes
import Testing

@testable import TakeFiles

struct ResumptionsTests {
    private let resumptions = Resumptions()
    private let take = TakeName(kit: "heron07", number: 1, started: morning)
    private let other = TakeName(kit: "heron07", number: 2, started: morning)

    @Test func `a take may continue from the start of its tail until that is dropped`() {
        var states: [Resumptions.State?] = []
        for state in [.possible, .underWay, .possible, nil] as [Resumptions.State?] {
            resumptions.note(state, of: take)
            states.append(resumptions.hold(take) { $0 })
            #expect(resumptions.contains(take) == (state != nil))
            #expect(resumptions.all == (state == nil ? [] : [take]))
        }
        #expect(states == [.possible, .underWay, .possible, nil])
    }

    @Test func `takes do not affect each other`() {
        resumptions.note(.possible, of: take)
        resumptions.note(.underWay, of: other)
        #expect(resumptions.all == [take, other])
        resumptions.note(nil, of: take)
        #expect(resumptions.all == [other] && !resumptions.contains(take))
    }

    @Test func `an error in the body is thrown, and the state stays`() {
        struct Failure: Error {}
        resumptions.note(.underWay, of: take)
        #expect(throws: Failure.self) { try resumptions.hold(take) { _ in throw Failure() } }
        #expect(resumptions.contains(take))
    }
}

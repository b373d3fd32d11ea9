import Testing

@testable import Ring

struct LatenessTests {
    @Test func `the share of late stamps is that of those that were heard`() {
        var lateness = Lateness()
        #expect(lateness.share(over: 1) == 1)
        for number in 0..<999 { lateness.note(number % 10 == 0 ? 2 : 0.01) }
        #expect(abs(lateness.share(over: 1) - 0.101) < 1e-9)
        #expect(abs(lateness.share(over: 5) - 0.001) < 1e-9)
        #expect(lateness.share(over: 0) == 1)
    }

    @Test func `what was long ago counts less`() {
        var lateness = Lateness()
        for _ in 0..<4000 { lateness.note(2) }
        for _ in 0..<40000 { lateness.note(0) }
        #expect(lateness.share(over: 1) < 0.05)
    }

    @Test func `a lateness beyond all bins is in the last`() {
        var lateness = Lateness()
        lateness.note(1e12)
        lateness.note(-1)
        #expect(abs(lateness.share(over: 1e9) - 2.0 / 3) < 1e-9)
    }

    @Test func `stamps must be late for longer than they were when it was just lateness`() {
        var lateness = Lateness()
        #expect(lateness.patienceSeconds(at: 0, against: 1) == 0.9)
        lateness.noteSpell(of: 0.8, seconds: 2, at: 100)
        #expect(lateness.patienceSeconds(at: 100, against: 1) == 3)
        // Against ten times as much, that spell is no reason to wait.
        #expect(lateness.patienceSeconds(at: 100, against: 8) == 0.9)
        // It is forgotten, slowly.
        #expect(lateness.patienceSeconds(at: 700, against: 1) == 1.5)
        #expect(lateness.patienceSeconds(at: 10000, against: 1) == 0.9)
        lateness.noteSpell(of: 0.8, seconds: 20, at: 10000)
        #expect(lateness.patienceSeconds(at: 10000, against: 1) == 10)
        // A few late stamps are no spell.
        var other = Lateness()
        other.noteSpell(of: 0.8, seconds: 0.3, at: 0)
        #expect(other.patienceSeconds(at: 0, against: 1) == 0.9)
    }
}

import Takes
import Testing
import Transport

@Suite struct PairingWindowTests {
    private let opened = Instant(nanoseconds: 50_000_000_000)

    private var open: PairingWindow {
        var window = PairingWindow()
        window.open(at: opened)
        return window
    }

    @Test func `it is open for two minutes`() {
        var window = open
        #expect(!PairingWindow().isOpen(at: opened))
        let end = opened + .seconds(120)
        #expect(window.end == end && window.isOpen(at: end - .nanoseconds(1)) && !window.isOpen(at: end))
        #expect(!window.settle(at: end - .nanoseconds(1)) && window.settle(at: end) && !window.settle(at: end))
        #expect(window.end == nil)
    }

    @Test func `after its time a right code is refused, also before it was settled`() {
        var window = open
        #expect(window.take(codeThatIsRight: true, at: opened + .seconds(120)) == .closed)
    }

    @Test func `of two right codes the first is accepted`() {
        var window = open
        #expect(window.take(codeThatIsRight: true, at: opened) == .accepted)
        #expect(window.take(codeThatIsRight: true, at: opened) == .closed)
        #expect(window.end == nil)
    }

    @Test func `the fifth wrong code closes it, and opening it again forgets them`() {
        var window = open
        for left in [4, 3, 2, 1] { #expect(window.take(codeThatIsRight: false, at: opened) == .wrong(left: left)) }
        window.open(at: opened)
        for left in [4, 3, 2, 1] { #expect(window.take(codeThatIsRight: false, at: opened) == .wrong(left: left)) }
        #expect(window.take(codeThatIsRight: false, at: opened) == .lastWrong)
        #expect(window.take(codeThatIsRight: true, at: opened) == .closed)
    }

    @Test func `a wrong code does not extend it`() {
        var window = open
        _ = window.take(codeThatIsRight: false, at: opened + .seconds(100))
        #expect(window.end == opened + .seconds(120))
    }
}

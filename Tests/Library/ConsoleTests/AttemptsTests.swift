import DiskCalls
import NIOCore
import Takes
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct AttemptsTests {
    private func at(_ second: Int64) -> Instant { Instant(nanoseconds: second * 1_000_000_000) }

    private func guesser(_ address: String) throws -> Attempts.Guesser {
        .address(BrowserAddress(try SocketAddress(ipAddress: address, port: 80)))
    }

    @Test func `five failures a minute are allowed, and those that are under way count`() throws {
        let stranger = try guesser("192.168.4.2")
        var attempts = Attempts()
        for second in 0..<5 { #expect(attempts.begin(stranger, at: at(Int64(second))) == nil) }
        #expect(attempts.begin(stranger, at: at(10)) == .seconds(50))
        attempts.takeBack(stranger, at(3))
        #expect(attempts.begin(stranger, at: at(11)) == nil)
        #expect(attempts.begin(stranger, at: at(12)) == .seconds(48))
        #expect(attempts.begin(stranger, at: at(60)) == nil)
    }

    @Test func `failures of others lock out neither another address nor a phone that is paired`() throws {
        var attempts = Attempts()
        let stranger = try guesser("192.168.4.2")
        for _ in 0..<6 { _ = attempts.begin(stranger, at: at(0)) }
        #expect(attempts.begin(stranger, at: at(1)) != nil)
        #expect(attempts.begin(try guesser("192.168.4.3"), at: at(1)) == nil)
        #expect(attempts.begin(.phone("1a"), at: at(1)) == nil)
    }

    @Test func `a network of IPv6 is one guesser, and each address of IPv4 another one, whatever its form`() throws {
        var attempts = Attempts()
        for host in 1...5 { #expect(attempts.begin(try guesser("fd00::\(host)"), at: at(0)) == nil) }
        #expect(attempts.begin(try guesser("fd00::6"), at: at(0)) != nil)
        #expect(attempts.begin(try guesser("fd00:0:0:1::1"), at: at(0)) == nil)
        for host in 1...6 { #expect(attempts.begin(try guesser("::ffff:10.0.0.\(host)"), at: at(0)) == nil) }
        for _ in 0..<4 { _ = attempts.begin(try guesser("10.0.0.1"), at: at(0)) }
        #expect(attempts.begin(try guesser("::ffff:10.0.0.1"), at: at(0)) != nil)
    }

    @Test func `more guessers than are kept make room for each other, the oldest first`() throws {
        var attempts = Attempts()
        for number in 0..<Attempts.mostGuessers {
            for _ in 0..<5 { _ = attempts.begin(.phone("\(number)"), at: at(number == 7 ? 1 : 2)) }
        }
        #expect(attempts.begin(.phone("new"), at: at(3)) == nil)
        #expect(attempts.begin(.phone("0"), at: at(3)) != nil)
        #expect(attempts.begin(.phone("7"), at: at(3)) == nil)
    }
}

import DiskCalls
import NIOCore
import Takes
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct ConnectionBookTests {
    private func at(_ second: Double) -> Instant { Instant(nanoseconds: Int64(second * 1e9)) }

    private func address(_ host: Int) throws -> BrowserAddress {
        BrowserAddress(try SocketAddress(ipAddress: "192.168.4.\(host)", port: 1000 + host))
    }

    /// Connections of strangers, numbered from 1, with the same number at each address.
    private func crowd(_ hosts: Int, each count: Int) throws -> ConnectionBook<Int> {
        var book = ConnectionBook<Int>()
        for number in 0..<hosts * count {
            #expect(book.came(number + 1, from: try address(number % hosts + 1), at: at(0)) == [])
        }
        return book
    }

    @Test func `a stranger that is silent for 10 s must go, and one that has asked since need not`() throws {
        var book = try crowd(1, each: 2)
        book.asked(2, isPaired: false)
        #expect(book.overdue(at: at(9.9)) == [])
        #expect(book.overdue(at: at(10)) == [1])
        #expect(book.overdue(at: at(100)) == [])
        book.answered(2, at: at(100))
        #expect(book.overdue(at: at(109.9)) == [])
        #expect(book.overdue(at: at(110)) == [2])
        #expect(book.isEmpty)
    }

    @Test func `a paired phone may be silent, until it asks as a stranger`() throws {
        var book = try crowd(1, each: 1)
        book.asked(1, isPaired: true)
        book.answered(1, at: at(1))
        #expect(book.overdue(at: at(1000)) == [])
        book.asked(1, isPaired: false)
        book.answered(1, at: at(1000))
        #expect(book.overdue(at: at(1010)) == [1])
    }

    @Test func `of more than 16 at an address the oldest must go after 2 s, those of other addresses stay`() throws {
        var book = try crowd(1, each: 20)
        #expect(book.came(100, from: try address(2), at: at(0)) == [])
        #expect(book.overdue(at: at(1.9)) == [])
        #expect(book.overdue(at: at(2)) == [1, 2, 3, 4])
        #expect(book.overdue(at: at(3)) == [])
        #expect(book.came(101, from: try address(1), at: at(3)) == [])
        #expect(book.came(102, from: try address(1), at: at(5)) == [5])
    }

    @Test func `those that say that they are paired do not count`() throws {
        var book = try crowd(1, each: 60)
        for number in 1...50 { book.asked(number, isPaired: true) }
        #expect(book.overdue(at: at(5)) == [])
    }

    @Test func `strangers have 96 places: the address with most of them loses the silent one that came first`() throws {
        var book = try crowd(8, each: 12)
        book.asked(3, isPaired: false)
        #expect(book.came(200, from: try address(3), at: at(1)) == [1])
        // Now the third address has one more than the others.
        #expect(book.came(201, from: try address(9), at: at(1)) == [11])
    }

    @Test func `where all strangers are being answered, the first of them must go`() throws {
        var book = try crowd(6, each: 16)
        for number in 1...96 { book.asked(number, isPaired: false) }
        #expect(book.came(200, from: try address(9), at: at(1)) == [1])
    }

    @Test func `32 places are for phones that are paired, and they take those of strangers too`() throws {
        var book = try crowd(8, each: 12)
        for number in 300..<333 {
            let victims = book.came(number, from: try address(50), at: at(0.5))
            #expect(victims.count == (number == 300 ? 1 : 0), "\(number)")
            book.asked(number, isPaired: true)
        }
        #expect(book.came(400, from: try address(50), at: at(0.5)) == [2])
        book.asked(400, isPaired: true)
    }

    @Test func `where all places are paired phones', none must go`() {
        var book = ConnectionBook<Int>()
        for number in 0..<ConnectionLimits.most {
            _ = book.came(number, from: BrowserAddress(nil), at: at(0))
            book.asked(number, isPaired: true)
        }
        #expect(book.came(1000, from: BrowserAddress(nil), at: at(100)) == [])
    }
}

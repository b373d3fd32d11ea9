import DiskCalls
import Glibc
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct InheritedSocketsTests {
    @Test func `the socket of the name tls is for TLS, wherever it comes, and the first other one is plain`() {
        func found(_ count: Int32, _ names: String) -> [Int32?] {
            let sockets = InheritedSockets(Array(3..<(3 + count)), names: names)
            return [sockets.plain, sockets.tls]
        }
        #expect(found(2, "fieldfare-library.socket:tls") == [3, 4])
        #expect(found(2, "tls:fieldfare-library.socket") == [4, 3])
        #expect(found(1, "fieldfare-library.socket") == [3, nil])
        #expect(found(1, "tls") == [nil, 3])
        #expect(found(1, "") == [3, nil])
        #expect(found(3, "tls:tls:web") == [5, 3])
        #expect(found(0, "") == [nil, nil])
    }

    @Test func `where a socket listens is known, and whether that is where it should`() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(InheritedSockets.listens(descriptor, at: "0.0.0.0"))
        #expect(!InheritedSockets.listens(descriptor, at: "127.0.0.1"))
        #expect(InheritedSockets.listens(descriptor, at: "0.0.0.0", port: 0))
        #expect(!InheritedSockets.listens(descriptor, at: "0.0.0.0", port: 80))
        #expect(InheritedSockets.address(of: -1) == nil)
    }
}

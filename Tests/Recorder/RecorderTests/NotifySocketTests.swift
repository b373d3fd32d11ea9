import Glibc
import ServiceManager
import TestBench
import Testing

/// Calls whose `send` fails as planned, and then works.
func failing(_ codes: Int32..., always code: Int32? = nil) -> NotifyCalls {
    var calls = NotifyCalls()
    let send = calls.send
    var codes = codes
    calls.send = { descriptor, message, name in
        if let next = codes.isEmpty ? code : codes.removeFirst() {
            errno = next
            return -1
        }
        return send(descriptor, message, name)
    }
    return calls
}

@Suite struct NotifySocketTests {
    @Test(arguments: ["/tmp/", "@"])
    func `notices arrive, by a path and by an abstract name`(_ form: String) throws {
        let manager = MadeUpManager(MadeUpManager.name(form))
        let socket = try NotifySocket(manager.address)
        try socket.send([.ready, .status("armed")])
        try socket.send([.watchdog])
        try socket.send([.moreTime(.milliseconds(90_500))])
        try socket.send([.stopping])
        #expect(
            manager.received()
                == ["READY=1\nSTATUS=armed", "WATCHDOG=1", "EXTEND_TIMEOUT_USEC=90500000", "STOPPING=1"])
    }

    @Test func `a status is one line, whatever is in it`() throws {
        let manager = MadeUpManager(MadeUpManager.name("@"))
        try NotifySocket(manager.address).send([.status("one\nREADY=1\r\nthree")])
        #expect(manager.received() == ["STATUS=one READY=1 three"])
    }

    @Test func `a message that is interrupted is sent again`() throws {
        let manager = MadeUpManager(MadeUpManager.name("@"))
        let socket = try NotifySocket(manager.address, calls: failing(EINTR, EINTR, EINTR))
        try socket.send([.watchdog])
        #expect(manager.received() == ["WATCHDOG=1"])
    }

    @Test func `a manager that never accepts a message is an error of one sentence`() throws {
        let socket = try NotifySocket("/run/systemd/notify", calls: failing(always: EAGAIN))
        let error = #expect(throws: NotifyError.self) { try socket.send([.watchdog]) }
        #expect(
            error?.description
                == "service: /run/systemd/notify: cannot send: Resource temporarily unavailable "
                + "(NOTIFY_SOCKET names the service manager's socket)")
    }

    @Test func `a full queue does not keep the loop waiting`() throws {
        let manager = MadeUpManager(MadeUpManager.name("@"))
        let socket = try NotifySocket(manager.address)
        var sent = 0
        var error: NotifyError?
        while error == nil, sent < 100_000 {
            do throws(NotifyError) {
                try socket.send([.watchdog])
                sent += 1
            } catch let failure {
                error = failure
            }
        }
        #expect(error?.code == EAGAIN)
        #expect(manager.received().count == sent)
    }

    @Test func `a socket without a receiver is an error`() throws {
        let socket = try NotifySocket(MadeUpManager.name("@"))
        let error = #expect(throws: NotifyError.self) { try socket.send([.ready]) }
        #expect(error?.code == ECONNREFUSED)
    }

    @Test(arguments: ["", "notify", "vsock:2:1234", "/" + String(repeating: "n", count: 107)])
    func `an address that is no Unix socket's is refused`(_ address: String) {
        let error = #expect(throws: NotifyError.self) { _ = try NotifySocket(address) }
        #expect(error == NotifyError("use it", address, code: EAFNOSUPPORT))
    }

    @Test func `an abstract name is as long as it says, and a path ends with a zero`() {
        func bytes(_ name: String) -> [UInt8] {
            SocketName(name).withAddress { address, length in
                Array(UnsafeRawBufferPointer(start: address, count: Int(length)).dropFirst(2))
            }
        }
        #expect(bytes("@ab") == [0, UInt8(ascii: "a"), UInt8(ascii: "b")])
        #expect(bytes("/ab") == [UInt8(ascii: "/"), UInt8(ascii: "a"), UInt8(ascii: "b"), 0])
    }

    @Test func `the longest address there can be is used whole`() throws {
        let name = MadeUpManager.name("@")
        let longest = name + String(repeating: "n", count: SocketName.longest - name.utf8.count)
        let manager = MadeUpManager(longest)
        try NotifySocket(longest).send([.ready])
        #expect(manager.received() == ["READY=1"])
    }

    @Test func `a socket that cannot be opened is an error, and none is closed`() {
        var calls = NotifyCalls()
        calls.socket = {
            errno = EMFILE
            return -1
        }
        calls.close = { Issue.record("\($0) is closed") }
        let error = #expect(throws: NotifyError.self) { _ = try NotifySocket("@manager", calls: calls) }
        #expect(error == NotifyError("open a socket", "@manager", code: EMFILE))
    }

    @Test func `the socket is closed once`() throws {
        var calls = NotifyCalls()
        var closed: [Int32] = []
        calls.socket = { 4711 }
        calls.close = { closed.append($0) }
        do { _ = try NotifySocket("@manager", calls: calls) }
        #expect(closed == [4711])
    }
}

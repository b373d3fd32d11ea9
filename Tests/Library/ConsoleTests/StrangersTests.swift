import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

/// Strangers who occupy connections, over real sockets from different addresses, while a paired phone uses the kit.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct StrangersTests {
    /// Opens idle connections from some addresses. The phone's first request comes before them, and after each tenth it
    /// sends a request on a new connection. At the TLS port, the idle connections send the first byte of a handshake.
    /// Prints how many of the phone's requests were answered, whether its first connection is still open, how many
    /// strangers are dropped once all must be, and whether a stranger is answered then.
    private static let flood = #"""
        import http.client, json, socket, ssl, sys
        port, token, hosts, each, is_secure = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "tls"
        def connect(**options):
            if not is_secure: return http.client.HTTPConnection("127.0.0.1", port, **options)
            return http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), **options)
        def ask(connection):
            connection.request("GET", "/api/phones", headers={"Cookie": "fieldfare=" + token})
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        first = connect(timeout=20)
        assert ask(first)
        strangers, answered = [], 0
        for number in range(hosts * each):
            strangers.append(socket.create_connection(
                ("127.0.0.1", port), timeout=60, source_address=(f"127.0.0.{2 + number % hosts}", 0)))
            if is_secure: strangers[-1].sendall(b"\x16")
            if number % 10 == 9:
                # Not so long that the strangers are dropped for having been silent.
                phone = connect(timeout=20)
                answered += ask(phone)
                phone.close()
        kept = ask(first)
        def is_dropped(stranger):
            try:
                while stranger.recv(1000): pass
            except ConnectionResetError: pass
            return True
        dropped = sum(is_dropped(stranger) for stranger in strangers)
        other = connect(timeout=60, source_address=("127.0.0.2", 0))
        other.request("GET", "/api/session")
        print(json.dumps([answered, kept, dropped, other.getresponse().status]))
        """#

    @Test(.needsServers, arguments: [(1, 160, false), (20, 16, false), (1, 160, true), (20, 16, true)])
    func `no number of idle strangers keeps a phone out that is paired, and all of them are dropped`(
        hosts: Int, each: Int, isSecure: Bool
    ) throws {
        let kit = try RunningKit()
        let port = isSecure ? kit.tlsPort : kit.library.port
        let arguments = [String(port), kit.token, String(hosts), String(each), isSecure ? "tls" : "plain"]
        #expect(
            try TestServer.python(Self.flood, arguments) == "[\(hosts * each / 10), true, \(hosts * each), 200]")
    }

    /// Sends a wrong password from an address until it is refused, then pairs from another address, and from the first
    /// one with a phone's cookie. Prints the statuses.
    private static let guesses = #"""
        import http.client, json, sys
        port, token, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        def pair(host, word, cookie=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(host, 0))
            fields = {"Content-Type": "application/json"} | ({"Cookie": "fieldfare=" + cookie} if cookie else {})
            connection.request("POST", "/api/session", json.dumps({"name": "x", "password": word}), fields)
            return connection.getresponse().status
        statuses = [pair("127.0.0.2", "wren") for _ in range(6)]
        print(json.dumps(statuses + [pair("127.0.0.2", password), pair("127.0.0.3", password), pair("127.0.0.2", password, token)]))
        """#

    @Test(.needsServers)
    func `wrong passwords of a stranger lock out the stranger's address, and nobody else`() throws {
        let kit = try RunningKit()
        let arguments = [String(kit.library.port), kit.token, RunningKit.password]
        #expect(
            try TestServer.python(Self.guesses, arguments) == "[403, 403, 403, 403, 403, 429, 429, 201, 201]")
    }
}

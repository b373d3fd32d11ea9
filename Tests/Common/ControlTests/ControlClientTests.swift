import Glibc
import Sockets
import Takes
import TestBench
import Testing
import Transport

@testable import Control

@Suite struct ControlClientTests {
    private let folder = TestFolder()

    /// A clock that runs so fast that every timeout expires at once.
    private final class Impatience: Clock {
        func now() -> Instant {
            Instant(nanoseconds: SystemClock().now().nanoseconds * 1000)
        }
        func wallTime() -> WallTime { WallTime(microseconds: 0) }
    }

    /// Connects to a service that has already sent `text`, and has closed the connection if `closing` is true.
    private func client<Message: PeerMessage>(
        receiving text: String, closing: Bool = false, of: Message.Type = RecorderMessage.self
    ) throws -> (PeerClient<Message>, Int32) {
        let service = try Listener(path: folder.socket)
        let client = try PeerClient<Message>(path: folder.socket, clock: Impatience())
        let end = SocketCalls().accept(service.descriptor.number)
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe send(end, $0.baseAddress, $0.count, 0) }
        if closing { shutdown(end, Int32(SHUT_WR)) }
        return (client, end)
    }

    private func sentence(of body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch let error as ControlError {
            return "\(error) [\(error.exitStatus)]".replacing(folder.path, with: "FOLDER")
        } catch {
            return "\(error)"
        }
    }

    @Test func `without a recorder the error says what to do`() throws {
        #expect(
            sentence { _ = try ControlClient(path: folder.socket) }
                == "control: FOLDER/recorder.sock: the recorder is not running (No such file or directory) [69]")
        let old = Descriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let number = old.number
        _ = unsafe SocketAddress.with(folder.socket) { unsafe bind(number, $0, $1) }
        #expect(
            sentence { _ = try LibraryClient(path: folder.socket) }
                == "control: FOLDER/recorder.sock: the library is not running (Connection refused) [69]")
        let service = ControlError(
            "/run/fieldfare/recorder.sock", .notRunning(service: .recorder, code: ENOENT))
        #expect(service.description.hasSuffix("): start it with 'systemctl start fieldfare-recorder'"))
    }

    @Test(
        arguments: [
            (ControlError.Cause.pathLength, 64), (.notASocket, 73), (.taken(by: .recorder), 73),
            (.listen("listen", code: EIO), 73),
            (.notRunning(service: .recorder, code: ENOENT), 69), (.denied(code: EACCES), 77),
            (.talk("send", code: EIO), 74), (.closed, 69), (.silent(after: .seconds(5)), 69), (.garbled("x"), 70),
            (.refused(Refusal(.busy, "no")), 75),
        ] as [(ControlError.Cause, Int32)])
    func `each cause has its exit status`(cause: ControlError.Cause, status: Int32) {
        #expect(ControlError("/run/s", cause).exitStatus == status)
    }

    @Test func `a user without the right gets the name of the group that has it`() {
        #expect(
            ControlError("/run/s", .denied(code: EACCES)).description
                == "control: /run/s: Permission denied: is this user in the group 'fieldfare'?")
    }

    @Test func `a reply is found among events, which are kept`() throws {
        var status = Status(version: "9")
        status.state = .playing
        let event = try #require(Event.status(status).line)
        let reply = Reply.status(Status(version: "0")).line(id: .integer(1), isFirst: true)
        let (client, end) = try client(
            receiving:
                "{\"event\":\"level\",\"frames\":1,\"elapsed_seconds\":2,\"synced_seconds\":3,\"level_dbfs\":[]}\n"
                + reply + "\n{\"event\":\"weather\"}\n" + event + "\n{\"event\":")
        defer { close(end) }
        let (answer, _) = try client.askForStatus(.watch(peaks: false), timeout: .seconds(3600))
        #expect(answer == Status(version: "0"))
        var moving = Status(version: "0")
        moving.frames = 1
        moving.elapsedSeconds = 2
        moving.syncedSeconds = 3
        let first = try client.nextEvent(until: Instant(nanoseconds: 0))
        #expect(first?.0 == .level(LevelEvent(moving)))
        let second = try client.nextEvent(until: Instant(nanoseconds: 0))
        #expect(second?.0 == .status(status))
        #expect(second?.line == event)
        let third = try client.nextEvent(until: Instant(nanoseconds: 0))
        #expect(third == nil)

        var sent = [UInt8](repeating: 0, count: 100)
        let count = unsafe recv(end, &sent, sent.count, 0)
        #expect(String(decoding: sent.prefix(count), as: UTF8.self) == "{\"command\":\"watch\",\"id\":1}\n")
    }

    @Test(arguments: [
        (
            #"{"id":1,"ok":false,"protocol":1,"error":{"code":"busy","message":"play: a take is recorded"}}"# + "\n",
            "play: a take is recorded [75]"
        ),
        ("", "control: FOLDER/recorder.sock: the connection was closed by the other end: try again [69]"),
        ("{\"id\":1", "control: FOLDER/recorder.sock: the connection was closed by the other end: try again [69]"),
        ("HTTP/1.1 400\n", "control: FOLDER/recorder.sock: not a reply: \"HTTP/1.1 400\" [70]"),
        (
            "{\"id\":2,\"ok\":true}\n",
            "control: FOLDER/recorder.sock: not a reply: \"{\\\"id\\\":2,\\\"ok\\\":true}\" [70]"
        ),
        (
            "{\"id\":1,\"ok\":true}\n",
            "control: FOLDER/recorder.sock: not a reply: {\"id\":1,\"ok\":true} [70]"
        ),
    ])
    func `what goes wrong while asking is one sentence`(received: String, expected: String) throws {
        let (client, end) = try client(receiving: received, closing: true)
        defer { close(end) }
        #expect(sentence { _ = try client.askForStatus(.status) } == expected)
    }

    @Test(
        arguments: [
            ("", nil),
            (#","reason":"no-stick""#, Refusal.Reason("no-stick")),
            (
                #","reason":"list-late","values":{"seconds":8,"device":"hw:1","new":[1],"half":0.5}"#,
                Refusal.Reason("list-late", ["seconds": .number(8), "device": .text("hw:1")])
            ),
        ] as [(String, Refusal.Reason?)])
    func `a refusal has the reason that the service gives, without values of other types`(
        keys: String, reason: Refusal.Reason?
    ) throws {
        let line = #"{"id":1,"ok":false,"error":{"code":"busy","message":"no"\#(keys)}}"#
        let (client, end) = try client(receiving: line + "\n", closing: true)
        defer { close(end) }
        do throws(ControlError) {
            _ = try client.ask(.status)
            Issue.record("it is not refused")
        } catch {
            guard case .refused(let refusal) = error.cause else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal == Refusal(.busy, "no") && refusal.reason == reason)
        }
    }

    private struct Page: Decodable, Equatable {
        var takes: [String]
        var next: String?
    }

    @Test func `the keys of a long reply are read as what is asked for`() throws {
        let takes = (1...7000).map { "heron07-\($0)" }
        let list = takes.map { "\"\($0)\"" }.joined(separator: ",")
        let (client, end) = try client(
            receiving: "{\"id\":1,\"ok\":true,\"takes\":[\(list)],\"next\":null}\n", of: LibraryMessage.self)
        defer { close(end) }
        let page = try client.ask(.takes(TakeQuery()), for: Page.self, timeout: .seconds(3600))
        #expect(page == Page(takes: takes, next: nil))
    }

    @Test func `a reply without what is asked for is reported as none`() throws {
        let (client, end) = try client(
            receiving: "{\"id\":1,\"ok\":true,\"takes\":7}\n", of: LibraryMessage.self)
        defer { close(end) }
        #expect(
            sentence { _ = try client.ask(.status, for: Page.self, timeout: .seconds(3600)) }
                == "control: FOLDER/recorder.sock: not a reply: "
                + #""{\"id\":1,\"ok\":true,\"takes\":7}" [70]"#)
    }

    @Test func `a service that hangs is waited for until the timeout`() throws {
        let (client, end) = try client(receiving: "{\"id\":1,")
        defer { close(end) }
        #expect(
            sentence { _ = try client.ask(.status) }
                == "control: FOLDER/recorder.sock: no reply within 5 s: see the service's log [69]")
    }
}

import Glibc
import Sockets
import TestBench
import Testing

@testable import Control

@Suite struct ListenerServiceTests {
    private let folder = TestFolder()

    private func sentence(_ path: String) -> String? {
        do throws(ControlError) {
            // A held lock is tried again without a pause.
            _ = try Listener.opened(at: path, by: .recorder, pause: {})
            return nil
        } catch {
            return "\(error) [\(error.exitStatus)]"
        }
    }

    @Test func `a lock that cannot be opened is named`() {
        let lock = folder.socket + ".lock"
        unsafe symlink("/dev/null", lock)
        #expect(
            sentence(folder.socket)
                == "control: \(folder.socket): cannot open \(lock): Too many levels of symbolic links [73]")
    }

    @Test func `a socket with a server is not replaced`() throws {
        let exchange = try Exchange()
        let path = exchange.folder.socket
        #expect(
            sentence(path)
                == "control: \(path): cannot listen: another recorder answers there: stop it first, or choose "
                + "another path [73]")
        #expect(exchange.reply(to: "{\"command\":\"lines\"}\n").count == 1)
    }

    @Test func `a socket with a full queue has a server too`() throws {
        let exchange = try Exchange()
        let path = exchange.folder.socket
        let waiting = (0..<17).map { _ in exchange.peer() }
        #expect(sentence(path)?.contains("another recorder answers there") == true)
        #expect(waiting.count == 17)
    }

    @Test func `a file that is no socket is named`() throws {
        let file = unsafe open(folder.socket, O_CREAT | O_WRONLY, 0o600)
        close(file)
        #expect(
            sentence(folder.socket)
                == "control: \(folder.socket): cannot listen: the existing file is not a socket: move it "
                + "away, or choose another path [73]")
    }

    @Test func `a path that no socket can have is refused`() {
        let long = folder.path + "/" + String(repeating: "x", count: 100)
        #expect(
            sentence(long) == "control: \(long): a socket's path has 1 to 107 bytes, this one has \(long.utf8.count): "
                + "choose a shorter one [64]")
    }

    @Test func `a folder that cannot be made is named`() {
        #expect(
            sentence("/proc/fieldfare/recorder.sock")
                == "control: /proc/fieldfare/recorder.sock: cannot make the folder "
                + "/proc/fieldfare: No such file or directory [73]")
    }
}

import Glibc
import Takes

/// A connection to the recorder's sound socket that has asked for the past. For a thread that may wait.
struct SoundConnection: ~Copyable {
    private let file: Int32
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private static let waitMilliseconds: Int32 = 1000

    /// - Throws: `LiveSocket.Failure` if the recorder is absent, or serves no more programs.
    init(path: String) throws(LiveSocket.Failure) {
        guard let file = try LiveSocket(path: path).take() else {
            throw LiveSocket.Failure(description: "the connection was closed")
        }
        self.file = file
        let line = Array("past\n".utf8)
        // A recorder that is gone already is noticed by `receive`. Safe: the bytes live for the call.
        _ = unsafe send(file, line, line.count, Int32(MSG_NOSIGNAL))
    }

    deinit { close(file) }

    /// Waits up to a second for bytes, and passes them on.
    mutating func receive(into messages: inout SoundMessages) throws(LiveSocket.Failure) {
        var readable = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        // Safe: both calls return before their values are released.
        guard unsafe poll(&readable, 1, Self.waitMilliseconds) > 0 else { return }
        let count = unsafe recv(file, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return messages.append(buffer[..<count]) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        throw LiveSocket.Failure(description: count == 0 ? "it has ended" : "\(SystemError(errno))")
    }
}

import Glibc

/// The keys that a person presses in a terminal, one by one and without echo. Ctrl-C and Ctrl-Z still send signals.
final class WatchKeys {
    private enum State {
        /// No key can arrive: the input is not a terminal, was closed, or belongs to a process in the foreground.
        case closed
        /// With the terminal's mode as it was.
        case open(before: termios)
    }

    private let descriptor: Int32
    private var state = State.closed

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { end() }

    /// Readable when a key was pressed; -1 if no key can arrive.
    var fileDescriptor: Int32 {
        switch state {
        case .closed: -1
        case .open: descriptor
        }
    }

    /// Makes the terminal deliver each key at once, if this process may do that.
    func begin() {
        guard case .closed = state, mayChangeMode else { return }
        var before = termios()
        guard unsafe tcgetattr(descriptor, &before) == 0 else { return }
        var mode = before
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe withUnsafeMutableBytes(of: &mode.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        if unsafe tcsetattr(descriptor, TCSANOW, &mode) == 0 { state = .open(before: before) }
    }

    /// Restores the terminal's mode.
    func end() {
        guard case .open(var before) = state else { return }
        state = .closed
        if mayChangeMode { unsafe tcsetattr(descriptor, TCSANOW, &before) }
    }

    /// Reads the pressed keys. Call it when `fileDescriptor` is readable.
    /// - Returns: whether q is one of them.
    func isQuit() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        // Safe: the length is the array's.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            // A closed terminal stays readable.
            if count == 0 || (errno != EINTR && errno != EAGAIN) { end() }
            return false
        }
        // The name of another key, such as F2, begins with an escape and may contain the letter.
        let escape: UInt8 = 0x1b
        return bytes[0] != escape && bytes.prefix(count).contains { $0 | 0x20 == UInt8(ascii: "q") }
    }

    /// Whether the kernel lets this process change the mode. It stops a process in the background that tries that. At a
    /// terminal that is not its own, a process has no foreground.
    private var mayChangeMode: Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground < 0 || foreground == getpgrp()
    }
}

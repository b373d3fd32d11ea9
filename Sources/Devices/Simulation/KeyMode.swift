import Glibc
import Takes

/// A terminal that delivers each key at once and without echo. The previous mode is restored when this goes out of
/// scope.
struct KeyMode: ~Copyable {
    private let file: Int32
    private var before: termios

    /// - Throws: `SimulationError`; the terminal is then unchanged.
    init(of file: Int32) throws(SimulationError) {
        self.file = file
        before = termios()
        guard unsafe tcgetattr(file, &before) == 0 else { throw Self.error("read") }
        var mode = before
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-S would stop the drawing.
        mode.c_iflag &= ~tcflag_t(IXON)
        // Ctrl-C ends the recorder properly. The other signal keys are disabled, because a recorder that is suspended
        // or dumps core loses sound.
        unsafe withUnsafeMutableBytes(of: &mode.c_cc) { keys in
            // 0 is _POSIX_VDISABLE.
            for index in [VSUSP, VQUIT] { unsafe keys[Int(index)] = 0 }
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        guard unsafe tcsetattr(file, TCSANOW, &mode) == 0 else { throw Self.error("set") }
    }

    deinit {
        var before = before
        unsafe tcsetattr(file, TCSANOW, &before)
    }

    private static func error(_ operation: String) -> SimulationError {
        SimulationError("panel: terminal: cannot \(operation) its mode: \(SystemError(errno))")
    }
}

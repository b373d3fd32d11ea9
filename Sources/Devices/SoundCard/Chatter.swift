import CALSA

/// Catches the messages that ALSA would print to the standard error stream. They are kept for each thread and added to
/// errors.
///
/// The messages are in a variable of the shim, and each object file has its own copy of it. Therefore only this file
/// may use it, and nothing in this file may be inlined into another.
enum Chatter {
    private static let caught: Void = calsa_catch_messages()

    /// Drops the messages of this thread. The first call starts the catching.
    @inline(never)
    static func clear() {
        _ = caught
        unsafe calsa_messages()!.pointee.length = 0
    }

    /// The messages of this thread since `clear`, in one line, or nil without messages.
    @inline(never)
    static func take() -> String? {
        // Safe: the messages live as long as the thread, and their length is within their text.
        let messages = unsafe calsa_messages()!
        let bytes = unsafe withUnsafeBytes(of: &messages.pointee.text) {
            unsafe Array($0.prefix(Int(messages.pointee.length)))
        }
        clear()
        let line = String(decoding: bytes, as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        return line.isEmpty ? nil : line
    }
}

import CALSA

/// What ALSA would print to the standard error stream: caught for each thread, to become part of an error.
///
/// The messages are a variable of the shim, of which each object file has its own: so this file alone may use it, and
/// nothing of this may be inlined into another.
enum Chatter {
    private static let caught: Void = calsa_catch_messages()

    /// Drops the messages of this thread. The first call makes ALSA's messages be caught from then on.
    @inline(never)
    static func clear() {
        _ = caught
        unsafe calsa_messages()!.pointee.length = 0
    }

    /// The messages of this thread since `clear`, in one line; nil: none.
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

import CALSA

/// What ALSA would print to the standard error stream: caught, a thread at a time, to become part of an error.
///
/// The messages are a variable of the shim, of which each object file has its own: so this file alone may use it, and
/// nothing of this may be inlined into another.
enum Chatter {
    private static let caught: Void = calsa_catch_messages()

    /// Drops what was said on this thread. The first call has ALSA's messages caught from then on.
    @inline(never)
    static func forget() {
        _ = caught
        unsafe calsa_messages()!.pointee.length = 0
    }

    /// What was said on this thread since `forget`, in one line; nil if nothing was.
    @inline(never)
    static func take() -> String? {
        // Safe: the messages live as long as the thread, and their length is within their text.
        let messages = unsafe calsa_messages()!
        let bytes = unsafe withUnsafeBytes(of: &messages.pointee.text) {
            unsafe Array($0.prefix(Int(messages.pointee.length)))
        }
        forget()
        let line = String(decoding: bytes, as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        return line.isEmpty ? nil : line
    }
}

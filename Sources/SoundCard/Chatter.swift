import CALSA

/// What ALSA would print to the standard error stream: caught, a thread at a time, to become part of an error.
enum Chatter {
    private static let caught: Void = calsa_catch_messages()

    /// Drops what was said on this thread. The first call has ALSA's messages caught from then on.
    static func forget() {
        _ = caught
        unsafe calsa_messages()!.pointee.length = 0
    }

    /// What was said on this thread since `forget`, in one line; nil if nothing was.
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

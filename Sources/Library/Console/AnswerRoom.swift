import Takes

/// The memory for answers that wait to be read, shared by all browsers. Thread-safe.
final class AnswerRoom: Sendable {
    private let free: Locked<Int>

    /// The bytes that one answer uses, until it is released.
    final class Share: Sendable {
        private let room: AnswerRoom
        private let byteCount: Int

        fileprivate init(_ byteCount: Int, of room: AnswerRoom) {
            self.room = room
            self.byteCount = byteCount
        }

        deinit { room.free.withLock { $0 += byteCount } }
    }

    /// - Parameter byteCount: the bytes of all answers at a time.
    init(_ byteCount: Int) { free = Locked(byteCount) }

    /// Takes the room for an answer, or returns nil if others use it.
    func take(_ byteCount: Int) -> Share? {
        let isThere = free.withLock { free in
            guard byteCount <= free else { return false }
            free -= byteCount
            return true
        }
        return isThere ? Share(byteCount, of: self) : nil
    }
}

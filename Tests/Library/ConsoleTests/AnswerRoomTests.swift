import DiskCalls
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct AnswerRoomTests {
    @Test func `answers take room until they are released`() {
        let room = AnswerRoom(10)
        var first = room.take(6)
        #expect(first != nil && room.take(5) == nil)
        let second = room.take(4)
        #expect(second != nil && room.take(1) == nil)
        first = nil
        #expect(room.take(7) == nil && room.take(6) != nil)
        #expect(room.take(11) == nil)
        _ = second
    }
}

import CLinux
import DiskCalls
import Glibc
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct InotifyNoticeTests {
    /// The layout in inotify(7).
    private func bytes(_ watch: Int32, _ mask: UInt32, _ name: String, room: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in [UInt32(bitPattern: watch), mask, 0, UInt32(room)] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: field >> (8 * $0)) }
        }
        return bytes + Array(name.utf8) + [UInt8](repeating: 0, count: room - name.utf8.count)
    }

    @Test func `several events come from one read, with and without names`() {
        let read = bytes(1, UInt32(IN_CREATE), "a.json", room: 16) + bytes(-1, UInt32(IN_Q_OVERFLOW), "", room: 0)
        let notices = InotifyNotice.all(in: read[...])
        #expect(
            notices == [
                InotifyNotice(watch: 1, mask: UInt32(IN_CREATE), name: "a.json"),
                InotifyNotice(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: ""),
            ])
        #expect(notices[0].has(Int32(IN_CREATE)))
        #expect(!notices[0].has(Int32(IN_MOVED_TO)))
    }

    @Test func `an event that is cut is left out`() {
        let read = bytes(1, 2, "name", room: 16)
        #expect(InotifyNotice.all(in: read.prefix(15)) == [])
        #expect(InotifyNotice.all(in: []) == [])
    }
}

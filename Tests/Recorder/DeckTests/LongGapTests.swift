import Files
import Foundation
import Panel
import Takes
import Testing
import Transport

@testable import Deck

/// A long gap in the captured sound, on a nearly full disk.
@Suite struct LongGapTests {
    @Test(arguments: [false, true]) func `a gap is silence where that fits above the reserve, and a jump where not`(
        hasRoom: Bool
    ) throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 1 << 20 }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(1985))
        // 1.6 MB of silence.
        storage.free = (1 << 20) + (hasRoom ? 2_000_000 : 1_500_000)
        rig.card.overrun(for: .seconds(100))
        rig.run(.milliseconds(1985))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop)
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: TakeFrame(16_000), frames: 800_000, cause: .xrun)])
        #expect(sidecar.parts.count == (hasRoom ? 1 : 2))
        let last = try #require(sidecar.parts.last)
        // 103.985 s at 8 kHz.
        #expect((last.firstFrame + last.frames).count == 831_880)
        if !hasRoom { #expect(last.firstFrame.count == 816_000) }
    }
}

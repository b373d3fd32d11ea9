import Takes
import Testing

@testable import TakeFiles

struct ReceivedSoundTests {
    @Test func `the sound of a take is known by audio file until the take is recovered`() {
        let received = ReceivedSound()
        let take = TakeName(kit: "heron07", number: 1, started: morning)
        let other = TakeName(kit: "heron07", number: 2, started: morning)
        let origin = BroadcastOrigin(
            sidecar: testSidecar(take), started: morning, firstFrame: 0, format: stereo16, isUnfiltered: false)
        let audio = (0..<2).map { index in
            var file = AudioFile(
                name: take.audioFile(part: 1, isUnfiltered: index == 1),
                header: WAVHeader(format: stereo16, origin: origin), firstFrame: .first)
            sound(0..<Int64(10 + index), stereo16).withUnsafeBytes { file.written.append($0) }
            file.written.settle(Int64(40 + 4 * index))
            return file
        }
        received.keep(audio, of: take)
        #expect(
            received.sound(of: take).mapValues(\.sureBytes)
                == ["heron07-0001_20261121_061811.wav": 40, "heron07-0001-raw_20261121_061811.wav": 44])
        #expect(received.sound(of: other).isEmpty)
        received.discard(other)
        #expect(received.sound(of: take).count == 2)
        received.discard(take)
        #expect(received.sound(of: take).isEmpty)
    }
}

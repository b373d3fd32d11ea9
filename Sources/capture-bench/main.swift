// The recorder's way from card to file, as fast as an unpaced PCM delivers: capture, filter, meters, peaks, WAV, syncs.
//
//   capture-bench PCM SECONDS DIRECTORY LOW-PASS-HZ|off
//
// Stereo, 48 kHz, 16 bits. `deploy/bench` times it beside its peers.
import Deck
import Filters
import Glibc
import Ring
import SoundCard
import TakeFiles
import Takes

let arguments = CommandLine.arguments
guard arguments.count == 5, let seconds = Int64(arguments[2]) else {
    print("capture-bench: usage: capture-bench PCM SECONDS DIRECTORY LOW-PASS-HZ|off")
    exit(64)
}

SoundCards.prepareProcess()
let clock = SystemClock()
let card = CaptureCard(sampleFormat: .s16)
let grant = try card.open(CaptureRequest(card: .pcm(arguments[1]), rateHz: 48000, channels: 2))
let ring = Ring(format: grant.format, holding: .seconds(30), periodFrames: grant.periodFrames)
let directory = try TakesDirectory(path: arguments[3])
let design = try FilterDesign(
    lowPassHz: Double(arguments[4]), highPassHz: nil, slopeDBPerOctave: 24, rateHz: grant.format.rateHz)
Denormals.flushToZero()

let writer = Writer(clock: clock, sync: try SyncThread())
// An unpaced card hears faster than time goes: a press from long before finds its first frame.
let start = clock.now() - .seconds(60)
try card.startInSteps(into: ring)
writer.orders.post(
    .begin(
        BeginOrder(
            ring: ring, grant: grant, directory: directory, kit: "bench", pressed: start,
            pressedWall: clock.wallTime(), earliest: nil, clock: .unset, bootID: "", preRoll: .zero,
            lag: .milliseconds(65),
            filter: design, keepUnfiltered: false, syncPromise: .seconds(1), splitBytes: 4000 << 20, reserveBytes: 0,
            pendingFormat: nil,
            version: "bench")))
let total = seconds * Int64(grant.format.rateHz)
while ring.position < total, card.step() {
    // Syncs are due by the sound's own time, as often as in real time.
    _ = writer.turn(now: start + grant.format.duration(ofFrames: ring.position))
}
writer.orders.post(.end(at: nil, .stop))
var frames: Int64 = -1
while frames < 0 {
    _ = writer.turn(now: clock.now() + .seconds(10 * seconds))
    for outcome in writer.outcomes.take() {
        switch outcome {
        case .began, .synced, .warned: break
        case .finished(let name, let sidecar, _):
            frames = sidecar.frames
            print("\(arguments[3])/\(name.day)/\(sidecar.parts[0].file)")
        case .failed(let message, _):
            print("capture-bench: \(message)")
            exit(74)
        }
    }
}
card.stop()
guard frames >= total, ring.missedFrames == 0 else {
    print("capture-bench: \(frames) frames of \(total), \(ring.missedFrames) dropped")
    exit(70)
}

// The recorder's path from card to file (capture, filter, meters, peaks, WAV, syncs), as fast as an unpaced PCM
// delivers.
//
//   capture-bench PCM SECONDS DIRECTORY LOW-PASS-HZ|off [FORMAT [CHANNELS [no-fingerprint]]]
//
// FORMAT is an ALSA name, by default S16_LE; the default is two channels; the rate is 48 kHz. `deploy/bench` compares
// its time with other programs.
import Filters
import Glibc
import Recording
import Ring
import SoundCard
import TakeFiles
import Takes
import Workers

/// A clock that advances with the sound, so that there are as many syncs per second of sound as in real time.
final class SoundClock: Clock {
    private let nanoseconds: Locked<Int64>

    init(_ instant: Instant) { nanoseconds = Locked(instant.nanoseconds) }

    func now() -> Instant { Instant(nanoseconds: nanoseconds.withLock { $0 }) }
    func wallTime() -> WallTime { SystemClock().wallTime() }
    func set(_ instant: Instant) { nanoseconds.withLock { $0 = instant.nanoseconds } }
}

let arguments = CommandLine.arguments
guard (5...8).contains(arguments.count), let seconds = Int64(arguments[2]),
    let sampleFormat = SampleFormat(rawValue: arguments.count > 5 ? arguments[5] : "S16_LE"),
    let channels = arguments.count > 6 ? Int(arguments[6]) : 2,
    arguments.count < 8 || arguments[7] == "no-fingerprint"
else {
    print(
        "capture-bench: usage: capture-bench PCM SECONDS DIRECTORY LOW-PASS-HZ|off [FORMAT [CHANNELS [no-fingerprint]]]"
    )
    exit(64)
}

SoundCards.prepareProcess()
let card = CaptureCard(sampleFormat: sampleFormat, meter: nil)
let grant = try card.open(CaptureRequest(card: .pcm(arguments[1]), rateHz: 48000, channels: .first(channels)))
let ring = Ring(format: grant.format, holding: .seconds(30), periodFrames: grant.periodFrames)
ring.prefault()
let directory = try TakesDirectory(path: arguments[3])
let design = try FilterDesign(
    lowPassHz: Double(arguments[4]), highPassHz: nil, slopeDBPerOctave: 24, rateHz: grant.format.rateHz)

Denormals.flushToZero()

// An unpaced card runs ahead of the system clock. With a press in the past, the first frame is found.
let start = SystemClock().now() - .seconds(60)
let clock = SoundClock(start)
let sync = SyncWorker(syncsBy: clock)
try sync.start(name: "sync")
let writer = WriterWorker(writesBy: clock, sync: sync)
try card.startInSteps(into: ring)
writer.post(
    .begin(
        BeginOrder(
            ring: ring, pressed: start, pressedWall: clock.wallTime(), earliest: nil, preRoll: .zero, filter: design,
            plan: TakePlan(
                grant: grant, directory: directory, kit: "bench", clock: .unset, bootID: "", lag: .milliseconds(75),
                keepsUnfiltered: false, syncPromise: .seconds(1), splitBytes: 4000 << 20, reserveBytes: 0,
                pendingFormat: nil, startedBy: .command, version: "bench", hasFingerprint: arguments.count < 8))))
let total = seconds * Int64(grant.format.rateHz)
while ring.position < RingPosition(total), card.step() {
    clock.set(start + grant.format.duration(ofFrames: ring.position.count))
    _ = writer.step()
}
writer.post(.end(at: nil, .stop, keepsTail: false))
clock.set(clock.now() + .seconds(10 * seconds))
var frames: Int64 = -1
while frames < 0 {
    _ = writer.step()
    for outcome in writer.outcomes() {
        switch outcome {
        case .began, .progress, .warned, .troubled, .leftBehind, .next, .rejoined, .tailEnded: break
        case .finished(let name, let sidecar, _, _):
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

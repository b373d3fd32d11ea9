import Ring
import Takes

@testable import Deck

/// A card that plays as the clock goes on, and remembers every frame that was heard.
final class ScriptedSink: PlaybackSink {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    struct Refusing {
        var text: String
        /// Whether the recording may be in the way.
        var isInUse = false
    }

    /// What it can run at; nil: whatever is asked for.
    var format: StreamFormat?
    var bufferFrames = 4000
    /// Whether it takes back.
    var canTakeBack = true
    /// Refuses to open while this says why.
    var refusal: () -> Refusing? = { nil }
    /// Frames that it counts as queued besides those that it was given.
    var elsewhere = 0
    /// Fails from now on.
    var failure: String?
    /// Plays nothing, while the clock goes on.
    var isStuck = false
    private(set) var requests: [PlaybackRequest] = []
    private(set) var underruns = 0
    private(set) var isOpen = false
    /// Every frame that was heard since the start, as bytes; a frame of silence where nothing was queued is not noted.
    private(set) var heard: [UInt8] = []
    private var queue: [UInt8] = []
    private var granted: StreamFormat?
    private let clock: TestClock
    private var playedUntil: Instant

    init(clock: TestClock) {
        self.clock = clock
        playedUntil = clock.now()
    }

    func open(_ request: PlaybackRequest) throws -> PlaybackGrant {
        requests.append(request)
        if let refusal = refusal() {
            let error = Refused(description: refusal.text)
            throw refusal.isInUse ? CardInUse(error) : error
        }
        let format = format ?? request.format
        granted = format
        isOpen = true
        queue = []
        playedUntil = clock.now()
        return PlaybackGrant(
            card: "card:Scripted", name: "Scripted", format: format, bufferFrames: bufferFrames)
    }

    func write(_ frames: UnsafeRawBufferPointer) throws -> Int {
        if let failure { throw Refused(description: failure) }
        play()
        if queue.isEmpty { playedUntil = clock.now() }
        let size = granted!.bytesPerFrame
        let count = min(frames.count / size, bufferFrames - queue.count / size)
        queue += frames.prefix(count * size)
        return count
    }

    func queuedFrames() throws -> Int {
        play()
        return queue.count / granted!.bytesPerFrame + (queue.isEmpty ? 0 : elsewhere)
    }

    func takeBack(keeping frameCount: Int) throws -> Int {
        guard canTakeBack else { return 0 }
        play()
        let count = max(0, queue.count / granted!.bytesPerFrame - frameCount)
        queue.removeLast(count * granted!.bytesPerFrame)
        return count
    }

    func drop() { queue = [] }

    func close() {
        play()
        drop()
        isOpen = false
    }

    /// Plays what is due.
    func play() {
        guard let granted, isOpen, !isStuck else { return }
        let frames = Int(granted.frames(in: clock.now() - playedUntil))
        guard frames > 0 else { return }
        playedUntil = clock.now()
        let bytes = min(queue.count, frames * granted.bytesPerFrame)
        heard += queue.prefix(bytes)
        queue.removeFirst(bytes)
    }

    /// What was heard, as samples of 16 bits.
    var samples: [Int16] {
        heard.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    func forget() { heard = [] }
}

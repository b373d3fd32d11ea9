package import Ring
package import Takes

/// A card that plays as the clock goes on, and keeps every frame that it played.
package final class ScriptedSink: PlaybackSink {
    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    package struct Refusing {
        package var text: String
        /// Whether the recording may be in the way.
        package var isInUse = false

        /// A refusal in one sentence.
        package init(text: String, isInUse: Bool = false) {
            self.text = text
            self.isInUse = isInUse
        }
    }

    /// What it can run at; nil: whatever is asked for.
    package var format: StreamFormat?
    package var bufferFrames = 4000
    /// Whether it takes back.
    package var canTakeBack = true
    /// Refuses to open while this says why.
    package var refusal: () -> Refusing? = { nil }
    /// Frames that it counts as queued besides those that it was given.
    package var elsewhere = 0
    /// Fails from now on.
    package var failure: String?
    /// Plays nothing, while the clock goes on.
    package var isStuck = false
    package private(set) var requests: [PlaybackRequest] = []
    package private(set) var underruns = 0
    package private(set) var isOpen = false
    /// Every frame that was played since the start, as bytes; a frame of silence where nothing was queued is left out.
    package private(set) var played: [UInt8] = []
    private var queue: [UInt8] = []
    private var granted: StreamFormat?
    private let clock: any Clock
    private var playedUntil: Instant

    package init(clock: any Clock) {
        self.clock = clock
        playedUntil = clock.now()
    }

    package func open(_ request: PlaybackRequest) throws -> PlaybackGrant {
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

    package func write(_ frames: UnsafeRawBufferPointer) throws -> Int {
        if let failure { throw Refused(description: failure) }
        play()
        if queue.isEmpty { playedUntil = clock.now() }
        let size = granted!.bytesPerFrame
        let count = min(frames.count / size, bufferFrames - queue.count / size)
        queue += frames.prefix(count * size)
        return count
    }

    package func queuedFrames() throws -> Int {
        play()
        return queue.count / granted!.bytesPerFrame + (queue.isEmpty ? 0 : elsewhere)
    }

    package func takeBack(keeping frameCount: Int) throws -> Int {
        guard canTakeBack else { return 0 }
        play()
        let count = max(0, queue.count / granted!.bytesPerFrame - frameCount)
        queue.removeLast(count * granted!.bytesPerFrame)
        return count
    }

    package func drop() { queue = [] }

    package func close() {
        play()
        drop()
        isOpen = false
    }

    /// Plays what is due.
    package func play() {
        guard let granted, isOpen, !isStuck else { return }
        let frames = Int(granted.frames(in: clock.now() - playedUntil))
        guard frames > 0 else { return }
        playedUntil = clock.now()
        let bytes = min(queue.count, frames * granted.bytesPerFrame)
        played += queue.prefix(bytes)
        queue.removeFirst(bytes)
    }

    /// What was played, as samples of 16 bits.
    package var samples: [Int16] {
        played.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    package func clear() { played = [] }
}

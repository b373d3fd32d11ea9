package import Ring
package import Takes

/// A card that plays at the pace of the clock, and keeps every frame that it played.
package final class ScriptedSink: PlaybackSink {
    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    package struct Refusing {
        package var text: String
        /// Whether the recording may be the cause.
        package var isInUse = false

        package init(text: String, isInUse: Bool = false) {
            self.text = text
            self.isInUse = isInUse
        }
    }

    /// The only format that it supports, or nil if it accepts every format.
    package var format: StreamFormat?
    package var bufferFrames = 4000
    /// Whether queued frames can be taken back.
    package var canTakeBack = true
    /// Returns why opening is refused, or nil to allow it.
    package var refusal: () -> Refusing? = { nil }
    /// Frames that it reports as queued in addition to the written ones.
    package var elsewhere = 0
    /// If set, calls fail with this message.
    package var failure: String?
    /// The card plays nothing while the clock continues.
    package var isStuck = false
    package private(set) var requests: [PlaybackRequest] = []
    package private(set) var underruns = 0
    package private(set) var isOpen = false
    /// Every frame that was played since the start, as bytes. Silence while the queue was empty is left out.
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

    /// Plays the frames that are due.
    package func play() {
        guard let granted, isOpen, !isStuck else { return }
        let frames = Int(granted.frames(in: clock.now() - playedUntil))
        guard frames > 0 else { return }
        playedUntil = clock.now()
        let bytes = min(queue.count, frames * granted.bytesPerFrame)
        played += queue.prefix(bytes)
        queue.removeFirst(bytes)
    }

    /// The played frames, as samples of 16 bits.
    package var samples: [Int16] {
        played.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    package func clear() { played = [] }
}

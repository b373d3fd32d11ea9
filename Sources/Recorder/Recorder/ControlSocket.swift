import Control
import Deck
import Filters
import Kit
import Listening
import Takes
import Transport
import Workers

/// Serves the control socket, and publishes the status, the levels and the waveform to the clients that watch them.
final class ControlSocket: LoopPart {
    private let server: ControlServer
    private let deck: Deck
    private let listening: ListenServer?
    private let schedule: ScheduleKeeper?
    /// Nil while no client watches the levels.
    private var nextLevels: Instant?

    /// How often levels are published.
    private static let levelInterval = Duration.milliseconds(100)

    init(_ server: ControlServer, _ deck: Deck, _ listening: ListenServer?, _ schedule: ScheduleKeeper?) {
        self.server = server
        self.deck = deck
        self.listening = listening
        self.schedule = schedule
    }

    var fileDescriptors: [Int32] { [server.fileDescriptor] }

    func ready(now: Instant) { server.serve(now) }

    func turn(now: Instant) -> Instant? {
        [publishLevels(now), server.turn(now)].compactMap(\.self).min()
    }

    func publishStatus() {
        if server.hasWatchers { server.publish(deck.status) }
    }

    func publish(_ change: TakeChange) { server.publish(change) }

    func publish(_ wish: PanelWish) { server.publish(wish) }

    private func publishLevels(_ now: Instant) -> Instant? {
        guard server.hasLevelWatchers else {
            nextLevels = nil
            listening?.draw(false)
            return nil
        }
        // A phone shows the microphone's level.
        schedule?.use()
        if let due = nextLevels, due > now { return due }
        server.publish(levels: deck.status)
        publishPeaks()
        nextLevels = now + Self.levelInterval
        return nextLevels
    }

    private func publishPeaks() {
        listening?.draw(server.hasPeakWatchers)
        guard let (format, first, data) = listening?.takePixels() else { return }
        server.publish(
            PeaksEvent(
                rateHz: format.rateHz, channels: format.channels, framesPerPixel: SignalPath.framesPerPixel,
                firstPixel: first, data: data))
    }
}

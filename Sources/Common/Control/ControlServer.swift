import Sockets
public import Takes
public import Transport

/// The recorder's end of the control socket: a `PeerServer` whose peers can watch events and report uploads.
public final class ControlServer {
    private let peers: PeerServer<RecorderMessage>
    private weak var handler: (any ControlHandler)?
    private var watchers: [PeerID: Watcher] = [:]
    /// The upload states that peers report, the latest last.
    private var indications: [(peer: PeerID, state: UploadState, damage: String?)] = []
    private var shownUpload: UploadState?
    private var shownDamage: String?

    private struct Watcher {
        var wantsLevels: Bool
        var wantsPeaks: Bool
        /// The status that was sent to it last.
        var reported: Status
    }

    /// Listens at `path`. Only the owner and the group may use the socket (mode 0660).
    ///
    /// - Parameter clock: measures the time of requests.
    /// - Throws: if another recorder answers there, or the system refuses.
    public convenience init(
        path: String, handler: any ControlHandler, clock: any Clock = SystemClock()
    ) throws(ControlError) {
        try self.init(path: path, handler: handler, clock: clock, calls: SocketCalls())
    }

    init(
        path: String, handler: any ControlHandler, clock: any Clock, calls: SocketCalls
    ) throws(ControlError) {
        peers = try PeerServer(path: path, clock: clock, calls: calls)
        self.handler = handler
        peers.handler = self
    }

    public var path: String { peers.path }

    /// Readable when `serve` has something to do.
    public var fileDescriptor: Int32 { peers.fileDescriptor }

    /// When the next peer exceeds its time to read, or to complete a line.
    var deadline: Instant? { peers.deadline }

    /// Drops peers that left output unread for too long or stopped in the middle of a line, and ends a rest.
    /// - Returns: the latest time for the next call, even if nothing becomes readable.
    public func turn(_ now: Instant) -> Instant? { peers.turn(now) }

    /// Does the work that is ready, within its time limit, without blocking.
    public func serve(_ now: Instant) { peers.serve(now) }

    // MARK: Events

    /// Whether a peer watches. Without one, changes need not be published.
    public var hasWatchers: Bool {
        watchers.keys.contains(where: peers.has)
    }

    /// Whether a watcher wants levels. Without one, levels need not be published.
    public var hasLevelWatchers: Bool {
        watchers.contains { $0.value.wantsLevels && peers.has($0.key) }
    }

    /// Whether a watcher wants the waveform. Without one, peaks need not be published.
    public var hasPeakWatchers: Bool {
        watchers.contains { $0.value.wantsPeaks && peers.has($0.key) }
    }

    /// Sends the status to the watchers if anything changed except the parts that change all the time.
    public func publish(_ status: Status) {
        let still = status.withoutMotion
        let behind = watchers.filter { $0.value.reported != still }.keys
        publish(.status(status), to: behind)
        for peer in behind { watchers[peer]?.reported = still }
    }

    /// Sends the levels to the watchers. Call it ten times a second while `hasLevelWatchers`.
    public func publish(levels status: Status) {
        publish(.level(LevelEvent(status)), to: watchers.filter(\.value.wantsLevels).keys)
    }

    /// Sends the peaks since the last call to the watchers that asked for them.
    public func publish(_ peaks: PeaksEvent) {
        publish(.peaks(peaks), to: watchers.filter(\.value.wantsPeaks).keys)
    }

    public func publish(_ change: TakeChange) {
        publish(.take(change), to: watchers.keys)
    }

    /// Sends to the watchers a request that a person made at the buttons.
    public func publish(_ wish: PanelWish) {
        publish(.panel(wish), to: watchers.keys)
    }

    private func publish(_ event: Event, to watchers: some Sequence<PeerID>) {
        let present = watchers.filter(peers.has)
        guard !present.isEmpty, let line = event.line else { return }
        peers.send(line, to: present)
    }

    /// Passes on the last reported state whose peer is still connected.
    private func reportUpload() {
        indications.removeAll { !peers.has($0.peer) }
        let damage = indications.last?.damage
        if damage != shownDamage {
            shownDamage = damage
            handler?.indicate(damage: damage)
        }
        let state = indications.last?.state
        guard state != shownUpload else { return }
        shownUpload = state
        handler?.indicate(state)
    }
}

extension ControlServer: PeerHandler {
    package func carryOut(_ message: RecorderMessage, of peer: PeerID, answer: Answer) {
        guard let handler else {
            return answer.refuse(Refusal(.internal, "control: the recorder is shutting down"))
        }
        switch message {
        case .status: answer.succeed(handler.status)
        case .watch(let levels, let peaks):
            let status = handler.status
            watchers[peer] = Watcher(wantsLevels: levels, wantsPeaks: peaks, reported: status.withoutMotion)
            peers.keep(peer)
            answer.succeed(status)
        case .indicate(let state, let damage):
            indications.removeAll { $0.peer == peer }
            indications.append((peer, state, damage))
            peers.keep(peer)
            answer.succeed()
            reportUpload()
        case .command(let command): handler.perform(command, answer: answer)
        case .inventory(let inventory): handler.list(inventory, answer: answer)
        case .light(let lamp): handler.light(lamp, answer: answer)
        case .setClock(let time): handler.setClock(to: time, answer: answer)
        case .pairingCode(let isRight): answer.succeed(object: handler.take(codeThatIsRight: isRight).members)
        case .phone(let event):
            handler.note(event)
            answer.succeed()
        }
    }

    package func peersMayHaveGone() {
        watchers = watchers.filter { peers.has($0.key) }
        reportUpload()
    }
}

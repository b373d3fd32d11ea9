public import Takes
public import Transport

/// The recorder's end of the control socket: a `PeerServer` with peers that watch, and peers that report uploads.
public final class ControlServer {
    private let peers: PeerServer<RecorderMessage>
    private weak var handler: (any ControlHandler)?
    private var watchers: [PeerID: Watcher] = [:]
    /// What peers report of uploads, the latest last.
    private var indications: [(peer: PeerID, state: UploadState, damage: String?)] = []
    private var shownUpload: UploadState?
    private var shownDamage: String?

    /// A peer that gets events.
    private struct Watcher {
        var wantsLevels: Bool
        var wantsPeaks: Bool
        /// What was sent to it last.
        var reported: Status
    }

    /// Listens at `path`. The socket is for its owner and group (mode 0660).
    ///
    /// - Parameter clock: what the time of requests is measured by.
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

    /// Where peers find it.
    public var path: String { peers.path }

    /// Readable when `serve` has something to do.
    public var fileDescriptor: Int32 { peers.fileDescriptor }

    /// When a peer's time to read, or to go on with a line, is over.
    var deadline: Instant? { peers.deadline }

    /// Drops who left too long unread what waits, or stopped in the middle of a line, and ends a rest.
    /// - Returns: when it is to be called again at the latest, even if nothing is readable.
    public func turn(_ now: Instant) -> Instant? { peers.turn(now) }

    /// Does what is ready, as far as there is time for it, and returns without waiting.
    public func serve(_ now: Instant) { peers.serve(now) }

    // MARK: Events

    /// Whether there is a watcher, so that changes are worth publishing.
    public var hasWatchers: Bool {
        watchers.keys.contains(where: peers.has)
    }

    /// Whether a watcher wants levels, so that these are worth publishing.
    public var hasLevelWatchers: Bool {
        watchers.contains { $0.value.wantsLevels && peers.has($0.key) }
    }

    /// Whether a watcher asked for the waveform, so that peaks are worth publishing.
    public var hasPeakWatchers: Bool {
        watchers.contains { $0.value.wantsPeaks && peers.has($0.key) }
    }

    /// Informs the watching peers if anything changed but what moves all the time.
    public func publish(_ status: Status) {
        let still = status.withoutMotion
        let behind = watchers.filter { $0.value.reported != still }.keys
        publish(.status(status), to: behind)
        for peer in behind { watchers[peer]?.reported = still }
    }

    /// Sends the watching peers the levels; to be called ten times a second while `hasLevelWatchers`.
    public func publish(levels status: Status) {
        publish(.level(LevelEvent(status)), to: watchers.filter(\.value.wantsLevels).keys)
    }

    /// Sends the waveform that came since the last call to the watching peers that asked for it.
    public func publish(_ peaks: PeaksEvent) {
        publish(.peaks(peaks), to: watchers.filter(\.value.wantsPeaks).keys)
    }

    /// Informs the watching peers of what became of a take.
    public func publish(_ change: TakeChange) {
        publish(.take(change), to: watchers.keys)
    }

    /// Informs the watching peers of what a person asked for at the buttons.
    public func publish(_ wish: PanelWish) {
        publish(.panel(wish), to: watchers.keys)
    }

    private func publish(_ event: Event, to watchers: some Sequence<PeerID>) {
        let present = watchers.filter(peers.has)
        guard !present.isEmpty, let line = event.line else { return }
        peers.send(line, to: present)
    }

    /// Hands over the state that the last peer reported which is still there.
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

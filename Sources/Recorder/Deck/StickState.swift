import Files
import Takes
import Transport

public struct Stick: Hashable, Sendable {
    public var mountPoint: String
    public var folder: String
    /// Whether takes are kept elsewhere while the stick is absent.
    public var isOptional: Bool

    public init(mountPoint: String, isOptional: Bool) {
        self.mountPoint = mountPoint
        folder = mountPoint + "/takes"
        self.isOptional = isOptional
    }
}

/// Whether the stick is present and takes are kept on it. Pure: the deck carries the actions out.
struct StickState {
    private(set) var state = State.away
    /// The identity of the mounted stick at the last check.
    private var seen: FileIdentity?

    enum State: Hashable {
        case away
        /// It is mounted, and will be used as soon as the deck is free.
        case ready
        case inUse
        /// It could not be used, or it failed a take. It is not used again until another is mounted.
        case failed(FileIdentity)
        /// It is full. It is used again when it has room.
        case full(FileIdentity)
        /// Its folder is closed, and it is being unmounted at a person's request.
        case leaving(since: Instant, Asker)
        /// It may be pulled.
        case released
        /// As `released`, and a person asks for an eject again: another stick may have been mounted since the last
        /// check.
        case confirming(Asker)
    }

    enum Action: Hashable {
        /// Close the open folder for takes, and open the one on the stick.
        case change
        /// Answer the caller: the stick was unmounted, or is still mounted after `patience`.
        case released(Asker), kept(Asker)
        /// Another stick was mounted. Unmount it for this caller.
        case eject(Asker)
    }

    /// The longest time for unmounting. Its unit writes cached data and waits for programs with open files there.
    static let patience = Duration.seconds(40)

    var mayOpen: Bool {
        switch state {
        case .away, .ready, .inUse: true
        case .failed, .full, .leaving, .released, .confirming: false
        }
    }

    /// Handles the result of a check.
    /// - Parameters:
    ///   - mounted: the mounted stick, or nil for none.
    ///   - hasRoom: whether it has room for more than a moment.
    ///   - isFree: whether nothing is recorded or played.
    mutating func found(_ mounted: FileIdentity?, hasRoom: Bool = false, isFree: Bool, now: Instant) -> Action? {
        seen = mounted
        switch (state, mounted) {
        case (.leaving(_, let asker), nil):
            state = .released
            return .released(asker)
        case (.leaving(let since, let asker), _?):
            guard now - since >= Self.patience else { return nil }
            state = .ready
            return .kept(asker)
        case (.confirming(let asker), nil):
            state = .released
            return .released(asker)
        case (.confirming(let asker), _?):
            state = .ready
            return .eject(asker)
        case (.released, nil): return nil
        case (.away, nil), (.ready, nil), (.inUse, nil), (.failed, nil), (.full, nil):
            state = .away
            return nil
        case (.failed(let failed), let mounted?):
            if failed == mounted { return nil }
            state = .ready
        case (.full(let full), let mounted?):
            if full == mounted, !hasRoom { return nil }
            state = .ready
        case (.away, _?), (.released, _?): state = .ready
        case (.ready, _?): break
        case (.inUse, _?): return nil
        }
        return isFree ? .change : nil
    }

    mutating func opened(onStick: Bool) {
        switch state {
        case .leaving, .released, .confirming, .failed, .full: break
        case .away, .ready, .inUse: if onStick { state = .inUse } else { fail() }
        }
    }

    /// The stick cannot be used, so takes are kept elsewhere.
    mutating func fail() { state = seen.map { .failed($0) } ?? .away }

    /// The stick is full, so takes are kept elsewhere.
    mutating func fill() { state = seen.map { .full($0) } ?? .away }

    /// A person asks to eject it.
    mutating func leave(now: Instant, _ asker: Asker) { state = .leaving(since: now, asker) }

    /// A person asks to eject a stick that was already released. The next check shows whether that is still true.
    mutating func confirm(_ asker: Asker) { state = .confirming(asker) }
}

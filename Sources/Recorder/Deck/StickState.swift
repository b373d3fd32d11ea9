import TakeFiles
import Takes
import Transport

/// Where a stick is mounted, and the folder for takes on it.
public struct Stick: Hashable, Sendable {
    /// Where the kit mounts it.
    public var mountPoint: String
    /// The folder for takes, on it.
    public var folder: String
    /// Whether takes are kept elsewhere while there is no stick.
    public var isOptional: Bool

    /// A stick that is mounted at a folder.
    public init(mountPoint: String, isOptional: Bool) {
        self.mountPoint = mountPoint
        folder = mountPoint + "/takes"
        self.isOptional = isOptional
    }
}

/// Whether the stick is there and takes are kept on it. Pure: the deck carries the actions out.
struct StickState {
    private(set) var state = State.away
    /// What was mounted at the last check.
    private var seen: FileIdentity?

    enum State: Hashable {
        case away
        /// It is mounted, and is to be used as soon as nothing goes on.
        case ready
        case inUse
        /// It could not be used, or failed a take: it is not used again until another is mounted.
        case failed(FileIdentity)
        /// It has no room: it is used again when it has some.
        case full(FileIdentity)
        /// Its folder is closed, and it is to be unmounted for a person.
        case leaving(since: Instant, Asker)
        /// It may be pulled.
        case released
        /// The same, and a person asks for it again: another one may have been mounted since the last check.
        case confirming(Asker)
    }

    enum Action: Hashable {
        /// Close the folder for takes that is open, and open the one on the stick.
        case change
        /// The person who asked is answered.
        case released(Asker), kept(Asker)
        /// Another stick is there: it is to be unmounted for the person who asks.
        case eject(Asker)
    }

    /// How long unmounting may take: its unit writes what is left and waits for programs that have files open there.
    static let patience = Duration.seconds(40)

    /// Whether its folder may be opened.
    var mayOpen: Bool {
        switch state {
        case .away, .ready, .inUse: true
        case .failed, .full, .leaving, .released, .confirming: false
        }
    }

    /// A check found something mounted, or nothing.
    /// - Parameters:
    ///   - mounted: what is mounted; nil: nothing.
    ///   - hasRoom: whether there is room on it for more than a moment.
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

    /// A folder for takes was opened.
    mutating func opened(onStick: Bool) {
        switch state {
        case .leaving, .released, .confirming, .failed, .full: break
        case .away, .ready, .inUse: if onStick { state = .inUse } else { fail() }
        }
    }

    /// It cannot be used: takes are kept elsewhere.
    mutating func fail() { state = seen.map { .failed($0) } ?? .away }

    /// It has no room: takes are kept elsewhere.
    mutating func fill() { state = seen.map { .full($0) } ?? .away }

    /// A person wants to pull it.
    mutating func leave(now: Instant, _ asker: Asker) { state = .leaving(since: now, asker) }

    /// A person wants to pull what was released already: the next check says whether it is still so.
    mutating func confirm(_ asker: Asker) { state = .confirming(asker) }
}

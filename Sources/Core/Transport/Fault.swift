/// Something that is wrong with the kit, shown by the fault LED as `code` flashes.
public struct Fault: Codable, Hashable, Sendable {
    /// What kind of trouble it is; of several, the lowest code shows.
    public var code: Code
    /// One sentence: what was attempted, on what, what happened, what to do.
    public var message: String
    /// The subject, which tells faults of one kind apart. The JSON does not include it.
    public var subject = Subject.kind

    private enum CodingKeys: CodingKey { case code, message }

    /// The kinds of trouble, numbered as the fault LED flashes them.
    public enum Code: Int, Codable, Sendable, CaseIterable, Comparable {
        case noCard = 1
        /// The disk is nearly full or full.
        case diskFull = 2
        case clockUnset = 3
        case storageFailing = 4
        /// Frames were lost.
        case overload = 5
        case uploadRefused = 6
        case settings = 7
        /// Clipped in the last 5 s, dead for 10 s, or fell and stayed low; or a card that does not run at its stated rate.
        case signal = 8

        /// Shows before.
        public static func < (left: Code, right: Code) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// The subject of a fault.
    public enum Subject: Hashable, Sendable {
        /// The kind as such.
        case kind
        /// The signal of channels, by their numbers on the card.
        case channels(Set<Int>, SignalTrouble)
        /// Takes that are damaged.
        case damagedTakes
        /// Storage that is lost with the power.
        case volatileStorage
    }

    /// The trouble that a channel's signal has.
    public enum SignalTrouble: Hashable, Sendable { case silent, fell, clipped }

    /// A fault of a kind, in one sentence.
    public init(_ code: Code, _ message: String, about subject: Subject = .kind) {
        self.code = code
        self.message = message
        self.subject = subject
    }
}

/// A fault of the kit. The fault LED flashes its `code`.
public struct Fault: Codable, Hashable, Sendable {
    /// The kind of fault. If there are several, the LED shows the lowest code.
    public var code: Code
    /// One sentence: the operation, its subject, the result and the remedy.
    public var message: String
    /// Distinguishes faults of the same kind. The JSON does not include it.
    public var subject = Subject.kind

    private enum CodingKeys: CodingKey { case code, message }

    /// The kinds of faults, numbered as the fault LED flashes them.
    public enum Code: Int, Codable, Sendable, CaseIterable, Comparable {
        case noCard = 1
        /// The disk is full, or nearly full.
        case diskFull = 2
        case clockUnset = 3
        case storageFailing = 4
        /// Frames were lost.
        case overload = 5
        case uploadRefused = 6
        case settings = 7
        /// A channel clipped in the last 5 s, was dead for 10 s, or fell and stayed low; or a card does not run at its
        /// stated rate.
        case signal = 8

        /// The lower code has precedence on the LED.
        public static func < (left: Code, right: Code) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    public enum Subject: Hashable, Sendable {
        /// The kind as a whole.
        case kind
        /// The signal of channels, by their numbers on the card.
        case channels(Set<Int>, SignalTrouble)
        /// Damaged takes.
        case damagedTakes
        /// Storage that loses its content without power.
        case volatileStorage
    }

    public enum SignalTrouble: Hashable, Sendable { case silent, fell, clipped }

    public init(_ code: Code, _ message: String, about subject: Subject = .kind) {
        self.code = code
        self.message = message
        self.subject = subject
    }
}

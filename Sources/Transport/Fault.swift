/// Something that is wrong with the kit, shown by the fault LED as `code` flashes.
public struct Fault: Codable, Hashable, Sendable {
    /// What kind of trouble it is; of several, the lowest code shows.
    public var code: Code
    /// One sentence: what was attempted, on what, what happened, what to do.
    public var message: String

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
        /// Clipped in the last 5 s, or dead for 10 s.
        case signal = 8

        /// Shows before.
        public static func < (left: Code, right: Code) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// A fault of a kind, in one sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A change to the access of phones to the kit, or an action of a phone, reported by the library.
public struct PhoneEvent: Codable, Hashable, Sendable {
    public var what: What
    /// The name of the phone that was paired, renamed or removed, or null if the event is not about a phone.
    public var phone: String?
    /// The name of the phone that acted, or null if it was not a paired phone. A renamed phone acted by its former name.
    public var by: String?
    /// The settings that were changed.
    public var keys: [String]?

    public enum What: String, Codable, CaseIterable, Sendable {
        case paired
        case renamed
        case removed
        case settings
        /// The inserted stick was adopted, so that takes are sent to it.
        case stick
        /// There were too many wrong codes. No phone is paired until play is held again.
        case wrongCodes = "wrong-codes"
    }

    /// In bytes.
    public static let longestName = 100
    /// The largest number of keys in a report.
    public static let mostKeys = 20

    public init(_ what: What, phone: String? = nil, by: String? = nil, keys: [String]? = nil) {
        self.what = what
        self.phone = phone
        self.by = by
        self.keys = keys.map { Array($0.prefix(Self.mostKeys)) }
    }
}

/// What happened with the right of phones to use the kit, or what one did with it, as the library reports it.
public struct PhoneEvent: Codable, Hashable, Sendable {
    /// What happened.
    public var what: What
    /// The name of the phone that was paired or removed; null: it concerns none.
    public var phone: String?
    /// The name of the phone that did it; null: no phone, or one that is not paired.
    public var by: String?
    /// The settings that were changed.
    public var keys: [String]?

    /// What can happen.
    public enum What: String, Codable, CaseIterable, Sendable {
        case paired
        case removed
        case settings
        /// The stick that is in was made one that takes are sent to.
        case stick
        /// Too many codes were wrong: no phone is paired until play is held again.
        case wrongCodes = "wrong-codes"
    }

    /// The most bytes of a phone's name.
    public static let longestName = 100
    /// The most settings that are named.
    public static let mostKeys = 20

    /// Something that happened.
    public init(_ what: What, phone: String? = nil, by: String? = nil, keys: [String]? = nil) {
        self.what = what
        self.phone = phone
        self.by = by
        self.keys = keys.map { Array($0.prefix(Self.mostKeys)) }
    }
}

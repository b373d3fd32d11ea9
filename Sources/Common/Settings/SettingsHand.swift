/// Where a key may be changed.
enum SettingsHand: Sendable {
    /// In the file, and from a paired phone.
    case phone
    /// In the file with any value, but from a phone only with its words. Any other value is a folder.
    case wordsFromPhone
    /// Only in the file. A phone that changed a store's address would redirect its password.
    case file

    /// Whether a phone may set a key to this value, or to its default if nil.
    func mayChange(to value: SettingsValue?) -> Bool {
        switch (self, value) {
        case (.phone, _): true
        case (.wordsFromPhone, .text(let text)?): !text.contains("/")
        case (.wordsFromPhone, _): true
        case (.file, _): false
        }
    }
}

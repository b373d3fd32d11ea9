/// From where a key is changed.
enum SettingsHand: Sendable {
    /// In the file, and from a paired phone.
    case phone
    /// In the file, and from a phone its words: any other value is a folder.
    case wordsFromPhone
    /// In the file alone: a phone that changed the address of a store would be sent its password.
    case file

    /// Whether a phone may set a key to this; nil: to its default.
    func mayChange(to value: SettingsValue?) -> Bool {
        switch (self, value) {
        case (.phone, _): true
        case (.wordsFromPhone, .text(let text)?): !text.contains("/")
        case (.wordsFromPhone, _): true
        case (.file, _): false
        }
    }
}

import CALSA

/// A card's control device, to ask the driver for its names. Closed when it goes out of scope.
@safe struct CardControl: ~Copyable {
    private let handle: OpaquePointer
    private let name: String

    /// Opens the control device of the card with ALSA's number `index`.
    init(opening index: Int) throws(SoundCardError) {
        let name = "hw:\(index)"
        var handle: OpaquePointer?
        try check(name, "open its controls") { unsafe snd_ctl_open(&handle, name, Int32(SND_CTL_READONLY)) }
        unsafe self.handle = unsafe handle!
        self.name = name
    }

    deinit {
        unsafe snd_ctl_close(handle)
    }

    /// The driver's name, and the card's.
    func names() throws(SoundCardError) -> (driver: String, name: String) {
        var info: OpaquePointer?
        // Some hundred bytes: where these are not to be had, the process could not go on anyway.
        guard unsafe snd_ctl_card_info_malloc(&info) == 0 else { fatalError("out of memory") }
        defer { unsafe snd_ctl_card_info_free(info) }
        try check(name, "read its names") { unsafe snd_ctl_card_info(handle, info) }
        // Safe: the strings live as long as the info.
        return unsafe (
            String(cString: snd_ctl_card_info_get_driver(info)), String(cString: snd_ctl_card_info_get_name(info))
        )
    }

    /// ALSA's numbers of the cards that are there.
    static func indices() -> [Int] {
        var indices: [Int] = []
        var index: Int32 = -1
        while unsafe snd_card_next(&index) >= 0, index >= 0 {
            indices.append(Int(index))
        }
        return indices
    }
}

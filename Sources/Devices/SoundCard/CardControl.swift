import CALSA

/// A card's control device, which reports the driver's names. It is closed when it goes out of scope.
@safe struct CardControl: ~Copyable {
    private let handle: OpaquePointer
    private let name: String

    /// - Parameter index: ALSA's card number.
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

    func names() throws(SoundCardError) -> (driver: String, name: String) {
        var info: OpaquePointer?
        // Some hundred bytes. If these cannot be allocated, the process could not continue anyway.
        guard unsafe snd_ctl_card_info_malloc(&info) == 0 else { fatalError("out of memory") }
        defer { unsafe snd_ctl_card_info_free(info) }
        try check(name, "read its names") { unsafe snd_ctl_card_info(handle, info) }
        // Safe: the strings live as long as the info.
        return unsafe (
            String(cString: snd_ctl_card_info_get_driver(info)), String(cString: snd_ctl_card_info_get_name(info))
        )
    }

    /// ALSA's numbers of the present cards.
    static func indices() -> [Int] {
        var indices: [Int] = []
        var index: Int32 = -1
        while unsafe snd_card_next(&index) >= 0, index >= 0 {
            indices.append(Int(index))
        }
        return indices
    }
}

import CALSA

/// A card's mixer, with the values of its elements at the time of opening. Its elements keep it open.
@safe final class CardMixer {
    private let handle: OpaquePointer

    /// - Parameter name: ALSA's control name of the card, such as `hw:CARD=Mic`.
    init(opening name: String) throws(SoundCardError) {
        unsafe handle = try unsafe Self.load(name)
    }

    private static func load(_ name: String) throws(SoundCardError) -> OpaquePointer {
        var opened: OpaquePointer?
        try check(name, "open its mixer") { unsafe snd_mixer_open(&opened, 0) }
        let mixer = unsafe opened!
        do throws(SoundCardError) {
            try check(name, "open its mixer") { unsafe snd_mixer_attach(mixer, name) }
            try check(name, "read its mixer") { unsafe snd_mixer_selem_register(mixer, nil, nil) }
            try check(name, "read its mixer") { unsafe snd_mixer_load(mixer) }
        } catch {
            unsafe snd_mixer_close(mixer)
            throw error
        }
        return unsafe mixer
    }

    deinit {
        unsafe snd_mixer_close(handle)
    }

    func elements() -> [any MixerElement] {
        var elements: [any MixerElement] = []
        var next = unsafe snd_mixer_first_elem(handle)
        while let element = unsafe next {
            if unsafe snd_mixer_selem_is_active(element) != 0 {
                elements.append(unsafe ALSAMixerElement(element, of: self))
            }
            unsafe next = unsafe snd_mixer_elem_next(element)
        }
        return elements
    }
}

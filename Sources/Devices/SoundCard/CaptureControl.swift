/// One of a card's mixer elements, as far as a recording is concerned: pure rules about which is the gain and which the AGC.
struct CaptureControl: Hashable, Sendable {
    /// ALSA's name of the element, such as `Mic`.
    var name: String
    /// Whether it has a capture volume.
    var hasVolume = false
    /// Whether that volume is the playback volume as well.
    var sharesVolume = false
    /// Whether it has a switch of any direction.
    var hasSwitch = false
    /// Whether its capture switch is on; nil: it has none.
    var isCaptureOn: Bool?

    /// Which of the elements is the gain of what is recorded; nil: there is none.
    ///
    /// One that is switched on beats one that is switched off, one for capture alone beats a shared one, then the names decide,
    /// then the mixer's own order.
    static func gain(of elements: [CaptureControl]) -> Int? {
        func order(_ index: Int) -> (Int, Int, Int, Int) {
            let element = elements[index]
            return (
                element.isCaptureOn == false ? 1 : 0, element.sharesVolume ? 1 : 0, rank(of: element.name), index
            )
        }
        return elements.indices.filter { elements[$0].hasVolume && !elements[$0].isAGC }.min { order($0) < order($1) }
    }

    /// Which of the elements switches automatic gain control; nil: there is none.
    static func agc(of elements: [CaptureControl]) -> Int? {
        elements.firstIndex { $0.hasSwitch && $0.isAGC }
    }

    private var isAGC: Bool {
        let words = name.lowercased().split { !$0.isLetter }
        return words.contains("agc") || name.lowercased().contains("auto gain control")
    }

    private static let names = ["mic", "microphone", "capture", "line", "adc", "pga", "input", "digital"]

    private static func rank(of name: String) -> Int {
        let words = name.lowercased().split { !$0.isLetter }
        return names.firstIndex { words.contains($0[...]) } ?? names.count
    }
}

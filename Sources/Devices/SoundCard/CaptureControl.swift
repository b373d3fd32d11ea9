/// The properties of a card's mixer element that matter for recording, and the pure rules that choose the gain and the
/// AGC.
struct CaptureControl: Hashable, Sendable {
    /// ALSA's name of the element, such as `Mic`.
    var name: String
    var hasVolume = false
    /// Whether capture and playback share that volume.
    var sharesVolume = false
    /// Whether it has a capture or a playback switch.
    var hasSwitch = false
    /// Whether its capture switch is on, or nil if it has no capture switch.
    var isCaptureOn: Bool?

    /// The index of the element that is the capture gain, or nil if no element is.
    ///
    /// An element that is switched on has priority over one that is switched off, and one for capture alone over a
    /// shared one. Then the names decide, then the mixer's own order.
    static func gain(of elements: [CaptureControl]) -> Int? {
        func order(_ index: Int) -> (Int, Int, Int, Int) {
            let element = elements[index]
            return (
                element.isCaptureOn == false ? 1 : 0, element.sharesVolume ? 1 : 0, rank(of: element.name), index
            )
        }
        return elements.indices.filter { elements[$0].hasVolume && !elements[$0].isAGC }.min { order($0) < order($1) }
    }

    /// The index of the element that switches automatic gain control, or nil if no element does.
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

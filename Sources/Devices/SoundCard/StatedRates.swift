import Files

/// The rates that a driver of USB cards lists in `/proc/asound/cardN/streamD`, with one line `Rates: 48000, 250000` for
/// each setting of either direction.
enum StatedRates {
    /// All rates listed for a device of a card. Empty if the driver lists none, or lists a continuous range.
    static func of(card: Int, device: Int, root: String = "") -> Set<Int> {
        let text = SystemFile.text("\(root)/proc/asound/card\(card)/stream\(device)") ?? ""
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        let lists = lines.filter { $0.hasPrefix("Rates:") }.map { $0.dropFirst("Rates:".count) }
        return Set(lists.flatMap { $0.split(separator: ",") }.compactMap(rateHz))
    }

    private static func rateHz(_ text: Substring) -> Int? {
        Int(text.filter { !$0.isWhitespace }).flatMap { Offers.rateLimitsHz.contains($0) ? $0 : nil }
    }
}

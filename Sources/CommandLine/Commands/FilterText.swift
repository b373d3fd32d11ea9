/// A capture filter as text: `low-pass 21600 Hz, no high-pass, 24 dB/octave`.
struct FilterText {
    /// Nil means off.
    var lowPassHz: Double?
    /// Nil means off.
    var highPassHz: Double?
    var slopeDBPerOctave: Int

    var text: String {
        guard lowPassHz != nil || highPassHz != nil else { return "off: bit-exact" }
        let lowPass = lowPassHz.map { "low-pass \(Figures.short($0)) Hz" } ?? "no low-pass"
        let highPass = highPassHz.map { "high-pass \(Figures.short($0)) Hz" } ?? "no high-pass"
        return "\(lowPass), \(highPass), \(slopeDBPerOctave) dB/octave"
    }
}

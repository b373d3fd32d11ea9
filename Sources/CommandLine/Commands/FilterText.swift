/// A capture filter, for a person: `low-pass 21600 Hz, no high-pass, 24 dB/octave`.
struct FilterText {
    /// Nil: off.
    var lowPassHz: Double?
    /// Nil: off.
    var highPassHz: Double?
    var slopeDBPerOctave: Int

    var text: String {
        guard lowPassHz != nil || highPassHz != nil else { return "off: bit-exact" }
        let lowPass = lowPassHz.map { "low-pass \(Figures.short($0)) Hz" } ?? "no low-pass"
        let highPass = highPassHz.map { "high-pass \(Figures.short($0)) Hz" } ?? "no high-pass"
        return "\(lowPass), \(highPass), \(slopeDBPerOctave) dB/octave"
    }
}

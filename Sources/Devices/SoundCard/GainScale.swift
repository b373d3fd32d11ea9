import Takes

/// The steps of a capture volume in dB, without the mute step. ALSA measures in hundredths of a dB.
struct GainScale {
    /// The steps except mute.
    let steps: ClosedRange<Int>
    private let element: any MixerElement

    /// ALSA's value for a step that is mute (`SND_CTL_TLV_DB_GAIN_MUTE`).
    private static let mute = -9_999_999

    /// Fails if the element has no scale in dB.
    init?(_ element: any MixerElement) {
        var (least, most, gain) = (0, 0, 0)
        guard element.readSteps(&least, &most) >= 0, element.readGain(ofStep: least, &gain) >= 0 else { return nil }
        if gain <= Self.mute { least += 1 }
        guard least <= most else { return nil }
        steps = least...most
        self.element = element
    }

    /// The gain of a step in hundredths of a dB.
    private func gain(of step: Int) -> Int {
        var gain = 0
        _ = element.readGain(ofStep: step, &gain)
        return gain
    }

    /// The step that is nearest to a gain, or the quieter one of two equally near steps.
    func step(nearest gainDB: Double) -> Int {
        let wanted = gainDB * 100
        // A binary search for the first step that is at least as loud.
        var (low, high) = (steps.lowerBound, steps.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if Double(gain(of: middle)) < wanted { low = middle + 1 } else { high = middle }
        }
        guard low > steps.lowerBound else { return low }
        return Double(gain(of: low)) - wanted < wanted - Double(gain(of: low - 1)) ? low : low - 1
    }

    /// The gains that can be set.
    var range: GainRange {
        let (least, most) = (gain(of: steps.lowerBound), gain(of: steps.upperBound))
        return GainRange(min: Double(least) / 100, max: Double(most) / 100, step: stepDB(least, most))
    }

    /// The width of a step in dB, or nil if it varies by more than ALSA's rounding.
    private func stepDB(_ least: Int, _ most: Int) -> Double? {
        let count = steps.upperBound - steps.lowerBound
        guard count > 0 else { return nil }
        let step = Double(most - least) / Double(count)
        let isEven = [1, count / 2, count - 1].allSatisfy { number in
            abs(Double(gain(of: steps.lowerBound + number) - least) - Double(number) * step) <= 1
        }
        return isEven ? (step * 100).rounded() / 10_000 : nil
    }
}

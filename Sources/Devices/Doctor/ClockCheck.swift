import Takes

/// Checks whether the dates of takes can be trusted.
struct ClockCheck {
    var origin: ClockOrigin
    /// Today's date.
    var today: String

    var finding: Finding {
        let figures = ["origin": Figure.text(origin.rawValue), "today": .text(today)]
        switch origin {
        case .ntp: return .ok(.clock, "set over the network: today is \(today)", figures)
        case .rtc: return .ok(.clock, "set by the battery-backed clock: today is \(today)", figures)
        case .manual: return .ok(.clock, "set by hand: today is \(today)", figures)
        case .unset:
            return .failure(
                .clock,
                "not set in this boot, or set by an unknown program (it says \(today)): takes will carry wrong dates: connect "
                    + "the kit to a network until the clock is synchronised, set it with 'fieldfare clock set', or fit a "
                    + "battery-backed clock", exitStatus: Verdict.clock,
                figures)
        }
    }
}

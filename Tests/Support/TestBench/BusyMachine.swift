import FoundationEssentials

/// Programs in which a person's patience is measured, as in a browser, fail on a machine that starves them.
public enum BusyMachine {
    /// Runs a program until it succeeds, at most three times, as long as it failed while the machine was busy: for more
    /// than half of the time, some process waited for a processor. Each repetition is printed.
    /// - Returns: the last result.
    public static func repeating(
        _ name: String, _ run: () throws -> (status: Int32, report: String)
    ) rethrows -> (status: Int32, report: String) {
        var attempt = 1
        while true {
            let (start, waited) = (ContinuousClock.now, secondsWaited())
            let result = try run()
            let share = (secondsWaited() - waited) / max(1e-3, (ContinuousClock.now - start) / .seconds(1))
            if result.status == 0 || attempt == 3 || share < 0.5 { return result }
            print(
                "again: \(name): for \(Int(share * 100)) % of the time a process waited: \(result.report.suffix(2000))")
            attempt += 1
        }
    }

    /// For how long some process waited for a processor since the machine was started; 0 where the kernel does not
    /// count it.
    private static func secondsWaited() -> Double {
        guard let text = try? String(contentsOfFile: "/proc/pressure/cpu", encoding: .utf8),
            let total = text.split(whereSeparator: \.isNewline).first?.split(separator: "=").last
        else { return 0 }
        return (Double(total) ?? 0) / 1e6
    }
}

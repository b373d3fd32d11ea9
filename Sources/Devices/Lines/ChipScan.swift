/// All chips and lines, read once.
struct ChipScan {
    private(set) var chips: [GPIOChip] = []
    private(set) var failures: [(path: String, code: Int32)] = []

    init(_ calls: GPIOCalls) {
        for path in calls.chipPaths() {
            do throws(CallError) {
                chips.append(try OpenChip(path, calls).describe())
            } catch {
                failures.append((path, error.code))
            }
        }
    }

    func errors(_ purpose: LineError.Purpose) -> [LineError] {
        failures.map { LineError(purpose, .chip(path: $0.path, code: $0.code)) }
    }

    func find(_ address: LineAddress) throws(Missing) -> (chip: GPIOChip, offset: Int) {
        if chips.isEmpty && failures.isEmpty { throw Missing(problem: .noChips) }
        switch address {
        case .name(let name):
            for chip in chips {
                if let line = chip.lines.first(where: { $0.name == name }) { return (chip, line.offset) }
            }
            if let failure = failures.first { throw Missing(problem: .chip(path: failure.path, code: failure.code)) }
            throw Missing(problem: .noSuchName(among: chips.map(\.name)))
        case .offset(let wanted, let offset):
            guard let chip = chips.first(where: { [$0.name, $0.path, $0.label].contains(wanted) }) else {
                if let failure = failures.first(where: { [$0.path, String($0.path.dropFirst(5))].contains(wanted) }) {
                    throw Missing(problem: .chip(path: failure.path, code: failure.code))
                }
                throw Missing(problem: .noSuchChip(wanted, among: chips.map { "\($0.name) [\($0.label)]" }))
            }
            guard chip.lines.indices.contains(offset) else {
                throw Missing(problem: .noSuchOffset(chip: chip.name, lineCount: chip.lines.count))
            }
            return (chip, offset)
        }
    }

    struct Missing: Error {
        var problem: LineError.Problem
    }
}

import Glibc

/// A requested line. It is released with the last reference. It is a class because arrays cannot contain noncopyable
/// values.
final class OpenLine {
    let subject: String
    private let calls: GPIOCalls
    private let handle: RequestHandle

    /// Finds a line and requests it from the kernel.
    init(
        _ address: LineAddress, isOutput: Bool, activeLow: Bool, pull: InputLine.Pull, in scan: ChipScan,
        _ calls: GPIOCalls
    ) throws(ChipScan.Missing) {
        let (chip, offset) = try scan.find(address)
        let request = LineRequest(
            path: chip.path, offset: offset, isOutput: isOutput, activeLow: activeLow, pull: pull)
        do throws(CallError) {
            handle = try uninterrupted { () throws(CallError) in try calls.request(request) }
        } catch {
            guard error.code == EBUSY else {
                throw ChipScan.Missing(problem: .refused(chip: chip.name, offset: offset, code: error.code))
            }
            let holder = (try? OpenChip(chip.path, calls).describe())?.lines[offset].consumer
            throw ChipScan.Missing(problem: .busy(chip: chip.name, offset: offset, holder: holder ?? "?"))
        }
        subject = address.description
        self.calls = calls
    }

    deinit { calls.release(handle) }

    var descriptor: Int32 {
        calls.descriptor(handle)
    }

    func value() throws(CallError) -> Bool {
        try uninterrupted { () throws(CallError) in try calls.value(handle) }
    }

    func set(_ isActive: Bool) throws(CallError) {
        try uninterrupted { () throws(CallError) in try calls.setValue(handle, isActive) }
    }

    func readEdges() throws(CallError) -> [RawEdge] {
        try uninterrupted { () throws(CallError) in try calls.readEdges(handle) }
    }
}

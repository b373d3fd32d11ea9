/// An open chip. It is closed when it goes out of scope.
struct OpenChip: ~Copyable {
    private let path: String
    private let calls: GPIOCalls
    private let handle: ChipHandle

    init(_ path: String, _ calls: GPIOCalls) throws(CallError) {
        handle = try uninterrupted { () throws(CallError) in try calls.openChip(path) }
        self.path = path
        self.calls = calls
    }

    deinit { calls.closeChip(handle) }

    func describe() throws(CallError) -> GPIOChip {
        let info = try calls.chipInfo(handle)
        var lines: [GPIOChip.Line] = []
        for offset in 0..<info.lineCount {
            let line = try calls.lineInfo(handle, offset)
            lines.append(
                GPIOChip.Line(
                    offset: offset, name: line.name.isEmpty ? nil : line.name, isOutput: line.isOutput,
                    isActiveLow: line.isActiveLow, isUsed: line.isUsed,
                    consumer: line.consumer.isEmpty ? nil : line.consumer))
        }
        return GPIOChip(name: info.name, label: info.label, path: path, lines: lines)
    }
}

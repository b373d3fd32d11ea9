import Takes

@testable import Lines

/// Simulated chips and lines, which fail on demand and keep a log of the calls.
final class MadeUpKernel {
    struct Chip {
        var path: String
        var info: ChipInfo
        var lines: [LineInfo]
    }

    enum Call: Hashable {
        case openChip, chipInfo, lineInfo, request, value, setValue, readEdges, createPoll, addToPoll, poll
    }

    var chips: [Chip] = []
    /// The errors of a call's next uses, one each. After these, the call succeeds.
    var failures: [Call: [Int32]] = [:]
    /// The error that a call always throws.
    var alwaysFailing: [Call: Int32] = [:]
    /// The results of a line's reads, by offset, one for each read.
    var edges: [Int: [[RawEdge]]] = [:]
    /// The result of `poll`.
    var reports: [PollReport] = []
    var values: [Int: Bool] = [:]
    private(set) var log: [String] = []

    init(chips: [Chip] = [.pi]) {
        self.chips = chips
    }

    func clearLog() {
        log = []
    }

    private func run(_ call: Call) throws(CallError) {
        if let code = alwaysFailing[call] { throw CallError(code: code) }
        guard let code = failures[call]?.first else { return }
        failures[call]?.removeFirst()
        throw CallError(code: code)
    }

    // A handle is a line's offset or a chip's index, plus 1. The pointers are never dereferenced.
    private func number(_ handle: RequestHandle) -> Int {
        Int(bitPattern: handle.pointer) - 1
    }

    private func number(_ handle: ChipHandle) -> Int {
        Int(bitPattern: handle.pointer) - 1
    }

    var calls: GPIOCalls {
        var calls = GPIOCalls()
        calls.chipPaths = { [self] in chips.map(\.path) }
        calls.openChip = { [self] path throws(CallError) in
            try run(.openChip)
            guard let place = chips.firstIndex(where: { $0.path == path }) else { throw CallError(code: 2) }
            log.append("open \(path)")
            return ChipHandle(pointer: OpaquePointer(bitPattern: place + 1)!)
        }
        calls.closeChip = { [self] in log.append("close \(chips[number($0)].path)") }
        calls.chipInfo = { [self] chip throws(CallError) in
            try run(.chipInfo)
            return chips[number(chip)].info
        }
        calls.lineInfo = { [self] chip, offset throws(CallError) in
            try run(.lineInfo)
            return chips[number(chip)].lines[offset]
        }
        calls.request = { [self] request throws(CallError) in
            try run(.request)
            let way = request.isOutput ? "output" : "input"
            log.append("request \(request.offset) \(way)\(request.activeLow ? " low" : "") pull \(request.pull)")
            return RequestHandle(pointer: OpaquePointer(bitPattern: request.offset + 1)!)
        }
        calls.release = { [self] in log.append("release \(number($0))") }
        calls.descriptor = { [self] in Int32(1000 + number($0)) }
        calls.value = { [self] line throws(CallError) in
            try run(.value)
            return values[number(line)] ?? false
        }
        calls.setValue = { [self] line, isActive throws(CallError) in
            log.append("set \(number(line)) \(isActive)")
            try run(.setValue)
        }
        calls.readEdges = { [self] line throws(CallError) in
            try run(.readEdges)
            guard let next = edges[number(line)]?.first else { throw CallError(code: 11) }
            edges[number(line)]?.removeFirst()
            return next
        }
        calls.createPoll = { [self] () throws(CallError) in
            try run(.createPoll)
            return 999
        }
        calls.addToPoll = { [self] _, descriptor, index throws(CallError) in
            try run(.addToPoll)
            log.append("poll \(descriptor) as \(index)")
        }
        calls.removeFromPoll = { [self] _, descriptor in log.append("unpoll \(descriptor)") }
        calls.poll = { [self] _ throws(CallError) in
            try run(.poll)
            return reports
        }
        calls.close = { [self] in log.append("close \($0)") }
        return calls
    }
}

extension MadeUpKernel.Chip {
    /// Eight lines. Another program holds line 3.
    static let pi = MadeUpKernel.Chip(
        path: "/dev/gpiochip0", info: ChipInfo(name: "gpiochip0", label: "pinctrl-bcm2711", lineCount: 8),
        lines: (0..<8).map { offset in
            LineInfo(
                name: "GPIO\(offset)", consumer: offset == 3 ? "sysfs" : "", isOutput: false, isActiveLow: false,
                isUsed: offset == 3)
        })

    /// Two lines, one without a name.
    static let expander = MadeUpKernel.Chip(
        path: "/dev/gpiochip1", info: ChipInfo(name: "gpiochip1", label: "pcf8574", lineCount: 2),
        lines: ["", "LED"].map {
            LineInfo(name: $0, consumer: "", isOutput: true, isActiveLow: false, isUsed: false)
        })
}

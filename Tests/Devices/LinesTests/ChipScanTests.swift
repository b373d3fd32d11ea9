import Glibc
import Testing

@testable import Lines

@Suite struct ChipScanTests {
    @Test func `chips are listed with all their lines`() {
        let kernel = MadeUpKernel(chips: [.expander])
        let scan = ChipScan(kernel.calls)
        #expect(
            scan.chips == [
                GPIOChip(
                    name: "gpiochip1", label: "pcf8574", path: "/dev/gpiochip1",
                    lines: [
                        .init(offset: 0, name: nil, isOutput: true, isActiveLow: false, isUsed: false, consumer: nil),
                        .init(offset: 1, name: "LED", isOutput: true, isActiveLow: false, isUsed: false, consumer: nil),
                    ])
            ])
        #expect(scan.errors(.lines).isEmpty)
    }

    @Test func `a chip that cannot be opened is reported, and the others are listed`() {
        let kernel = MadeUpKernel(chips: [.pi, .expander])
        kernel.failures[.openChip] = [EACCES]
        let scan = ChipScan(kernel.calls)
        #expect(scan.chips.map(\.name) == ["gpiochip1"])
        #expect(
            scan.errors(.lines).map(\.description)
                == ["lines: cannot open /dev/gpiochip0: Permission denied: is the user in the group gpio?"])
    }

    @Test func `a chip's file that goes away between listing and opening is reported`() {
        let kernel = MadeUpKernel()
        var calls = kernel.calls
        calls.chipPaths = { ["/dev/gpiochip7"] }
        #expect(
            ChipScan(calls).errors(.lines).map(\.description)
                == ["lines: cannot open /dev/gpiochip7: No such file or directory"])
    }

    @Test func `the library itself refuses a file that is no chip`() {
        let calls = GPIOCalls()
        #expect(throws: CallError(code: ENOENT)) { try calls.openChip("/nonexistent") }
        // The error is ENOTTY in 1.x and ENODEV in 2.x.
        #expect(throws: CallError.self) { try calls.openChip("/dev/null") }
        #expect(throws: CallError(code: ENOENT)) {
            try calls.request(
                LineRequest(path: "/nonexistent", offset: 0, isOutput: false, activeLow: true, pull: .up))
        }
    }
}

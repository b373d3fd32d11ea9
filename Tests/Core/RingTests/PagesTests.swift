import Glibc
import Testing

@testable import Ring

/// The number of present pages of a mapping.
private func presentPages(of pages: borrowing Pages) -> Int {
    let page = sysconf(Int32(_SC_PAGESIZE))
    var states = [UInt8](repeating: 0, count: pages.byteCount / page)
    mincore(pages.start, pages.byteCount, &states)
    return states.count { $0 & 1 == 1 }
}

/// Whether the kernel of the machine makes pages present without writing to them. An emulator of another processor may
/// report success without doing it.
let kernelPopulates: Bool = {
    let pages = Pages(byteCount: 1)
    return madvise(pages.start, pages.byteCount, MADV_POPULATE_WRITE) == 0 && presentPages(of: pages) == 1
}()

@Suite struct PagesTests {
    @Test func `memory is zero and not present until it is asked for`() {
        let pages = Pages(byteCount: 3_000_000)
        #expect(pages.byteCount >= 3_000_000)
        #expect(presentPages(of: pages) == 0)
        let isZero = UnsafeRawBufferPointer(start: pages.start, count: pages.byteCount).allSatisfy { $0 == 0 }
        #expect(isZero)
    }

    @Test(.enabled(if: kernelPopulates)) func `all pages of a range are made present`() {
        // Pages may have 2 MiB.
        let pages = Pages(byteCount: 12_000_000)
        let page = sysconf(Int32(_SC_PAGESIZE))
        pages.makePresent(0..<1_000_000)
        let some = presentPages(of: pages)
        #expect(some >= 1_000_000 / page && some < pages.byteCount / page)
        pages.makePresent(0..<12_000_000)
        #expect(presentPages(of: pages) == pages.byteCount / page)
    }

    @Test func `clearing makes all pages present with any kernel`() {
        let pages = Pages(byteCount: 3_000_000)
        pages.clear()
        #expect(presentPages(of: pages) == pages.byteCount / sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func `an empty range is nothing to do`() {
        let pages = Pages(byteCount: 0)
        pages.makePresent(0..<0)
        #expect(pages.byteCount > 0)
    }

    @Test func `what is in memory stays when it is made present`() {
        let pages = Pages(byteCount: 3_000_000)
        let bytes = UnsafeMutableRawBufferPointer(start: pages.start, count: pages.byteCount)
        for index in stride(from: 0, to: bytes.count, by: 999) { bytes[index] = UInt8(truncatingIfNeeded: index) }
        pages.makePresent(0..<3_000_000)
        let isUnchanged = bytes.indices.allSatisfy {
            bytes[$0] == ($0 % 999 == 0 ? UInt8(truncatingIfNeeded: $0) : 0)
        }
        #expect(isUnchanged)
    }
}

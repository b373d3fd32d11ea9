import Files
import Glibc
import PowerCuts
import Takes
import Testing

@testable import TakeFiles

/// A conversion on a disk that is nearly full.
struct FLACRoomTests {
    let bench: ConversionBench

    init() throws { bench = try ConversionBench() }

    @Test func `without room beside the reserve it is not begun, and tried again later`() throws {
        let take = try bench.pendingTake()
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 512 << 20)
        bench.calls.free = 516 << 20
        // Four files, with 1 MiB each for the metadata.
        let reason =
            "convert \(take.stem) to FLAC: 516 MiB are free, and 516 are needed, of them 512 as reserve: free some space"
        #expect(try bench.run(conversion) == .later(reason))
        #expect(bench.calls.trace.allSatisfy { $0.hasPrefix("remove") && $0.hasSuffix(".flac") })
        #expect(try bench.names() == ConversionBench.original)
        #expect(try bench.directory.sidecar(of: take).pendingFormat == "flac")
        bench.calls.free = 517 << 20
        #expect(try bench.run(conversion) == .converted(try bench.directory.sidecar(of: take)))
        try bench.expectConverted(take)
    }

    @Test func `it ends for now when the room is used up`() throws {
        let take = try bench.pendingTake()
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 512 << 20)
        bench.calls.free = 600 << 20
        while try bench.names().allSatisfy({ !$0.hasSuffix(".flac.part") }) { #expect(try conversion.step() == nil) }
        bench.calls.free = 512 << 20 - 1
        guard case .later = try bench.run(conversion) else {
            Issue.record("it continues")
            return
        }
        #expect(try bench.names() == ConversionBench.original)
        bench.calls.free = nil
        #expect(try bench.convert(take) == .converted(try bench.directory.sidecar(of: take)))
    }

    @Test func `a disk that fills meanwhile is left as it was, and it continues when there is room`() throws {
        for index in 0..<(try ConversionBench.callCount()) {
            let bench = try ConversionBench()
            let take = try bench.pendingTake()
            bench.calls.setPlan { number, verb in
                number >= index && (verb == "create" || verb == "write") ? ENOSPC : nil
            }
            let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
            let outcome = try bench.run(conversion)
            bench.calls.setPlan { _, _ in nil }
            guard case .later(let reason) = outcome else {
                try bench.expectConverted(take, stereo16, "call \(index)")
                continue
            }
            #expect(reason.contains("No space left on device: free some space"), "call \(index)")
            try bench.expectWhole(take, "call \(index)")
            #expect(try bench.names().filter { $0.hasSuffix(".part") } == [], "call \(index)")
            let again = try bench.run(conversion)
            #expect(again == .converted(try bench.directory.sidecar(of: take)), "call \(index)")
            try bench.expectConverted(take, stereo16, "call \(index)")
        }
    }
}

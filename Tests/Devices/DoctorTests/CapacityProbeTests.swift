import Files
import Glibc
import Takes
import TestBench
import Testing

@testable import Doctor

@Suite struct CapacityProbeTests {
    private static let mebibyte: Int64 = 1 << 20
    private static let disk = 1024 * mebibyte
    private static let device = BackingDevice(start: 0, byteCount: disk, diskByteCount: disk)
    private static let free = 900 * mebibyte
    /// After 64 MiB of other files, and on both sides of 16 MiB in the middle.
    private static let extents = [
        FileExtent(offset: 0, place: 64 * mebibyte, byteCount: 300 * mebibyte),
        FileExtent(offset: 300 * mebibyte, place: 380 * mebibyte, byteCount: 577 * mebibyte),
    ]

    private func card(
        _ kind: FalseCard.Kind, failure: (call: String, from: Int, code: Int32)? = nil,
        syncTime: Duration = .milliseconds(1), names: Set<String> = []
    ) -> FalseCard {
        FalseCard(
            kind, extents: Self.extents, free: Self.free, syncTime: syncTime, names: names, failure: failure)
    }

    private func run(
        _ card: FalseCard, reserve: Int64 = 16 << 20, ending: () -> CapacityProbe.Ending? = { nil }
    ) -> CapacityProbe.Outcome {
        CapacityProbe.run(
            in: "/takes", bytesPerSecond: 10_000, reserveBytes: reserve, seed: 42, device: Self.device,
            files: FileSystem(calls: card), clock: card, ending: ending)
    }

    private func measured(_ outcome: CapacityProbe.Outcome) -> CapacityMeasure? {
        if case .measured(let measure) = outcome { measure } else { nil }
    }

    /// Whether the file itself has a block at this place.
    private func isOwn(_ place: Int64) -> Bool {
        Self.extents.contains { $0.place <= place && place < $0.place + $0.byteCount }
    }

    @Test func `a genuine card is covered whole, and the space is given back`() throws {
        let card = card(.genuine)
        let measure = try #require(measured(run(card)))
        #expect(measure.wrong == [] && measure.realByteCount == nil)
        // 900 MiB minus the reserve, and 660 s of sound at 10 kB/s.
        #expect(measure.wantedByteCount == 877 * Self.mebibyte)
        #expect(measure.coveredByteCount == measure.wantedByteCount)
        #expect(measure.count > 900 && measure.step == Self.mebibyte)
        #expect(measure.filling == .allocated && measure.reading == .direct)
        #expect(card.places.allSatisfy(isOwn))
        #expect(card.names == [] && card.openCount == 0)
        #expect(CapacityCheck(directory: "/takes", outcome: .measured(measure)).check.outcome == .ok)
    }

    @Test(arguments: [512, 256, 128] as [Int64])
    func `a card that repeats after a power of two is found before anything but the file is overwritten`(
        size: Int64
    ) throws {
        let card = card(.wrapping(size * Self.mebibyte))
        let measure = try #require(measured(run(card)))
        #expect(measure.realByteCount == size * Self.mebibyte)
        #expect(card.places.allSatisfy(isOwn), "takes below were overwritten")
        #expect(card.names == [] && card.openCount == 0)
        let check = CapacityCheck(directory: "/takes", outcome: .measured(measure)).check
        #expect(check.outcome == .failed && check.exitStatus == 74)
        let real = rounded(Double(size * Self.mebibyte) / 1e6)
        #expect(
            check.message
                == "/takes: the card is a fake: bytes written in one place appear \(real) MB away: about \(real) MB of its "
                + "1.1 GB are real: do not record on it, return it")
    }

    @Test(arguments: [700.0, 611.3, 437.5, 333.3, 200.1])
    func `a card that repeats after anything else is found, too`(size: Double) throws {
        let period = Int64(size * Double(Self.mebibyte)) & ~4095
        let measure = try #require(measured(run(card(.wrapping(period)))))
        #expect(measure.realByteCount == period)
    }

    @Test(arguments: [100, 511, 700, 950] as [Int64])
    func `a card that drops what is above its end is found, with its end`(size: Int64) throws {
        let card = card(.dropping(size * Self.mebibyte + 8192))
        let measure = try #require(measured(run(card)))
        #expect(measure.endsThere)
        let real = try #require(measure.realByteCount)
        #expect(real >= size * Self.mebibyte + 8192 && real <= (size + 21) * Self.mebibyte)
        let check = CapacityCheck(directory: "/takes", outcome: .measured(measure)).check
        #expect(check.outcome == .failed)
        #expect(check.message.contains("lost them: about") && check.message.hasSuffix("do not record on it, return it"))
    }

    @Test func `a card that loses a write here and there is found, and is not said to end there`() throws {
        let measure = try #require(measured(run(card(.leaky(100)))))
        #expect(!measure.wrong.isEmpty && !measure.endsThere)
        let check = CapacityCheck(directory: "/takes", outcome: .measured(measure)).check
        #expect(check.message.contains("did not give them back, the first at"))
    }

    @Test(arguments: [
        ("write", 5, ENOSPC), ("write", 400, EIO), ("sync", 3, EIO), ("free", 0, EIO), ("open", 1, EMFILE),
    ])
    func `a call that fails ends it with its own error, and nothing is left behind`(
        call: String, from: Int, code: Int32
    ) {
        let card = card(.genuine, failure: (call, from, code))
        guard case .failed(let error) = run(card) else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.code == code)
        #expect(card.names == [] && card.openCount == 0)
        let check = CapacityCheck(directory: "/takes", outcome: .failed(error)).check
        #expect(check.outcome == .failed && check.message.contains(error.fact))
    }

    @Test func `blocks that cannot be read are wrong`() throws {
        let card = card(.genuine, failure: ("read", 12, EIO))
        let measure = try #require(measured(run(card)))
        #expect(measure.wrong.allSatisfy { $0.found == .unreadable(code: EIO) } && !measure.wrong.isEmpty)
        #expect(CapacityCheck(directory: "/takes", outcome: .measured(measure)).check.outcome == .failed)
    }

    @Test func `a file system without room for all of it is filled with somewhat less`() throws {
        let card = card(.genuine, failure: ("allocate", 0, ENOSPC))
        guard case .failed(let error) = run(card) else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.isDiskFull && card.count(of: "allocate") == 4)
        #expect(card.names == [] && card.openCount == 0)
    }

    @Test func `it ends where it is when a take begins, or at Ctrl-C`() {
        for reason in [CapacityProbe.Ending.takeBegan, .interrupted] {
            let card = card(.genuine)
            var asked = 0
            let outcome = run(card) {
                asked += 1
                return asked > 5 ? reason : nil
            }
            #expect(outcome == .ended(reason))
            #expect(asked == 6)
            #expect(card.names == [] && card.openCount == 0)
            let check = CapacityCheck(directory: "/takes", outcome: outcome).check
            #expect(check.outcome == .skipped)
        }
    }

    @Test func `a leftover is removed first`() {
        let card = card(.genuine, names: ["/takes/.acceptance"])
        #expect(measured(run(card)) != nil)
        #expect(card.names == [] && card.count(of: "remove") == 2)
    }

    @Test func `too little space, and memory, are not tested`() {
        #expect(run(card(.genuine), reserve: 880 << 20) == .skipped("too little space is free to test it"))
        let memory = FalseCard(extents: Self.extents, free: Self.free, magic: 0x0102_1994)
        #expect(run(memory) == .skipped("it is on tmpfs, which is kept in memory"))
    }

    @Test func `a slow card is covered to its end, with fewer blocks`() throws {
        let card = card(.genuine, syncTime: .seconds(1))
        let measure = try #require(measured(run(card)))
        #expect(measure.count >= 256 && measure.count < 3000)
        #expect(measure.coveredByteCount == measure.wantedByteCount && measure.wrong == [])
        #expect(measure.duration < .seconds(90))
    }

    @Test func `a card that is slower still is covered in part, which is said`() throws {
        let measure = try #require(measured(run(card(.genuine, syncTime: .seconds(12)))))
        let check = CapacityCheck(directory: "/takes", outcome: .measured(measure)).check
        #expect(check.outcome == .warning && check.message.contains("too slow to be tested whole"))
    }

    @Test func `what can only be written whole is written as far as there is time, and not where there are takes`()
        throws
    {
        func exFAT(_ kind: FalseCard.Kind, syncTime: Duration, names: Set<String> = []) -> CapacityProbe.Outcome {
            let extents = [FileExtent(offset: 0, place: 124 * Self.mebibyte, byteCount: 900 * Self.mebibyte)]
            return run(
                FalseCard(
                    kind, extents: extents, free: Self.free, magic: 0x2011_BAB0, syncTime: syncTime, names: names))
        }
        let all = try #require(measured(exFAT(.genuine, syncTime: .milliseconds(1))))
        #expect(all.filling == .written && all.coveredByteCount == all.wantedByteCount && all.wrong == [])
        let some = try #require(measured(exFAT(.genuine, syncTime: .seconds(4))))
        #expect(some.coveredByteCount < some.wantedByteCount)
        let check = CapacityCheck(directory: "/takes", outcome: .measured(some)).check
        #expect(check.outcome == .warning && check.message.contains("ext4 is tested whole"))
        let wrong = try #require(measured(exFAT(.dropping(600 * Self.mebibyte), syncTime: .milliseconds(1))))
        #expect(wrong.realByteCount == 600 * Self.mebibyte && wrong.endsThere)
        guard case .skipped(let reason) = exFAT(.genuine, syncTime: .zero, names: ["/takes/2026-11-25"]) else {
            Issue.record("takes were not seen")
            return
        }
        #expect(reason.contains("a false card loses takes by it"))
    }

    @Test func `the kernel says how large a disk is and where its partition begins`() throws {
        let folder = TestFolder()
        let files = FileSystem()
        let device = try files.identity(folder.path).device
        let number = "\((device >> 8) & 0xfff):\(device & 0xff)"
        folder.write("1000\n", to: "sys/dev/block/disk/size")
        folder.write("204800\n", to: "sys/dev/block/\(number)/size")
        #expect(
            BackingDevice(of: folder.path, root: folder.path)
                == BackingDevice(start: 0, byteCount: 204800 * 512, diskByteCount: 204800 * 512))
        folder.write("2048\n", to: "sys/dev/block/\(number)/start")
        folder.write("1\n", to: "sys/dev/block/\(number)/partition")
        folder.write("409600\n", to: "sys/dev/block/size")
        #expect(
            BackingDevice(of: folder.path, root: folder.path)
                == BackingDevice(start: 2048 * 512, byteCount: 204800 * 512, diskByteCount: 409600 * 512))
        #expect(BackingDevice(of: folder.path, root: folder.path + "/nowhere") == nil)
    }
}

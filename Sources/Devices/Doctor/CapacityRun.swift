import Files
import Glibc
import Takes

/// One test of a storage's capacity: the file that fills it, and the sentinels in that file.
@safe final class CapacityRun {
    /// Why a test has no result.
    enum Stop: Error {
        case failed(FileError)
        case ended(CapacityProbe.Ending)
    }

    private let files: FileSystem
    private let clock: any Clock
    private let seed: UInt64
    private let device: BackingDevice
    private let file: OpenFile
    /// The same file, opened for reading without the cache if that is possible.
    private let reader: OpenFile
    private let byteCount: Int64
    private let layout: FileLayout
    private let plan: SentinelPlan
    private let filling: CapacityMeasure.Filling
    private var reading = CapacityMeasure.Reading.uncached
    /// The offsets of all written sentinels.
    private var written: Set<Int64> = []
    private var isWhole = false
    private let buffer: UnsafeMutableRawBufferPointer

    /// The time limit for writing.
    static let patience = Duration.seconds(30)
    /// After this number of sentinels they are synced, and `ending` is called.
    static let batch = 32
    /// Contiguous blocks are read in groups of at most this number.
    private static let blocksAtOnce = 64
    private static let block = Int64(Sentinel.byteCount)

    /// Creates the file and unlinks it. A leftover file is replaced.
    /// - Parameters:
    ///   - mayAllocate: whether the file system can allocate blocks without writing them.
    ///   - usedByteCount: how much of the device is in use.
    init(
        _ path: String, byteCount: Int64, seed: UInt64, device: BackingDevice, mayAllocate: Bool, usedByteCount: Int64,
        files: FileSystem, clock: any Clock
    ) throws(Stop) {
        self.files = files
        self.clock = clock
        self.seed = seed
        self.device = device
        let (file, reader) = try Self.reporting { () throws(FileError) in
            // The leftover may be a link that someone else made, which must not be followed.
            try files.remove(path)
            let file = try files.create(path, isNew: true)
            do throws(FileError) {
                let reader = try files.openToRead(path, followsLink: false)
                try files.remove(path)
                return (file, reader)
            } catch {
                try? files.remove(path)
                throw error
            }
        }
        self.file = file
        self.reader = reader
        let allocated = mayAllocate ? try Self.allocate(file, byteCount, files) : nil
        filling = allocated == nil ? .written : .allocated
        self.byteCount = allocated ?? byteCount
        // FAT allocates blocks in order, so those of an empty card are contiguous after the used space.
        let guess = FileExtent(
            offset: 0, place: usedByteCount / Self.block * Self.block, byteCount: allocated ?? byteCount)
        layout = FileLayout(allocated.flatMap { _ in try? files.extents(file) } ?? [guess])
        plan = SentinelPlan(layout, byteCount: allocated ?? byteCount, device: device)
        // Safe: freed in deinit, and every access below stays within it.
        unsafe buffer = .allocate(
            byteCount: Self.blocksAtOnce * Sentinel.byteCount, alignment: Sentinel.byteCount)
        if (try? files.bypassCache(reader)) != nil { reading = .direct }
    }

    deinit {
        unsafe buffer.deallocate()
    }

    /// Allocates the space, or slightly less if the file system itself needs some of it.
    /// - Returns: the allocated size in bytes, or nil if the file system cannot allocate.
    private static func allocate(_ file: OpenFile, _ byteCount: Int64, _ files: FileSystem) throws(Stop) -> Int64? {
        var byteCount = byteCount
        var tries = 0
        while true {
            do throws(FileError) {
                try files.allocate(file, byteCount: byteCount)
                return byteCount
            } catch {
                if error.code == EOPNOTSUPP || error.code == ENOSYS { return nil }
                tries += 1
                guard error.isDiskFull, tries < 4 else { throw .failed(error) }
                byteCount = byteCount / 32 * 31 & ~0xF_FFFF
            }
        }
    }

    /// Converts a file error to an error that ends the test.
    static func reporting<Result>(_ body: () throws(FileError) -> Result) throws(Stop) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw .failed(error)
        }
    }

    /// Writes the sentinels and reads them back.
    func measure(_ ending: () -> CapacityProbe.Ending?) throws(Stop) -> CapacityMeasure {
        let began = clock.now()
        let deadline = began + Self.patience
        switch filling {
        case .allocated:
            for pair in plan.pairs where clock.now() < deadline {
                try write([pair.low, pair.high], ending)
                let readings = try read([pair.low, pair.high], ending)
                if readings.allSatisfy({ $0.value == .own }) { continue }
                guard readings[pair.low] == .own else { return try closer(result(readings, began), ending) }
                // Data written above the real end is lost and overwrites nothing, so the grid can find the end.
                break
            }
            try write(stretch(plan.runByteCount), ending, until: deadline)
            var last = Duration.zero
            var passes = 0
            for (number, pass) in plan.grid.enumerated() {
                let start = clock.now()
                // The first pass gets more time, because only this pass reaches the end.
                guard number == 0 || start + last * 2 <= deadline else { break }
                if try write(pass, ending, until: number == 0 ? deadline + Self.patience / 3 : deadline) { passes += 1 }
                last = clock.now() - start
                // A false card is nearly always detected here at the latest, so that no more of its data is
                // overwritten.
                let readings = number == 0 ? try read(written.sorted(), ending) : [:]
                guard readings.allSatisfy({ $0.value == .own }) else {
                    return try closer(result(readings, began), ending)
                }
            }
            isWhole = passes == plan.grid.count
        case .written:
            // The file system also writes all blocks between, so dense sentinels cost nothing.
            let places = stride(from: Int64(0), through: byteCount - Self.block, by: Int(SentinelPlan.shortestStep))
            isWhole = try write(Array(places), ending, until: deadline)
        }
        return result(try read(written.sorted(), ending), began)
    }

    /// Two sentinels in one place may lie several periods apart. A pair one part of that distance apart shows whether
    /// that part is the period.
    private func closer(
        _ measure: CapacityMeasure, _ ending: () -> CapacityProbe.Ending?
    ) throws(Stop) -> CapacityMeasure {
        guard measure.repeats, let found = measure.realByteCount else { return measure }
        for pair in SentinelPlan.pairs(layout, partsOf: found, start: device.start) {
            try write([pair.low], ending)
            try write([pair.high], ending)
            guard try read([pair.low], ending)[pair.low] == .another(number: pair.high / Self.block) else { continue }
            var measure = measure
            measure.wrong.append(.init(place: place(pair.low), found: .another(place: place(pair.high))))
            return measure
        }
        return measure
    }

    private func stretch(_ byteCount: Int64) -> [Int64] {
        Array(stride(from: 0, to: byteCount, by: Sentinel.byteCount))
    }

    // MARK: Writing

    /// - Returns: whether there was time for all sentinels.
    @discardableResult private func write(
        _ offsets: [Int64], _ ending: () -> CapacityProbe.Ending?, until deadline: Instant? = nil
    ) throws(Stop) -> Bool {
        var unsynced = 0
        for offset in offsets {
            try Self.reporting { () throws(FileError) in
                try files.write(sentinel(offset).bytes, to: file, at: offset)
            }
            written.insert(offset)
            unsynced += 1
            guard unsynced == Self.batch else { continue }
            unsynced = 0
            try sync()
            if let ending = ending() { throw .ended(ending) }
            if let deadline, clock.now() >= deadline, offset != offsets.last { return false }
        }
        try sync()
        if let ending = ending() { throw .ended(ending) }
        return true
    }

    private func sync() throws(Stop) {
        try Self.reporting { () throws(FileError) in try files.sync(file) }
    }

    private func sentinel(_ offset: Int64) -> Sentinel { Sentinel(seed: seed, number: offset / Self.block) }

    // MARK: Reading

    /// - Parameter offsets: in ascending order.
    private func read(
        _ offsets: [Int64], _ ending: () -> CapacityProbe.Ending?
    ) throws(Stop) -> [Int64: Sentinel.Reading] {
        files.dropCache(of: file)
        var readings: [Int64: Sentinel.Reading] = [:]
        var left = offsets[...]
        var reads = 0
        while let first = left.first {
            var count = 1
            while count < min(left.count, Self.blocksAtOnce),
                left[left.startIndex + count] == first + Int64(count) * Self.block
            { count += 1 }
            for (offset, reading) in readBlocks(first, count) { readings[offset] = reading }
            left = left.dropFirst(count)
            reads += 1
            if reads % Self.batch == 0, let ending = ending() { throw .ended(ending) }
        }
        return readings
    }

    /// Reads contiguous blocks together, and one by one after an error.
    private func readBlocks(_ first: Int64, _ count: Int) -> [(Int64, Sentinel.Reading)] {
        let blocks: [UInt8]
        do throws(FileError) {
            // Safe: count is at most blocksAtOnce.
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * Sentinel.byteCount)])
            let done = unsafe try files.read(reader, at: first, into: part)
            blocks = unsafe Array(part[..<done])
        } catch {
            guard count > 1 else { return [(first, .unreadable(code: error.code))] }
            return (0..<count).flatMap { readBlocks(first + Int64($0) * Self.block, 1) }
        }
        return (0..<count).map { index in
            let offset = first + Int64(index) * Self.block
            let block = Array(blocks.dropFirst(index * Sentinel.byteCount).prefix(Sentinel.byteCount))
            return (offset, sentinel(offset).reading(of: block))
        }
    }

    // MARK: The result

    private func result(_ readings: [Int64: Sentinel.Reading], _ began: Instant) -> CapacityMeasure {
        let places = readings.map { (place: place($0.key), reading: $0.value) }.sorted { $0.place < $1.place }
        let wrong = places.compactMap { place, reading -> CapacityMeasure.Wrong? in
            switch reading {
            case .own: nil
            case .another(let number): .init(place: place, found: .another(place: self.place(number * Self.block)))
            case .lost: .init(place: place, found: .lost)
            case .unreadable(let code): .init(place: place, found: .unreadable(code: code))
            }
        }
        var measure = CapacityMeasure(
            diskByteCount: device.diskByteCount, wantedByteCount: byteCount,
            coveredByteCount: isWhole ? byteCount : min(byteCount, (written.max() ?? 0) + plan.step),
            count: readings.count, step: plan.step,
            filling: filling, reading: reading, wrong: wrong, highestPlace: places.last?.place ?? 0,
            duration: clock.now() - began)
        if let first = wrong.first?.place {
            measure.endsThere = places.allSatisfy { $0.place < first || $0.reading != .own } && wrong.count > 1
        }
        return measure
    }

    private func place(_ offset: Int64) -> Int64 {
        device.start + (layout.place(ofOffset: offset) ?? offset)
    }
}

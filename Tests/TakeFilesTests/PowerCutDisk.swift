import Glibc
import SeededRandom
import Synchronization
import TakeFiles

/// The kernel's calls, written down as what a disk is told, so that it can be said what the disk may hold if the power
/// goes after any of them: only what was synced is sure.
final class PowerCutDisk: SystemCalls {
    enum Event {
        case make(String, Int)
        case makeFolder(String)
        case rename(String, String)
        case remove(String)
        case write(Int, at: Int, [UInt8])
        case cut(Int, to: Int)
        case syncFile(Int)
        case syncFolder(String)
    }

    /// What becomes of that which was not synced.
    enum Loss: CaseIterable {
        /// Nothing of it is on the disk.
        case everything
        /// All of it is on the disk: the process was killed, the machine lives.
        case nothing
        /// The files have their lengths, and zeros where nothing was before.
        case contents
        /// Any blocks of 4 KiB may be missing, and any number of the last names.
        case blocks
    }

    private struct State {
        var events: [Event] = []
        /// What the names stand for now.
        var files: [String: Int] = [:]
        var descriptors: [Int32: (path: String, file: Int?)] = [:]
        var fileCount = 0
    }

    private let kernel = KernelCalls()
    private let root: String
    private let first: [String: [UInt8]]
    private let state: Mutex<State>

    /// A disk that holds what is in the folder `root` now, all of it synced.
    init(root: String) throws {
        self.root = root
        first = try everything(in: root)
        var state = State()
        for path in first.keys.sorted() {
            state.files[path] = state.fileCount
            state.fileCount += 1
        }
        self.state = Mutex(state)
    }

    /// What the disk was told so far.
    var count: Int { state.withLock { $0.events.count } }

    private func short(_ path: String) -> String { String(path.dropFirst(root.count + 1)) }

    private func note(_ event: (inout State) -> Event?) {
        state.withLock { state in
            if let event = event(&state) { state.events.append(event) }
        }
    }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        note { state in
            let name = short(path)
            let known = state.files[name]
            defer { state.descriptors[descriptor] = (name, state.files[name]) }
            guard flags & O_CREAT != 0 else { return nil }
            if let known { return flags & O_TRUNC != 0 ? .cut(known, to: 0) : nil }
            state.files[name] = state.fileCount
            state.fileCount += 1
            return .make(name, state.fileCount - 1)
        }
        return descriptor
    }

    func close(_ descriptor: Int32) { kernel.close(descriptor) }

    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let count = try kernel.pwrite(descriptor, bytes, at: offset)
        note { $0.descriptors[descriptor]?.file.map { .write($0, at: Int(offset), Array(bytes.prefix(count))) } }
        return count
    }

    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try kernel.pread(descriptor, bytes, at: offset)
    }

    func fdatasync(_ descriptor: Int32) throws(Errno) { try fsync(descriptor) }

    func fsync(_ descriptor: Int32) throws(Errno) {
        note { state in
            state.descriptors[descriptor].map { subject in
                subject.file.map { .syncFile($0) } ?? .syncFolder(subject.path)
            }
        }
    }

    func length(_ descriptor: Int32) throws(Errno) -> Int64 { try kernel.length(descriptor) }

    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try kernel.ftruncate(descriptor, to: byteCount)
        note { $0.descriptors[descriptor]?.file.map { .cut($0, to: Int(byteCount)) } }
    }

    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) { try kernel.fchmod(descriptor, mode) }
    func lock(_ descriptor: Int32) throws(Errno) { try kernel.lock(descriptor) }

    func rename(_ from: String, to: String) throws(Errno) {
        try kernel.rename(from, to: to)
        note { state in
            state.files[short(to)] = state.files.removeValue(forKey: short(from))
            return .rename(short(from), short(to))
        }
    }

    func unlink(_ path: String) throws(Errno) {
        try kernel.unlink(path)
        note { state in
            state.files[short(path)] = nil
            return .remove(short(path))
        }
    }

    func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        try kernel.mkdir(path, mode: mode)
        note { _ in .makeFolder(short(path)) }
    }

    func freeBytes(_ path: String) throws(Errno) -> Int64 { try kernel.freeBytes(path) }
    func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path) }

    func checkWritable(_ path: String) throws(Errno) { try kernel.checkWritable(path) }

    func entries(_ path: String) throws(Errno) -> [String] { try kernel.entries(path) }
}

// MARK: - The cut

extension PowerCutDisk {
    /// The disk after the first `count` events, as a loss leaves it: the content of each file, below each path.
    func files(after count: Int, losing loss: Loss, seed: UInt64 = 1) -> [String: [UInt8]] {
        var random = SeededRandom(seed: seed)
        let events = state.withLock { Array($0.events.prefix(count)) }
        let names = names(events, losing: loss, &random)
        var before: [Int: [UInt8]] = [:]
        for (number, path) in first.keys.sorted().enumerated() { before[number] = first[path] }
        let contents = contents(events, before)
        return names.mapValues { file in
            let (synced, now) = contents[file] ?? ([], [])
            return Self.content(synced, now, losing: loss, &random)
        }
    }

    private func names(_ events: [Event], losing loss: Loss, _ random: inout SeededRandom) -> [String: Int] {
        // A change of a name is on the disk once its folder is synced, and then all before it in any folder, in order.
        var sure = 0
        for (index, event) in events.enumerated() {
            if case .syncFolder = event { sure = index }
        }
        let end =
            switch loss {
            case .everything: sure
            case .nothing, .contents: events.count
            case .blocks: sure + random.below(events.count - sure + 1)
            }
        var names: [String: Int] = [:]
        for (number, path) in first.keys.sorted().enumerated() { names[path] = number }
        for event in events[..<end] {
            switch event {
            case .make(let path, let file): names[path] = file
            case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
            case .remove(let path): names[path] = nil
            case .makeFolder, .write, .cut, .syncFile, .syncFolder: break
            }
        }
        return names
    }

    /// Of each file, what was synced last, and what it would be now.
    private func contents(
        _ events: [Event], _ first: [Int: [UInt8]]
    ) -> [Int: (synced: [UInt8], now: [UInt8])] {
        var contents: [Int: (synced: [UInt8], now: [UInt8])] = first.mapValues { ($0, $0) }
        for event in events {
            switch event {
            case .write(let file, let offset, let bytes):
                var now = contents[file]?.now ?? []
                if now.count < offset + bytes.count {
                    now += [UInt8](repeating: 0, count: offset + bytes.count - now.count)
                }
                now.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                contents[file, default: ([], [])].now = now
            case .cut(let file, let size):
                let now = contents[file]?.now ?? []
                contents[file, default: ([], [])].now =
                    Array(now.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - now.count))
            case .syncFile(let file):
                contents[file, default: ([], [])].synced = contents[file]?.now ?? []
            case .make, .makeFolder, .rename, .remove, .syncFolder: break
            }
        }
        return contents
    }

    private static func content(_ synced: [UInt8], _ now: [UInt8], losing loss: Loss, _ random: inout SeededRandom)
        -> [UInt8]
    {
        switch loss {
        case .everything: return synced
        case .nothing: return now
        case .contents: return Array(synced.prefix(now.count)) + zeros(now.count - synced.count)
        case .blocks:
            var mixed = now
            for start in stride(from: 0, to: now.count, by: 4096) where random.below(2) == 0 {
                let end = min(start + 4096, now.count)
                let old = synced.dropFirst(start).prefix(end - start)
                mixed.replaceSubrange(start..<end, with: old + zeros(end - start - old.count))
            }
            return mixed
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: max(0, count)) }
}

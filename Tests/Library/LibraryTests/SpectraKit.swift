import Catalog
import Files
import FinishedTakes
import Foundation
import Logging
import PowerCuts
import Spectra
import TakeFiles
import Takes
import TestBench
import Testing

@testable import Library

/// A library whose takes get columns. No thread works, and its clock stands still.
class SpectraKit {
    let tested: TestedIndexer
    let storage = SpectraStorage()
    let clock = TestClock()
    /// The answer of the recorder, and the number of questions.
    let recording = Locked((answer: SpectraGate.Recording.none, count: 0))
    let desk: SpectraDesk
    let work: SpectraWork
    let inspector: SoundInspector

    init() throws {
        tested = try TestedIndexer()
        let (log, files) = (tested.log, FileSystem(calls: storage))
        let logger = Logger(label: "test") { _ in log }
        desk = SpectraDesk(
            in: "\(tested.disk.library)/spectra", SpectraGate(hasBattery: false, reservedBytes: 0), files: files,
            clock: clock, recording: Self.answers(recording), log: logger)
        work = SpectraWork(
            desk, tested.catalogs, isScanned: { [progress = tested.progress] in progress.hasScanned }, files: files,
            log: logger)
        inspector = try SoundInspector(
            tested.catalogs, spectra: desk, files: files, clock: clock, show: { _ in }, log: logger)
    }

    static func answers(
        _ recording: Locked<(answer: SpectraGate.Recording, count: Int)>
    ) -> @Sendable () -> SpectraGate.Recording {
        return {
            recording.withLock { recording in
                recording.count += 1
                return recording.answer
            }
        }
    }

    var folder: String { "\(tested.disk.library)/spectra" }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }
    var drafts: [String] { names.filter { $0.hasSuffix(".tmp") } }
    var warnings: [String] { tested.log.lines.filter { $0.hasPrefix("spectra: ") } }

    func record(_ answer: SpectraGate.Recording) { recording.withLock { $0.answer = answer } }

    /// Adds a take of noise, and catalogs it.
    func add(_ sidecar: Sidecar, hasFingerprint: Bool = true) async throws -> Sidecar {
        let added = try tested.disk.addSound(sidecar, hasFingerprint: hasFingerprint).sidecar
        await tested.indexer.scanAll()
        return added
    }

    /// A take of some seconds.
    static func long(_ number: Int, seconds: Double = 10) -> Sidecar {
        TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(60 * number), seconds: seconds)
    }

    func compare(_ sidecar: Sidecar, _ depth: SoundInspector.Depth = .changed) async throws {
        try await inspector.check(TakesOnDisk.name(sidecar), in: tested.disk.takes, depth)
    }

    /// Adds a take, and compares its sound while the desk may compute nothing.
    func addWithoutColumns(_ sidecar: Sidecar) async throws -> Sidecar {
        record(.unsynced(seconds: 5))
        let added = try await add(sidecar)
        try await compare(added)
        record(.none)
        clock.advance(by: SpectraDesk.pause)
        #expect(names == [])
        return added
    }

    /// Works until nothing is due now.
    /// - Returns: the time until the next call, and the parts whose files appeared, in order.
    @discardableResult
    func settle() -> (pause: Duration, files: [String]) {
        var known = desk.bases()
        var order: [String] = []
        while true {
            let next = work.turn(clock.now())
            let bases = desk.bases()
            order += bases.subtracting(known).sorted()
            known = bases
            if next > clock.now() { return (next - clock.now(), order) }
        }
    }

    /// Works until a file is begun.
    func begin() {
        while drafts == [] { _ = work.turn(clock.now()) }
    }

    /// The file of a part, made without a desk.
    func expected(_ part: Sidecar.Part, _ sidecar: Sidecar, seed: Int = 0) throws -> [UInt8] {
        let format = part.streamFormat(channels: sidecar.channels).stored
        let sound = TakesOnDisk.sound(bytes: Int(part.frames) * format.bytesPerFrame, seed: seed)
        var digest = SoundDigest()
        digest.update(sound)
        let path = "\(tested.disk.path)/expected.spectrum"
        let writer = try SpectraWriter(path, sound: format, frames: part.frames)
        try writer.append(sound.span.bytes)
        try writer.finish(sha256: digest.hexadecimal)
        return try FileSystem().contents(path, limit: 1 << 26)
    }

    func file(_ sidecar: Sidecar, part: Int = 0) throws -> [UInt8] {
        try FileSystem().contents(
            "\(folder)/\(RecordedSound.base(of: sidecar.parts[part].file)).spectrum", limit: 1 << 26)
    }

    func columns(_ sidecar: Sidecar) throws -> TakeColumns {
        desk.columns(of: sidecar, try tested.catalog.notes(of: sidecar.identity))
    }
}

/// The kernel's calls, with the room and the errors that a test sets, and counts of the bytes read and of the files
/// measured.
final class SpectraStorage: ForwardedCalls {
    let kernel = KernelCalls()
    private let state = Locked(State())

    private struct State {
        var free: Int64 = 5 << 30
        var writeError: Int32?
        var open: [Int32: String] = [:]
        var reads: [String: Int64] = [:]
        var measures: [String: Int] = [:]
    }

    /// The free bytes of a file system of 10 GiB, of which 512 MiB must stay free.
    var free: Int64 {
        get { state.withLock(\.free) }
        set { state.withLock { $0.free = newValue } }
    }
    /// The error of every write, or nil.
    var writeError: Int32? {
        get { state.withLock(\.writeError) }
        set { state.withLock { $0.writeError = newValue } }
    }

    /// The bytes read of a file so far.
    func bytesRead(_ name: String) -> Int64 { state.withLock { $0.reads[name] ?? 0 } }
    /// How often the attributes of a file were read so far.
    func measures(_ name: String) -> Int { state.withLock { $0.measures[name] ?? 0 } }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        state.withLock { $0.open[descriptor] = String(path.split(separator: "/").last ?? "") }
        return descriptor
    }
    func close(_ descriptor: Int32) {
        state.withLock { _ = $0.open.removeValue(forKey: descriptor) }
        kernel.close(descriptor)
    }
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let read = try kernel.pread(descriptor, bytes, at: offset)
        state.withLock { $0.reads[$0.open[descriptor] ?? "", default: 0] += Int64(read) }
        return read
    }
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        if let code = writeError { throw Errno(code: code) }
        return try kernel.pwrite(descriptor, bytes, at: offset)
    }
    func freeBytes(_ path: String) throws(Errno) -> Int64 {
        // A folder that does not exist has no file system.
        _ = try kernel.freeBytes(path)
        return free
    }
    func totalBytes(_ path: String) throws(Errno) -> Int64 { 10 << 30 }
    func attributes(_ path: String) throws(Errno) -> FileAttributes {
        state.withLock { $0.measures[String(path.split(separator: "/").last ?? ""), default: 0] += 1 }
        return try kernel.attributes(path)
    }
}

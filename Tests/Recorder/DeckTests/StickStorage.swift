import Files
import Foundation
import Glibc
import PowerCuts
import TakeFiles
import Takes
import Testing

@testable import Deck

/// Two storages: the kit's own, and a stick that the test can fill, make refuse files, or pull.
final class StickStorage: ForwardedCalls {
    let kernel = KernelCalls()
    private let state = Locked<(stick: String, free: Int64?, creating: Int32?)>(("", nil, nil))

    var stick: String {
        get { state.withLock { $0.stick } }
        set { state.withLock { $0.stick = newValue } }
    }
    /// The free bytes that the stick reports, or nil for the real value.
    var free: Int64? {
        get { state.withLock { $0.free } }
        set { state.withLock { $0.free = newValue } }
    }
    /// The error of every call that makes a file on the stick, or nil.
    var creating: Int32? {
        get { state.withLock { $0.creating } }
        set { state.withLock { $0.creating = newValue } }
    }

    /// The device number of the stick, relative to that of the folder around it. 0 means that none is mounted.
    private let device = Locked<UInt64>(1)
    /// The files that were opened on the stick, and those of them that were open when it was pulled.
    private let files = Locked<(open: Set<Int32>, dead: Set<Int32>)>(([], []))

    /// Pulls the stick: its files fail, and there is an empty folder in its place.
    func pull() throws {
        files.withLock { $0.dead.formUnion($0.open) }
        device.withLock { $0 = 0 }
        try FileManager.default.moveItem(atPath: stick, toPath: stick + "-pulled")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    }

    /// Mounts the pulled stick again.
    func plug() throws {
        try FileManager.default.removeItem(atPath: stick)
        try FileManager.default.moveItem(atPath: stick + "-pulled", toPath: stick)
        device.withLock { $0 = 2 }
    }

    /// An idle kit that keeps takes on the stick, which is mounted in a folder.
    func rig(in place: String) throws -> Rig {
        try FileManager.default.createDirectory(atPath: "\(place)/stick", withIntermediateDirectories: true)
        stick = "\(place)/stick"
        let rig = try Rig(files: FileSystem(calls: self)) { options in
            options.stick = Stick(mountPoint: "\(place)/stick", isOptional: true)
            options.reserveBytes = 1 << 20
        }
        rig.run(.seconds(5))
        #expect(rig.deck.storage.directory?.path == "\(place)/stick/takes")
        return rig
    }

    private func check(_ descriptor: Int32) throws(Errno) {
        if files.withLock({ $0.dead.contains(descriptor) }) { throw Errno(code: EIO) }
    }

    private func isOnStick(_ path: String) -> Bool { path.hasPrefix(stick) }

    private func checkCreating(_ path: String) throws(Errno) {
        guard let creating, isOnStick(path), (try? kernel.identity(path)) == nil else { return }
        throw Errno(code: creating)
    }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        if flags & O_CREAT != 0 { try checkCreating(path) }
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        if isOnStick(path) { files.withLock { _ = $0.open.insert(descriptor) } }
        return descriptor
    }
    func close(_ descriptor: Int32) {
        files.withLock {
            $0.open.remove(descriptor)
            $0.dead.remove(descriptor)
        }
        kernel.close(descriptor)
    }
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try check(descriptor)
        return try kernel.pwrite(descriptor, bytes, at: offset)
    }
    func fdatasync(_ descriptor: Int32) throws(Errno) {
        try check(descriptor)
        try kernel.fdatasync(descriptor)
    }
    func fsync(_ descriptor: Int32) throws(Errno) {
        try check(descriptor)
        try kernel.fsync(descriptor)
    }
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        try check(descriptor)
        try kernel.ftruncate(descriptor, to: byteCount)
    }
    func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        try checkCreating(path)
        try kernel.mkdir(path, mode: mode)
    }
    func freeBytes(_ path: String) throws(Errno) -> Int64 {
        if let free, isOnStick(path) { return free }
        return try kernel.freeBytes(path)
    }
    func identity(_ path: String) throws(Errno) -> FileIdentity {
        var found = try kernel.identity(path)
        if isOnStick(path) { found.device += device.withLock { $0 } }
        return found
    }
}

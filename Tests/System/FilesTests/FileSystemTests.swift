import Files
import Glibc
import PowerCuts
import TestBench
import Testing

/// Each method always fails, or fails some times and then works.
struct FileSystemTests {
    let scratch = TestFolder(in: .memory)
    let calls: FaultyCalls
    let files: FileSystem

    init() {
        calls = FaultyCalls(root: scratch.path, largestWrite: 3)
        files = FileSystem(calls: calls)
    }

    func same<Value: Equatable>(_ found: Value, _ expected: Value) {
        #expect(found == expected)
    }

    /// Calls every method once, each under the name of its operation.
    func everyDoor(_ visit: (String, () throws -> Void) throws -> Void) throws {
        let path = scratch.path
        let file = try FileSystem(calls: calls).create("\(path)/file", isNew: false)
        let folder = try files.openFolder(path)
        try visit("create \(path)/new") { _ = try files.create("\(path)/new", isNew: true) }
        try visit("open \(path)/file") { _ = try files.open("\(path)/file") }
        try visit("open \(path)") { _ = try files.openFolder(path) }
        try visit("make folder \(path)/folder") { _ = try files.makeFolder("\(path)/folder") }
        try visit("write \(path)/file") { try files.write(Array("0123456789".utf8), to: file, at: 0) }
        try visit("read \(path)/file") {
            same(try files.read(file, at: 2, count: 100), Array("23456789".utf8))
        }
        try visit("sync \(path)/file") { try files.syncData(file) }
        try visit("sync \(path)/file") { try files.sync(file) }
        try visit("sync \(path)") { try files.syncFolder(folder) }
        try visit("measure \(path)/file") { same(try files.length(file), 10) }
        try visit("truncate \(path)/file") { try files.truncate(file, to: 4) }
        try visit("open \(path)/file") { same(try files.contents("\(path)/file"), Array("0123".utf8)) }
        try visit("rename \(path)/new") { try files.rename("\(path)/new", to: "\(path)/old") }
        try visit("list \(path)") { same(try files.entries(path).sorted(), ["file", "folder", "old"]) }
        try visit("remove \(path)/old") { try files.remove("\(path)/old") }
        try visit("measure \(path)") { same(try files.freeBytes(path) > 0, true) }
        try visit("measure \(path)") { same(try files.totalBytes(path) >= files.freeBytes(path), true) }
        try visit("allocate \(path)/file") { try files.allocate(file, byteCount: 8192) }
        try visit("locate \(path)/file") { same(try files.extents(file).map(\.place), [4096]) }
        try visit("bypass the cache of \(path)/file") { try files.bypassCache(file) }
        try visit("lock \(path)/lock") { same(try files.openLocked("\(path)/lock").1, true) }
    }

    @Test func `every call that always fails is one sentence`() throws {
        try everyDoor { subject, door in
            calls.setPlan { _, _ in EIO }
            let error = #expect(throws: FileError.self, "\(subject)") { try door() }
            #expect(error?.description == "\(subject): Input/output error: the storage is failing, replace it")
            calls.setPlan { _, _ in nil }
            try door()
        }
    }

    @Test func `every call that is interrupted is made again`() throws {
        try everyDoor { subject, door in
            calls.setPlan { number, _ in number % 4 == 3 ? nil : EINTR }
            try door()
            calls.setPlan { _, _ in nil }
        }
    }

    @Test(arguments: [0, 3, 4, 5, 1 << 40])
    func `a file is read whole, whatever length was expected`(expected: Int) throws {
        let path = "\(scratch.path)/file"
        try files.write(Array("0123".utf8), to: files.create(path, isNew: true), at: 0)
        let file = try files.openToRead(path)
        same(try files.contents(of: file, limit: 100, expecting: expected), Array("0123".utf8))
        same(try files.contents(of: file, limit: 3, expecting: expected), Array("012".utf8))
    }

    @Test func `a file that grew since it was measured is read in few calls`() throws {
        let calls = FaultyCalls(root: scratch.path)
        let files = FileSystem(calls: calls)
        let path = "\(scratch.path)/file"
        let bytes = [UInt8](repeating: 7, count: 10_000)
        try files.write(bytes, to: files.create(path, isNew: true), at: 0)
        let file = try files.openToRead(path)
        let before = calls.count
        same(try files.contents(of: file, limit: 1 << 20, expecting: 0), bytes)
        #expect(calls.count - before < 10)
    }

    @Test func `storage without rights or without folders that sync is taken as it is`() throws {
        calls.setPlan { _, verb in verb == "chmod" ? EPERM : verb == "fsync" ? EINVAL : nil }
        _ = try files.create("\(scratch.path)/file", isNew: true)
        let folder = try files.makeFolder("\(scratch.path)/folder")
        try files.syncFolder(folder)
    }

    @Test func `a file that is given space is as long, and reads as zeros`() throws {
        let file = try FileSystem().create("\(scratch.path)/file", isNew: true)
        try FileSystem().allocate(file, byteCount: 10_000)
        same(try FileSystem().length(file), 10_000)
        same(try FileSystem().read(file, at: 9_000, count: 2_000), [UInt8](repeating: 0, count: 1_000))
        #expect(throws: FileError.self) {
            try FileSystem().allocate(file, byteCount: 1 << 60)
        }
    }

    @Test func `a new file does not replace one that is there`() throws {
        _ = try files.create("\(scratch.path)/file", isNew: true)
        #expect(throws: FileError("create", "\(scratch.path)/file", code: EEXIST)) {
            _ = try files.create("\(scratch.path)/file", isNew: true)
        }
    }

    @Test func `removing what is not there is done at once`() throws {
        try files.remove("\(scratch.path)/nothing")
    }

    @Test func `a storage that writes nothing and says no error is an error`() throws {
        let silent = FileSystem(calls: FaultyCalls(root: scratch.path, largestWrite: 0))
        let file = try silent.create("\(scratch.path)/file", isNew: true)
        #expect(throws: FileError("write", "\(scratch.path)/file", code: EIO)) {
            try silent.write([1], to: file, at: 0)
        }
    }

    @Test(arguments: [
        (ENOSPC, "No space left on device: free some space, or name another directory under [takes]"),
        (EROFS, "Read-only file system: the storage has become read-only, check it and mount it again"),
        (EACCES, "Permission denied: the recorder's user must be allowed to write there"),
        (EMFILE, "Too many open files: too many files are open"),
        (ENOENT, "No such file or directory: see that it was not deleted, and that its storage is mounted"),
        (EBUSY, "Device or resource busy"),
    ]) func `an error says what to do, where there is something to do`(code: Int32, text: String) {
        #expect(FileError("write", "/a", code: code).description == "write /a: \(text)")
    }
}
